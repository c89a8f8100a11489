/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface between kernels and the scheduler: the thread's indices, and collectives. */
#pragma once

#include <stdint.h>

/* Vector types. */
#define SIMCUDA_VECTOR_TYPES(T, name, align2, align4)                                              \
  struct name##1                                                                                   \
  {                                                                                                \
    T x;                                                                                           \
  };                                                                                               \
  struct __attribute__ ((aligned (align2))) name##2                                                \
  {                                                                                                \
    T x, y;                                                                                        \
  };                                                                                               \
  struct name##3                                                                                   \
  {                                                                                                \
    T x, y, z;                                                                                     \
  };                                                                                               \
  struct __attribute__ ((aligned (align4))) name##4                                                \
  {                                                                                                \
    T x, y, z, w;                                                                                  \
  };                                                                                               \
  static inline name##1 make_##name##1(T x)                                                        \
  {                                                                                                \
    return name##1 {x};                                                                            \
  }                                                                                                \
  static inline name##2 make_##name##2(T x, T y)                                                   \
  {                                                                                                \
    return name##2 {x, y};                                                                         \
  }                                                                                                \
  static inline name##3 make_##name##3(T x, T y, T z)                                              \
  {                                                                                                \
    return name##3 {x, y, z};                                                                      \
  }                                                                                                \
  static inline name##4 make_##name##4(T x, T y, T z, T w)                                         \
  {                                                                                                \
    return name##4 {x, y, z, w};                                                                   \
  }
SIMCUDA_VECTOR_TYPES (signed char, char, 2, 4)
SIMCUDA_VECTOR_TYPES (unsigned char, uchar, 2, 4)
SIMCUDA_VECTOR_TYPES (short, short, 4, 8)
SIMCUDA_VECTOR_TYPES (unsigned short, ushort, 4, 8)
SIMCUDA_VECTOR_TYPES (int, int, 8, 16)
SIMCUDA_VECTOR_TYPES (unsigned int, uint, 8, 16)
SIMCUDA_VECTOR_TYPES (long, long, 16, 16)
SIMCUDA_VECTOR_TYPES (unsigned long, ulong, 16, 16)
SIMCUDA_VECTOR_TYPES (long long, longlong, 16, 16)
SIMCUDA_VECTOR_TYPES (unsigned long long, ulonglong, 16, 16)
SIMCUDA_VECTOR_TYPES (float, float, 8, 16)
SIMCUDA_VECTOR_TYPES (double, double, 16, 16)
#undef SIMCUDA_VECTOR_TYPES

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3 (unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x (x), y (y), z (z)
  {
  }
};

namespace simcuda {

/* The built-in variables of the running thread. */
struct Place {
  uint3 thread_index;
  uint3 block_index;
  dim3 block_dimensions;
  dim3 grid_dimensions;
  unsigned int lane;
};

enum class Collective : uint8_t {
  none,
  sync,
  ballot,
  all,
  any,
  shuffle, /* the argument is the source lane */
  match_any,
  match_all,
  reduce_add,
  reduce_min,
  reduce_max,
  reduce_min_signed,
  reduce_max_signed,
  reduce_and,
  reduce_or,
  reduce_xor,
};

enum class Barrier : uint8_t { sync, count, all, any };

#pragma GCC visibility push(hidden)
extern const Place *place;   /* of the thread that is running */
extern int points_to_switch; /* calls of point () until the next switch */

/* Switches to another thread. */
void yield ();

/* Waits until all lanes of the mask have called the same collective. */
uint64_t collective (Collective what, uint32_t mask, uint64_t value, uint32_t argument);

/* Waits until all threads of the block have arrived. */
int barrier (Barrier what, int predicate);

/* Ends the kernel with a device fault. */
[[noreturn]] void fault (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

void grid_dependency_wait ();
void grid_dependency_trigger ();
#pragma GCC visibility pop

} /* namespace simcuda */
