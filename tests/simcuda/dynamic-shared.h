/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The compiler's descriptor of a __shared__ variable (emulated thread-local storage). */
#pragma once

#include <stddef.h>

namespace simcuda {

struct SharedVariable {
  size_t size;
  size_t alignment;
  size_t number; /* assigned by the scheduler at the first use; 0 before */
  void *initial;
};

/* Marks dynamic shared memory, whose size the launch decides. */
constexpr size_t size_of_launch = ~size_t (0);

} /* namespace simcuda */

#define SIMCUDA_DYNAMIC_SHARED(name)                                                               \
  extern "C" __attribute__ ((weak, visibility ("hidden")))                                         \
  simcuda::SharedVariable simcuda_dynamic_##name __asm__("__emutls_v." #name);                     \
  simcuda::SharedVariable simcuda_dynamic_##name = {simcuda::size_of_launch, 16, 0, nullptr};
