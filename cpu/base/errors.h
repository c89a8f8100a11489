/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors that several objects of the CPU report. */
#pragma once

#include "core/label/labeller-class.h"

/* CUDACCL_ERROR_ARGUMENT for frames in device memory. */
CclStatus ccl_cpu_check_frame (const CclFrame *frame, CclError *error);

/* Fills the error: there is not enough memory for frames of the size. */
void ccl_cpu_set_no_memory (CclError *error, uint32_t width, uint32_t height);

/* Fills the error: there is no code for the named instruction set, or the processor lacks it. */
void ccl_cpu_set_no_instructions (CclError *error, const char *name);
