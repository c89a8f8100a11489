/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of the enumerations of <cudaccl/foreground.h>, but for the methods: the elements,
 * Python and ccl-label have them from here. */
#include <cudaccl/foreground.h>

#define NAME_OF(names, number)                                                                     \
  ((unsigned)(number) < sizeof (names) / sizeof *(names) ? (names)[number] : NULL)

const char *
ccl_shadows_name (CclShadows shadows)
{
  static const char *const names[] = {
      [CUDACCL_SHADOWS_KEEP] = "keep",
      [CUDACCL_SHADOWS_MARK] = "mark",
      [CUDACCL_SHADOWS_REMOVE] = "remove",
  };
  return NAME_OF (names, shadows);
}

const char *
ccl_scene_change_name (CclSceneChange change)
{
  static const char *const names[] = {
      [CUDACCL_SCENE_UNCHANGED] = "unchanged",
      [CUDACCL_SCENE_MOVED] = "moved",
      [CUDACCL_SCENE_INFRARED] = "infrared",
      [CUDACCL_SCENE_COVERED] = "covered",
      [CUDACCL_SCENE_BLINDED] = "blinded",
      [CUDACCL_SCENE_UNCOVERED] = "uncovered",
      [CUDACCL_SCENE_SETTLED] = "settled",
  };
  return NAME_OF (names, change);
}

const char *
ccl_denoise_name (CclDenoise denoise)
{
  static const char *const names[] = {
      [CUDACCL_DENOISE_NONE] = "none",
      [CUDACCL_DENOISE_MEDIAN_3] = "median-3x3",
      [CUDACCL_DENOISE_MEDIAN_5] = "median-5x5",
      [CUDACCL_DENOISE_OPENING_3] = "opening-3x3",
      [CUDACCL_DENOISE_OPENING_5] = "opening-5x5",
  };
  return NAME_OF (names, denoise);
}

uint32_t
ccl_denoise_reach (CclDenoise denoise)
{
  /* Both steps of an opening reach as far as its square. */
  static const uint32_t reach[] = {
      [CUDACCL_DENOISE_NONE] = 0,
      [CUDACCL_DENOISE_MEDIAN_3] = 1,
      [CUDACCL_DENOISE_MEDIAN_5] = 2,
      [CUDACCL_DENOISE_OPENING_3] = 2,
      [CUDACCL_DENOISE_OPENING_5] = 4,
  };
  return (unsigned)denoise < sizeof reach / sizeof *reach ? reach[denoise] : 0;
}
