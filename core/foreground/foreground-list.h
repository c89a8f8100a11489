/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of foreground methods. */
#pragma once

/* METHOD (number, name, members): CUDACCL_FOREGROUND_number and its name, and what both backends
 * know of it, members of CclMethod other than 0. Each backend has a file of the name, whose table
 * of functions is cpu_name and ccl_cuda_name.
 *
 * most_pixels: with MOG2, frames of up to 768×576 keep their size: at half of it, the boxes of
 * people fit worse. With the codebook they fit better at half of it; smaller frames have objects of
 * few pixels (docs/quality.md). */
#define CCL_FOREGROUND_METHODS(METHOD)                                                             \
  METHOD (THRESHOLD, threshold, .check = check_threshold)                                          \
  METHOD (OTSU, otsu, .has_model = false)                                                          \
  METHOD (MOG2, mog2, .check = check_mog2, .has_model = true, .most_pixels = 450000)               \
  METHOD (CODEBOOK, codebook, .has_model = true, .has_scene = true, .has_median = true,            \
      .most_pixels = 250000)
