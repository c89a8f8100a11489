/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs grids of threads on the calling CPU thread, which plays the device.
 *
 * Without a seed the order is plain: block after block, and in a block the lowest thread that
 * can go on, until it waits for others. With a seed several blocks are under way at a time, and
 * who goes on, and for how long, is drawn.
 */
#ifndef SIMCUDA_SCHEDULER_H
#define SIMCUDA_SCHEDULER_H

#include <cstdint>
#include <string>
#include <vector>

#include "kernel.h"

namespace simcuda {

struct Size3 {
  unsigned x = 1, y = 1, z = 1;

  uint64_t
  count () const
  {
    return uint64_t (x) * y * z;
  }
};

struct Launch {
  const Kernel *kernel = nullptr;
  Size3 grid, block;
  unsigned dynamic_shared = 0;  /* bytes */
  std::vector<char> parameters; /* kernel->parameters_size bytes */
  bool cooperative = false;     /* all blocks are under way together */
  bool programmatic = false;    /* may start before its predecessor has ended */
};

/* The blocks of a launch that one multiprocessor holds at a time. */
unsigned blocks_per_multiprocessor (unsigned threads, unsigned shared);

/* Runs a launch to its end. Returns what went wrong, or an empty text. */
std::string run_launch (const Launch &launch);

struct ScheduleStatistics {
  uint64_t threads;  /* run */
  uint64_t switches; /* from one thread to another */
};
ScheduleStatistics schedule_statistics ();

} /* namespace simcuda */

#endif /* SIMCUDA_SCHEDULER_H */
