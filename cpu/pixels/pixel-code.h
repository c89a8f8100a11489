/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of the code for pixels (pixels.h). */
#pragma once

#include "cpu/base/instructions.h"
#include "pixels.h"

/* The best code for this processor, or the code for the named instructions; NULL without any. */
static inline const PixelCode *
choose_pixel_code (const char *instructions)
{
  static const PixelCode *const all[] = {
#if HAVE_X86_64
    &pixel_code_avx512,
    &pixel_code_avx2,
#elif HAVE_AARCH64
    &pixel_code_neon,
#endif
    &pixel_code_portable,
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (instructions_fit (all[i]->name, instructions))
      return all[i];
  return NULL;
}
