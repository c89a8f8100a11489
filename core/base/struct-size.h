/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The size with which plans and options begin (labeller.h). */
#pragma once

#include "status.h"

/* Checks the size of a plan or of options, of which `known` bytes have a meaning in this version.
 *
 * Returns CUDACCL_OK; CUDACCL_ERROR_ARGUMENT: a plan is NULL, it is smaller than in version 0.3, or
 * it has fields of a later version, and they are not 0. */
CclStatus ccl_struct_size_check (const void *given, size_t known, CclError *error);

/* The same of a struct that has grown since version 0.3, where it had `least` bytes. Copies the
 * given fields over *complete, which has the defaults and is of `known` bytes. */
CclStatus ccl_struct_complete (
    void *complete, size_t known, const void *given, size_t least, CclError *error);
