/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs grids of threads on the calling CPU thread, which simulates the device.
 *
 * Without a seed the order is fixed: one block after the other, and in a block the runnable thread
 * with the lowest index, until it waits. With a seed several blocks are resident at a time, and
 * chance decides which thread runs next and for how long.
 */
#pragma once

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

struct Context;

struct Launch {
  const Kernel *kernel = nullptr;
  const Context *context = nullptr;
  Size3 grid, block;
  unsigned dynamic_shared = 0;  /* bytes */
  std::vector<char> parameters; /* kernel->parameters_size bytes */
  bool cooperative = false;     /* all blocks are resident at the same time */
  bool programmatic =
      false; /* programmatic dependent launch: may start before the preceding kernel has ended */
};

/* Occupancy: how many blocks of a launch are resident on one multiprocessor. */
unsigned blocks_per_multiprocessor (unsigned threads, unsigned shared);

/* Runs a launch to its end. Returns an error message, or an empty string. */
std::string run_launch (const Launch &launch);

struct ScheduleStatistics {
  uint64_t threads;  /* run */
  uint64_t switches; /* from one thread to another */
};
ScheduleStatistics schedule_statistics ();

} /* namespace simcuda */
