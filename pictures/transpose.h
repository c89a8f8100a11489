/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "flat.h"

/* Replaces the file of a picture whose samples are in Fortran order, the last axis outermost, by a
 * temporary one in which they are in the order of rows. Takes some 64 MB of memory. */
bool flat_transpose (Flat *flat, CclError *error);
