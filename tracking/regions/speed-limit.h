/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a track is beyond a limit of speed. A speed that trembles at the limit is reported once:
 * it must be beyond it in several successive runs, and on the other side by a tenth in as many runs
 * before it is reported again. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CUDACCL_SPEED_MARGIN 0.1 /* of the limit */

/* Zero is one of a track that is not beyond the limit. */
typedef struct CclSpeedLimit {
  bool beyond;        /* as reported */
  uint32_t n_changed; /* successive runs in which the track was found on the other side */
} CclSpeedLimit;

/* Takes the speed of a run; nothing changes if it is not known (less than 0). Returns true when the
 * track is to be reported. */
static inline bool
ccl_speed_limit_exceeded (
    CclSpeedLimit *state, double speed, double limit, bool faster, uint32_t settle_frames)
{
  if (limit <= 0 || !(speed >= 0))
    return false;
  const double margin = state->beyond ? CUDACCL_SPEED_MARGIN * limit : 0;
  const bool beyond = faster ? speed > limit - margin : speed < limit + margin;
  state->n_changed = beyond == state->beyond ? 0 : state->n_changed + 1;
  if (state->n_changed < settle_frames)
    return false;
  state->n_changed = 0;
  state->beyond = beyond;
  return beyond;
}
