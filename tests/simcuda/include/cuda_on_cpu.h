/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CUDA's device language for a C++ compiler. Force-included before a .cu file, it lets clang
 * compile the kernels for the CPU; the simulated driver runs them.
 *
 * CUDA threads are fibres on one CPU thread. The scheduler switches between them only inside the
 * functions declared here, so the atomics below need no locked instructions. Every atomic, fence
 * and cache-hint access calls simcuda::point (), where a switch may happen.
 *
 * A kernel that waits for another block must call one of those; a loop on a plain load never ends.
 *
 * __shared__ variables are thread_local variables, compiled with -femulated-tls. The compiler then
 * calls __emutls_get_address () for their address, and the scheduler returns the storage of the
 * running block.
 */
#pragma once

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <type_traits>

/* Kernels test this macro to leave out inline PTX. */
#define CUDACCL_SIMCUDA 1

#define __CUDACC__ 1
#define __CUDA_ARCH__ 900

/* register-kernels.py looks for these marks in the preprocessed source. */
#ifdef SIMCUDA_LIST
#define __global__ simcuda_global
#define __shared__ simcuda_shared
#define __launch_bounds__(...) simcuda_bounds (__VA_ARGS__)
#else
#define __global__ __attribute__ ((visibility ("hidden"), used))
#define __shared__ thread_local
#define __launch_bounds__(...)
#endif
/* As with nvcc, device functions are local to their file. */
#define __device__ __attribute__ ((internal_linkage))
#define __host__
#define __constant__ __attribute__ ((internal_linkage))
#define __managed__ __attribute__ ((internal_linkage))
#define __grid_constant__
#define __maxnreg__(n)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__ ((always_inline))
#define __noinline__ __attribute__ ((noinline))
#define __align__(n) __attribute__ ((aligned (n)))
/* nvcc accepts alignment after __shared__; C++ does not. */
#define alignas(n) __attribute__ ((aligned (n)))

#include "thread.h"

namespace simcuda {

/* The scheduler may switch to another thread here. */
static inline void
point ()
{
  if (--points_to_switch <= 0)
    yield ();
}

template <typename T>
static inline uint64_t
bits_of (T value)
{
  static_assert (sizeof (T) <= 8 && std::is_trivially_copyable<T>::value,
      "warp collectives move values of up to 64 bits");
  uint64_t bits = 0;
  memcpy (&bits, &value, sizeof value);
  return bits;
}

template <typename T>
static inline T
value_of (uint64_t bits)
{
  T value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

template <typename T>
static inline T
shuffle (uint32_t mask, T value, uint32_t source)
{
  return value_of<T> (collective (Collective::shuffle, mask, bits_of (value), source));
}

/* An atomic read-modify-write: no switch happens inside, not even where the build switches threads
 * at plain accesses (meson.build: accesses). */
template <typename T, typename F>
#ifdef SIMCUDA_ACCESSES
static __attribute__ ((noinline, no_sanitize ("coverage"))) T
#else
static inline T
#endif
atomic (T *address, F change)
{
  point ();
  if (reinterpret_cast<uintptr_t> (address) % sizeof (T))
    fault ("an atomic on the misaligned address %p", static_cast<void *> (address));
  T old = *const_cast<volatile T *> (address);
  *const_cast<volatile T *> (address) = change (old);
  return old;
}

/* Replacements of inline PTX: loads and stores shared with other threads. */
template <typename T>
static inline T
load (const T *address)
{
  point ();
  return *const_cast<const T *> (address);
}

template <typename T>
static inline void
store (T *address, T value)
{
  point ();
  *address = value;
}

template <typename F>
static inline uint32_t
by_byte (uint32_t a, uint32_t b, F function)
{
  uint32_t result = 0;
  for (int shift = 0; shift < 32; shift += 8)
    result |= static_cast<uint32_t> (static_cast<uint8_t> (
                  function (static_cast<uint8_t> (a >> shift), static_cast<uint8_t> (b >> shift))))
              << shift;
  return result;
}

} /* namespace simcuda */

#define threadIdx (simcuda::place->thread_index)
#define blockIdx (simcuda::place->block_index)
#define blockDim (simcuda::place->block_dimensions)
#define gridDim (simcuda::place->grid_dimensions)
#define warpSize 32

/* Block barriers. */
static inline void
__syncthreads ()
{
  simcuda::barrier (simcuda::Barrier::sync, 0);
}
static inline int
__syncthreads_count (int predicate)
{
  return simcuda::barrier (simcuda::Barrier::count, predicate);
}
static inline int
__syncthreads_and (int predicate)
{
  return simcuda::barrier (simcuda::Barrier::all, predicate);
}
static inline int
__syncthreads_or (int predicate)
{
  return simcuda::barrier (simcuda::Barrier::any, predicate);
}

/* Warp collectives. */
static inline void
__syncwarp (unsigned mask = 0xffffffffu)
{
  simcuda::collective (simcuda::Collective::sync, mask, 0, 0);
}
static inline unsigned
__ballot_sync (unsigned mask, int predicate)
{
  return simcuda::collective (simcuda::Collective::ballot, mask, predicate != 0, 0);
}
static inline int
__all_sync (unsigned mask, int predicate)
{
  return simcuda::collective (simcuda::Collective::all, mask, predicate != 0, 0);
}
static inline int
__any_sync (unsigned mask, int predicate)
{
  return simcuda::collective (simcuda::Collective::any, mask, predicate != 0, 0);
}
/* CUDA does not guarantee that a warp has converged: a mask of one lane is valid. */
static inline unsigned
__activemask ()
{
  return 1u << simcuda::place->lane;
}
template <typename T>
static inline T
__shfl_sync (unsigned mask, T value, int source, int width = 32)
{
  unsigned lane = simcuda::place->lane, first = lane & ~(width - 1u);
  return simcuda::shuffle (mask, value, first + (source & (width - 1u)));
}
template <typename T>
static inline T
__shfl_up_sync (unsigned mask, T value, unsigned delta, int width = 32)
{
  unsigned lane = simcuda::place->lane, inside = lane & (width - 1u);
  return simcuda::shuffle (mask, value, inside >= delta ? lane - delta : lane);
}
template <typename T>
static inline T
__shfl_down_sync (unsigned mask, T value, unsigned delta, int width = 32)
{
  unsigned lane = simcuda::place->lane, inside = lane & (width - 1u);
  return simcuda::shuffle (mask, value, inside + delta < unsigned (width) ? lane + delta : lane);
}
template <typename T>
static inline T
__shfl_xor_sync (unsigned mask, T value, int lane_mask, int width = 32)
{
  unsigned lane = simcuda::place->lane, source = lane ^ lane_mask;
  /* A lane cannot read from a later group of width lanes, but can from an earlier one. */
  bool reachable = (source & ~(width - 1u)) <= (lane & ~(width - 1u));
  return simcuda::shuffle (mask, value, reachable ? source : lane);
}
template <typename T>
static inline unsigned
__match_any_sync (unsigned mask, T value)
{
  return simcuda::collective (simcuda::Collective::match_any, mask, simcuda::bits_of (value), 0);
}
template <typename T>
static inline unsigned
__match_all_sync (unsigned mask, T value, int *predicate)
{
  unsigned result =
      simcuda::collective (simcuda::Collective::match_all, mask, simcuda::bits_of (value), 0);
  *predicate = result != 0;
  return result;
}
static inline unsigned
__reduce_add_sync (unsigned mask, unsigned value)
{
  return simcuda::collective (simcuda::Collective::reduce_add, mask, value, 0);
}
static inline int
__reduce_add_sync (unsigned mask, int value)
{
  return int (simcuda::collective (
      simcuda::Collective::reduce_add, mask, static_cast<uint32_t> (value), 0));
}
static inline unsigned
__reduce_min_sync (unsigned mask, unsigned value)
{
  return simcuda::collective (simcuda::Collective::reduce_min, mask, value, 0);
}
static inline unsigned
__reduce_max_sync (unsigned mask, unsigned value)
{
  return simcuda::collective (simcuda::Collective::reduce_max, mask, value, 0);
}
static inline int
__reduce_min_sync (unsigned mask, int value)
{
  return int (simcuda::collective (
      simcuda::Collective::reduce_min_signed, mask, static_cast<uint32_t> (value), 0));
}
static inline int
__reduce_max_sync (unsigned mask, int value)
{
  return int (simcuda::collective (
      simcuda::Collective::reduce_max_signed, mask, static_cast<uint32_t> (value), 0));
}
static inline unsigned
__reduce_and_sync (unsigned mask, unsigned value)
{
  return simcuda::collective (simcuda::Collective::reduce_and, mask, value, 0);
}
static inline unsigned
__reduce_or_sync (unsigned mask, unsigned value)
{
  return simcuda::collective (simcuda::Collective::reduce_or, mask, value, 0);
}
static inline unsigned
__reduce_xor_sync (unsigned mask, unsigned value)
{
  return simcuda::collective (simcuda::Collective::reduce_xor, mask, value, 0);
}

/* Atomics on int, unsigned, long long and unsigned long long (float and double: add, exchange). */
#define SIMCUDA_ATOMIC(name, change)                                                               \
  template <typename T>                                                                            \
  static inline T name (T *address, typename std::common_type<T>::type value)                      \
  {                                                                                                \
    return simcuda::atomic (address, [&] (T old) -> T { return change; });                         \
  }                                                                                                \
  template <typename T>                                                                            \
  static inline T name##_block (T *address, typename std::common_type<T>::type value)              \
  {                                                                                                \
    return name (address, value);                                                                  \
  }                                                                                                \
  template <typename T>                                                                            \
  static inline T name##_system (T *address, typename std::common_type<T>::type value)             \
  {                                                                                                \
    return name (address, value);                                                                  \
  }
SIMCUDA_ATOMIC (atomicAdd, old + value)
SIMCUDA_ATOMIC (atomicSub, old - value)
SIMCUDA_ATOMIC (atomicExch, value)
SIMCUDA_ATOMIC (atomicMin, value < old ? value : old)
SIMCUDA_ATOMIC (atomicMax, value > old ? value : old)
SIMCUDA_ATOMIC (atomicInc, old >= value ? 0 : old + 1)
SIMCUDA_ATOMIC (atomicDec, old == 0 || old > value ? value : old - 1)
SIMCUDA_ATOMIC (atomicAnd, old &value)
SIMCUDA_ATOMIC (atomicOr, old | value)
SIMCUDA_ATOMIC (atomicXor, old ^ value)
#undef SIMCUDA_ATOMIC

template <typename T>
static inline T
atomicCAS (T *address, typename std::common_type<T>::type compare,
    typename std::common_type<T>::type value)
{
  return simcuda::atomic (address, [&] (T old) -> T { return old == compare ? value : old; });
}
template <typename T>
static inline T
atomicCAS_block (T *address, typename std::common_type<T>::type compare,
    typename std::common_type<T>::type value)
{
  return atomicCAS (address, compare, value);
}
template <typename T>
static inline T
atomicCAS_system (T *address, typename std::common_type<T>::type compare,
    typename std::common_type<T>::type value)
{
  return atomicCAS (address, compare, value);
}

static inline void
__threadfence ()
{
  simcuda::point ();
}
static inline void
__threadfence_block ()
{
  simcuda::point ();
}
static inline void
__threadfence_system ()
{
  simcuda::point ();
}
static inline void
__nanosleep (unsigned)
{
  simcuda::yield ();
}
[[noreturn]] static inline void
__trap ()
{
  simcuda::fault ("__trap ()");
}

/* Accesses with a cache hint. __ldg reads read-only data, so it needs no switch. */
template <typename T>
static inline T
__ldg (const T *address)
{
  return *address;
}
#define SIMCUDA_LOAD(name)                                                                         \
  template <typename T> static inline T name (const T *address)                                    \
  {                                                                                                \
    return simcuda::load (address);                                                                \
  }
SIMCUDA_LOAD (__ldca)
SIMCUDA_LOAD (__ldcg)
SIMCUDA_LOAD (__ldcs)
SIMCUDA_LOAD (__ldcv)
SIMCUDA_LOAD (__ldlu)
#undef SIMCUDA_LOAD
#define SIMCUDA_STORE(name)                                                                        \
  template <typename T>                                                                            \
  static inline void name (T *address, typename std::common_type<T>::type value)                   \
  {                                                                                                \
    simcuda::store<T> (address, value);                                                            \
  }
SIMCUDA_STORE (__stwb)
SIMCUDA_STORE (__stcg)
SIMCUDA_STORE (__stcs)
SIMCUDA_STORE (__stwt)
#undef SIMCUDA_STORE

/* Programmatic dependent launch. */
static inline void
cudaGridDependencySynchronize ()
{
  simcuda::grid_dependency_wait ();
}
static inline void
cudaTriggerProgrammaticLaunchCompletion ()
{
  simcuda::grid_dependency_trigger ();
}

static inline long long
clock64 ()
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}
/* Integer intrinsics. */
static inline int
__popc (unsigned x)
{
  return __builtin_popcount (x);
}
static inline int
__popcll (unsigned long long x)
{
  return __builtin_popcountll (x);
}
static inline int
__clz (unsigned x)
{
  return x ? __builtin_clz (x) : 32;
}
static inline int
__clzll (unsigned long long x)
{
  return x ? __builtin_clzll (x) : 64;
}
static inline int
__ffs (unsigned x)
{
  return __builtin_ffs (int (x));
}
static inline int
__ffsll (unsigned long long x)
{
  return __builtin_ffsll ((long long)(x));
}
static inline unsigned
__brev (unsigned x)
{
  return __builtin_bitreverse32 (x);
}
static inline unsigned long long
__brevll (unsigned long long x)
{
  return __builtin_bitreverse64 (x);
}
static inline unsigned
__funnelshift_l (unsigned low, unsigned high, unsigned shift)
{
  uint64_t both = uint64_t (high) << 32 | low;
  return unsigned ((both << (shift & 31)) >> 32);
}
static inline unsigned
__funnelshift_r (unsigned low, unsigned high, unsigned shift)
{
  uint64_t both = uint64_t (high) << 32 | low;
  return unsigned (both >> (shift & 31));
}
static inline unsigned
__funnelshift_lc (unsigned low, unsigned high, unsigned shift)
{
  uint64_t both = uint64_t (high) << 32 | low;
  return unsigned ((both << (shift < 32 ? shift : 32)) >> 32);
}
static inline unsigned
__funnelshift_rc (unsigned low, unsigned high, unsigned shift)
{
  uint64_t both = uint64_t (high) << 32 | low;
  return unsigned (both >> (shift < 32 ? shift : 32));
}
static inline unsigned
__byte_perm (unsigned x, unsigned y, unsigned selector)
{
  uint64_t both = uint64_t (y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; i++) {
    unsigned choice = selector >> (4 * i) & 0xf;
    uint8_t byte = uint8_t (both >> (8 * (choice & 7)));
    if (choice & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= unsigned (byte) << (8 * i);
  }
  return result;
}
/* The position of the offset-th set bit, counted upwards (or downwards, offset < 0) from base. */
static inline unsigned
__fns (unsigned mask, unsigned base, int offset)
{
  if (offset == 0)
    return base < 32 && (mask >> base & 1) ? base : 0xffffffffu;
  int step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
  for (int i = int (base); i >= 0 && i < 32; i += step) {
    if ((mask >> i & 1) && --left == 0)
      return unsigned (i);
  }
  return 0xffffffffu;
}
static inline unsigned
__dp4a (unsigned a, unsigned b, unsigned c)
{
  for (int shift = 0; shift < 32; shift += 8)
    c += (a >> shift & 0xff) * (b >> shift & 0xff);
  return c;
}
static inline int
__dp4a (int a, int b, int c)
{
  for (int shift = 0; shift < 32; shift += 8)
    c += int8_t (a >> shift) * int8_t (b >> shift);
  return c;
}
static inline unsigned
__umulhi (unsigned a, unsigned b)
{
  return unsigned (uint64_t (a) * b >> 32);
}
static inline int
__mulhi (int a, int b)
{
  return int (int64_t (a) * b >> 32);
}
static inline unsigned long long
__umul64hi (unsigned long long a, unsigned long long b)
{
  return (unsigned long long)((unsigned __int128)(a)*b >> 64);
}
static inline unsigned
__umul24 (unsigned a, unsigned b)
{
  return (a & 0xffffff) * (b & 0xffffff);
}
static inline unsigned
__usad (unsigned a, unsigned b, unsigned c)
{
  return (a > b ? a - b : b - a) + c;
}
static inline unsigned
__float_as_uint (float x)
{
  return simcuda::value_of<unsigned> (simcuda::bits_of (x));
}
static inline float
__uint_as_float (unsigned x)
{
  return simcuda::value_of<float> (x);
}
static inline unsigned long long
__double_as_longlong (double x)
{
  return simcuda::bits_of (x);
}
static inline double
__longlong_as_double (long long x)
{
  return simcuda::value_of<double> (uint64_t (x));
}

/* Floating point; each operation is rounded separately. The compiler flags do not allow other
 * results, and a product and a sum from two functions are not contracted. */
#define SIMCUDA_ROUNDED(prefix, T)                                                                 \
  static inline T prefix##add_rn (T a, T b)                                                        \
  {                                                                                                \
    return a + b;                                                                                  \
  }                                                                                                \
  static inline T prefix##sub_rn (T a, T b)                                                        \
  {                                                                                                \
    return a - b;                                                                                  \
  }                                                                                                \
  static inline T prefix##mul_rn (T a, T b)                                                        \
  {                                                                                                \
    return a * b;                                                                                  \
  }                                                                                                \
  static inline T prefix##div_rn (T a, T b)                                                        \
  {                                                                                                \
    return a / b;                                                                                  \
  }
SIMCUDA_ROUNDED (__f, float)
SIMCUDA_ROUNDED (__d, double)
#undef SIMCUDA_ROUNDED
static inline float
__uint2float_rn (unsigned a)
{
  return static_cast<float> (a);
}
static inline int
__float2int_rd (float a)
{
  return static_cast<int> (floorf (a));
}
static inline float
__fmaf_rn (float a, float b, float c)
{
  return fmaf (a, b, c);
}
/* Rounded down. The error of rounding to nearest is representable as a float, so it is computed
 * exactly. */
static inline float
__fadd_rd (float a, float b)
{
  const float sum = a + b, of_b = sum - a;
  const float rest = (a - (sum - of_b)) + (b - of_b);
  return rest < 0 ? nextafterf (sum, -INFINITY) : sum;
}

/* The minimum of each half of two words. */
static inline unsigned
__vminu2 (unsigned a, unsigned b)
{
  const unsigned low = (a & 0xffff) < (b & 0xffff) ? a : b, high = a >> 16 < b >> 16 ? a : b;
  return (low & 0xffff) | (high & 0xffff0000u);
}

/* Four bytes in a word. */
#define SIMCUDA_BYTES(name, expression)                                                            \
  static inline unsigned name (unsigned a, unsigned b)                                             \
  {                                                                                                \
    return simcuda::by_byte (a, b, [] (uint8_t x, uint8_t y) { return expression; });              \
  }
SIMCUDA_BYTES (__vadd4, x + y)
SIMCUDA_BYTES (__vsub4, x - y)
SIMCUDA_BYTES (__vaddus4, x + y > 255 ? 255 : x + y)
SIMCUDA_BYTES (__vsubus4, x < y ? 0 : x - y)
SIMCUDA_BYTES (__vabsdiffu4, x < y ? y - x : x - y)
SIMCUDA_BYTES (__vminu4, x < y ? x : y)
SIMCUDA_BYTES (__vmaxu4, x < y ? y : x)
SIMCUDA_BYTES (__vcmpeq4, x == y ? 0xff : 0)
SIMCUDA_BYTES (__vcmpne4, x != y ? 0xff : 0)
SIMCUDA_BYTES (__vcmpgtu4, x > y ? 0xff : 0)
SIMCUDA_BYTES (__vcmpgeu4, x >= y ? 0xff : 0)
SIMCUDA_BYTES (__vcmpltu4, x < y ? 0xff : 0)
SIMCUDA_BYTES (__vcmpleu4, x <= y ? 0xff : 0)
SIMCUDA_BYTES (__vcmpgts4, int8_t (x) > int8_t (y) ? 0xff : 0)
SIMCUDA_BYTES (__vseteq4, x == y)
SIMCUDA_BYTES (__vsetne4, x != y)
SIMCUDA_BYTES (__vsetgtu4, x > y)
SIMCUDA_BYTES (__vsetgeu4, x >= y)
SIMCUDA_BYTES (__vsetltu4, x < y)
SIMCUDA_BYTES (__vsetleu4, x <= y)
#undef SIMCUDA_BYTES
static inline unsigned
__vsadu4 (unsigned a, unsigned b)
{
  return __dp4a (__vabsdiffu4 (a, b), 0x01010101u, 0u);
}

/* min and max of mixed types, as in CUDA: the unsigned or longer type wins. */
template <typename A, typename B>
static inline typename std::common_type<A, B>::type
min (A a, B b)
{
  typedef typename std::common_type<A, B>::type Common;
  return static_cast<Common> (b) < static_cast<Common> (a) ? static_cast<Common> (b)
                                                           : static_cast<Common> (a);
}
template <typename A, typename B>
static inline typename std::common_type<A, B>::type
max (A a, B b)
{
  typedef typename std::common_type<A, B>::type Common;
  return static_cast<Common> (a) < static_cast<Common> (b) ? static_cast<Common> (b)
                                                           : static_cast<Common> (a);
}
