/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The typical height of the objects in a picture, by the row of their foot. It is learnt from
 * components alone, of which many are fragments or groups of objects.
 *
 * The height is a line over the row of the foot, because perspective makes the height of equal
 * objects on flat ground proportional to the distance of their feet from the horizon. Components
 * weigh as much as the area of their boxes: fragments are small, and groups of objects side by side
 * have the height of one. */
#pragma once

#include "box.h"

/* Weighted sums over components. */
typedef struct CclTypicalSums {
  double weight, foot, height, foot_foot, foot_height;
} CclTypicalSums;

/* All 0: nothing is known. */
typedef struct CclTypicalSize {
  CclTypicalSums sums; /* of all frames; older ones weigh less and less */
  CclTypicalSums frame;
  double frame_area; /* of the boxes of the frame */
  double frames;     /* in which components were learnt */

  /* Derived from the sums: the height at `mean_foot`, and its change a row. */
  double mean_height, slope, mean_foot;
} CclTypicalSize;

/* Learns a component of this frame that is completely inside it. */
void ccl_typical_size_learn (CclTypicalSize *size, const CclBox *box);

/* Ends a frame. `elapsed` is the time since the last one, in seconds. */
void ccl_typical_size_end_frame (CclTypicalSize *size, double elapsed);

/* The typical height of an object with its foot in a row; 0: unknown. */
double ccl_typical_height (const CclTypicalSize *size, double foot);
