/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernel launches from the device. A child runs after its parent has ended, which no order of
 * streams on the device forbids; its own children run before the next child. */
#pragma once

#include <stddef.h>

#include "thread.h"

namespace simcuda {

#pragma GCC visibility push(hidden)
void launch_child (void (*call) (const char *parameters), const void *parameters, size_t size,
    bool at_tail, dim3 grid, dim3 block);
#pragma GCC visibility pop

/* A kernel with one parameter. */
template <auto kernel, typename Parameters>
static inline void
launch_child (bool at_tail, dim3 grid, dim3 block, const Parameters &parameters)
{
  launch_child ([] (const char *copy) { kernel (*reinterpret_cast<const Parameters *> (copy)); },
      &parameters, sizeof parameters, at_tail, grid, block);
}

} /* namespace simcuda */
