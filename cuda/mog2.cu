/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of a frame: mixture.h for every pixel, to the bit.
 *
 * A thread lets the weights of four pixels decay, and takes the values of those into their models
 * that join the first of their Gaussians, the heaviest, as nineteen of twenty do: then the order of
 * the Gaussians stays, and of the others no more than the weights is needed. Who does otherwise is
 * left on a list of the thread block, which then goes over it with a pixel a thread and
 * ccl_mixture_join() itself, so that the threads of a warp go together in either part.
 *
 * 16-bit numbers become floats, and back, as the lower half of a float that is a whole number
 * between 2^23 and 2^24: its last bit is worth one. What is added to such a float is rounded to
 * whole steps by the addition itself.
 */
#include "device/quotient.cuh"
#define CCL_DIVIDE(a, b) ccl_quotient (a, b)

#include "device/dependent-launch.cuh"
#include "device/mask.cuh"

typedef CclForegroundParameters Parameters;

/* A number for each of a thread's pixels. */
typedef uint2 Weights;
typedef uint4 Shapes;
static_assert (sizeof (Weights) == PIXELS * sizeof (uint16_t), "16 bits for each pixel");
static_assert (sizeof (Shapes) == PIXELS * sizeof (uint32_t), "32 bits for each pixel");

static __device__ __forceinline__ bool
is_zero (const Weights &weights)
{
  return (weights.x | weights.y) == 0;
}

static __device__ __forceinline__ uint32_t
weight_of (const Weights &weights, int pixel)
{
  const uint32_t word = pixel < 2 ? weights.x : weights.y;
  return pixel % 2 ? word >> 16 : word & 0xffff;
}

static __device__ __forceinline__ uint32_t
pair (uint32_t left, uint32_t right)
{
  return __byte_perm (left, right, 0x5410);
}

static __device__ __forceinline__ uint32_t &
shape_of (Shapes &shapes, int pixel)
{
  return pixel == 0 ? shapes.x : pixel == 1 ? shapes.y : pixel == 2 ? shapes.z : shapes.w;
}

/* From here to 2^24 the last bit of a float is worth one. Its own upper half comes from memory so
 * that it stays in a register; as part of an instruction it would leave no room there for what a
 * permutation selects. */
static constexpr float WHOLE = 8388608.0f;
static __constant__ float UPPER_HALF_OF_WHOLE = WHOLE;

static __device__ __forceinline__ float
whole_of (uint32_t word, uint32_t selector)
{
  return __uint_as_float (__byte_perm (word, __float_as_uint (UPPER_HALF_OF_WHOLE), selector));
}
enum { LOWER_HALF = 0x7610, UPPER_HALF = 0x7632 };

/* What holds for the weights of all pixels of a frame. */
struct Decay {
  uint32_t of_lone, less; /* parts that a whole weight loses, and how many less for each Gaussian */
  uint32_t added;         /* what all lose and are rounded by, in 2^-16 parts */
  uint32_t shift;         /* makes steps of those */
};

static __device__ __forceinline__ Decay
decay_of (const CclMixtureParameters &m)
{
  return {m.decay - m.starvation, m.starvation, (m.starvation + m.round) << 16, 16 + m.shift};
}

/* ccl_mixture_loss() and what is left. */
static __device__ __forceinline__ uint32_t
decayed (uint32_t weight, uint32_t parts, const Decay &decay)
{
  return (uint32_t)max ((int)weight - (int)((weight * parts + decay.added) >> decay.shift), 0);
}

/* How many of the weights of two pixels are more than 0, for each in its half. */
static __device__ __forceinline__ uint32_t
count_living (uint32_t two_weights)
{
  return __vminu2 (two_weights, 0x00010001);
}

/* A pixel's luma beside its first Gaussian: in the steps of that, squared, and what the square is
 * compared with. */
struct Fit {
  float whole_mean, whole_variance, deviation, squared, variance;
};

static __device__ __forceinline__ Fit
fit_of (uint32_t shape, uint32_t luma, int pixel)
{
  Fit fit;
  fit.whole_mean = whole_of (shape, LOWER_HALF);
  fit.whole_variance = whole_of (shape, UPPER_HALF);
  fit.variance = __fsub_rn (fit.whole_variance, WHOLE);
  /* The luma's byte, times 256 as means are. */
  fit.deviation = __fsub_rn (fit.whole_mean, whole_of (luma, 0x7604 | pixel << 4));
  fit.squared = __fmul_rn (fit.deviation, fit.deviation);
  return fit;
}

static __device__ __forceinline__ bool
joins (const Fit &fit)
{
  return fit.squared < __fmul_rn (CCL_MIXTURE_GENERATION * CCL_MIXTURE_SQUARES, fit.variance);
}

/* ccl_mixture_move(), for a Gaussian of so much weight. Returns its shape. */
static __device__ __forceinline__ uint32_t
moved (const Fit &fit, uint32_t weight, const CclMixtureParameters &m)
{
  const float step = ccl_quotient (m.rate, __uint2float_rn (weight));
  const float excess = /* a product with a power of two, and so exact */
      __fmaf_rn (fit.squared, 1.0f / CCL_MIXTURE_SQUARES, -fit.variance);
  const float mean =
      __fadd_rd (fit.whole_mean, __fsub_rn (m.dither, __fmul_rn (step, fit.deviation)));
  float variance = __fadd_rd (fit.whole_variance, __fadd_rn (m.dither, __fmul_rn (step, excess)));
  variance = fmaxf (variance, WHOLE + CCL_MIXTURE_LEAST_VARIANCE);
  variance = fminf (variance, WHOLE + CCL_MIXTURE_MOST_VARIANCE);
  return pair (__float_as_uint (mean), __float_as_uint (variance));
}

/* Reads the weights of a thread's pixels as far as some pixel of the thread has them. */
static __device__ __forceinline__ void
load_weights (const Parameters &p, bool inside, uint32_t offset, Weights weights[CCL_MAX_MIXTURES])
{
  /* The memory answers three questions as quickly as one. */
#pragma unroll
  for (int k = 0; k < 3; k++)
    weights[k] = inside ? p.weights[k][offset] : make_uint2 (0, 0);
#pragma unroll
  for (int k = 3; k < CCL_MAX_MIXTURES; k++)
    weights[k] = is_zero (weights[2]) ? make_uint2 (0, 0) : p.weights[k][offset];
  if (p.mixture.mixtures < CCL_MAX_MIXTURES) {
    /* Those that are too many since the property was lowered. */
#pragma unroll
    for (int k = 1; k < CCL_MAX_MIXTURES; k++) {
      if (k >= (int)p.mixture.mixtures && !is_zero (weights[k]))
        p.weights[k][offset] = weights[k] = make_uint2 (0, 0);
    }
  }
}

/* Asks for memory that will be read soon. */
static __device__ __forceinline__ void
prefetch (const void *memory)
{
#ifndef CCL_SIMCUDA
  asm volatile("prefetch.L1 [%0];" ::"l"(memory));
#else
  (void)memory;
#endif
}

/* Asks for the shapes that pixels need which do not join their first Gaussian. */
static __device__ __forceinline__ void
prefetch_shapes (const Parameters &p, uint32_t offset, const Weights weights[CCL_MAX_MIXTURES])
{
#pragma unroll
  for (int k = 1; k < CCL_MAX_MIXTURES; k++) {
    if (!is_zero (weights[k]))
      prefetch (p.shapes[k] + offset);
  }
}

/* Lets the weights of all but the first Gaussians of a thread's pixels decay, where a pixel of the
 * warp has so many Gaussians at most. Sets what parts the weights of each pixel lose. */
static __device__ __forceinline__ void
decay_others (const Parameters &p, uint32_t offset, uint32_t most, const Decay &decay,
    const Weights weights[CCL_MAX_MIXTURES], uint32_t parts[PIXELS])
{
  Weights others = {0, 0};
#pragma unroll
  for (uint32_t k = 1; k < CCL_MAX_MIXTURES; k++) {
    if (k < most) {
      others.x += count_living (weights[k].x);
      others.y += count_living (weights[k].y);
    }
  }
#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++)
    parts[pixel] = decay.of_lone - weight_of (others, pixel) * decay.less;
#pragma unroll
  for (uint32_t k = 1; k < CCL_MAX_MIXTURES; k++) {
    if (k < most && !is_zero (weights[k])) {
      uint32_t left[PIXELS];
#pragma unroll
      for (int pixel = 0; pixel < PIXELS; pixel++)
        left[pixel] = decayed (weight_of (weights[k], pixel), parts[pixel], decay);
      p.weights[k][offset] = make_uint2 (pair (left[0], left[1]), pair (left[2], left[3]));
    }
  }
}

/* What a group's update found out about it; a bit for each pixel. */
struct Found {
  uint32_t joining;    /* pixels that joined their first Gaussian; the others are left to do */
  uint32_t foreground; /* which of them are foreground */
  uint32_t most;       /* Gaussians that a pixel of the warp had, or 1 */
};

/* Lets the weights of a thread's pixels decay and takes those values in that join a first Gaussian.
 * The threads of a warp go together. */
static __device__ __forceinline__ Found
update_group (const Parameters &p, const Group &group, uint32_t luma)
{
  const CclMixtureParameters &m = p.mixture;
  const Decay decay = decay_of (m);
  const uint32_t offset = group.y * p.row_groups + group.x / PIXELS;
  const bool inside = group.count > 0;
  Found found = {0, 0, 1};
  Weights weights[CCL_MAX_MIXTURES];
  Shapes shapes = inside ? p.shapes[0][offset] : make_uint4 (0, 0, 0, 0);
  load_weights (p, inside, offset, weights);

#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++)
    found.joining |= (uint32_t)joins (fit_of (shape_of (shapes, pixel), luma, pixel)) << pixel;
  if (found.joining != bits_below (PIXELS))
    prefetch_shapes (p, offset, weights);

  uint32_t parts[PIXELS];
#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++)
    parts[pixel] = decay.of_lone;
#pragma unroll
  for (uint32_t k = 1; k < CCL_MAX_MIXTURES; k++) {
    if (found.most == k && __any_sync (FULL_WARP, !is_zero (weights[k])))
      found.most = k + 1;
  }
  if (found.most > 1)
    decay_others (p, offset, found.most, decay, weights, parts);

  const Shapes shapes_before = shapes;
  uint32_t first[PIXELS];
#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++) {
    uint32_t &shape = shape_of (shapes, pixel);
    const Fit fit = fit_of (shape, luma, pixel);
    first[pixel] = decayed (weight_of (weights[0], pixel), parts[pixel], decay);
    const uint32_t weight = min (first[pixel] + m.gain, CCL_MIXTURE_FULL_WEIGHT);
    const uint32_t shape_then = moved (fit, weight, m);
    if (first[pixel] == 0)
      found.joining &= ~(1u << pixel);
    else if (joins (fit)) {
      if (!(fit.squared < __fmul_rn (m.var_threshold, fit.variance)))
        found.foreground |= 1u << pixel;
      first[pixel] = weight;
      shape = shape_then;
    }
  }
  const Weights heaviest = {pair (first[0], first[1]), pair (first[2], first[3])};
  if (heaviest.x != weights[0].x || heaviest.y != weights[0].y)
    p.weights[0][offset] = heaviest;
  if (shapes.x != shapes_before.x || shapes.y != shapes_before.y || shapes.z != shapes_before.z ||
      shapes.w != shapes_before.w)
    p.shapes[0][offset] = shapes;
  return found;
}

/* Takes the value of one pixel, whose weights have decayed, into its model; none has more than
 * n_gaussians. Returns whether it is background. */
static __device__ __forceinline__ bool
join_pixel (const Parameters &p, uint32_t x, uint32_t y, uint32_t n_gaussians)
{
  const size_t offset = (size_t)y * p.row_groups * PIXELS + x;
  CclGaussian gaussians[CCL_MAX_MIXTURES];
  uint32_t shapes[CCL_MAX_MIXTURES];
#pragma unroll
  for (int k = 0; k < CCL_MAX_MIXTURES; k++) {
    const bool there = k < (int)n_gaussians;
    gaussians[k].weight = there ? ((const uint16_t *)p.weights[k])[offset] : 0;
    shapes[k] = there ? ((const uint32_t *)p.shapes[k])[offset] : 0;
  }
  uint32_t weights[CCL_MAX_MIXTURES];
#pragma unroll
  for (int k = 0; k < CCL_MAX_MIXTURES; k++) {
    weights[k] = gaussians[k].weight;
    gaussians[k].mean = shapes[k] & 0xffff;
    gaussians[k].variance = shapes[k] >> 16;
  }
  const bool background = ccl_mixture_join (gaussians, p.frame[y * p.frame_stride + x], &p.mixture);
#pragma unroll
  for (int k = 0; k < CCL_MAX_MIXTURES; k++) {
    const uint32_t shape = gaussians[k].mean | gaussians[k].variance << 16;
    if (gaussians[k].weight != weights[k])
      ((uint16_t *)p.weights[k])[offset] = (uint16_t)gaussians[k].weight;
    if (gaussians[k].weight && shape != shapes[k])
      ((uint32_t *)p.shapes[k])[offset] = shape;
  }
  return background;
}

/* Blocks of four rows; a thread has a group of pixels, and then some of those that are left. */
extern "C" __global__ void
__launch_bounds__ (CCL_FOREGROUND_THREADS, 8) ccl_mog2 (const __grid_constant__ Parameters p)
{
  __shared__ uint32_t foreground[CCL_FOREGROUND_THREADS], most[CCL_FOREGROUND_WARPS], n_left;
  __shared__ uint16_t left[CCL_FOREGROUND_THREADS * PIXELS];
  const Group group = group_of_thread (p);
  if (threadIdx.x == 0)
    n_left = 0;
  const uint32_t luma = group.count ? load_luma (p, group) : 0;
  const Found found = update_group (p, group, luma);
  foreground[threadIdx.x] = found.foreground;
  if (lane_of_warp () == 0)
    most[threadIdx.x / 32] = found.most;
  __syncthreads ();
  uint32_t rest = ~found.joining & bits_below (group.count);
  if (rest) {
    uint32_t place = atomicAdd (&n_left, __popc (rest));
    for (; rest; rest &= rest - 1)
      left[place++] = (uint16_t)(threadIdx.x * PIXELS + __ffs ((int)rest) - 1);
  }
  __syncthreads ();
  const uint32_t n = n_left;
  for (uint32_t i = threadIdx.x; i < n; i += CCL_FOREGROUND_THREADS) {
    const uint32_t thread = left[i] / PIXELS, pixel = left[i] % PIXELS;
    const uint32_t x = (blockIdx.x * 32 + thread % 32) * PIXELS + pixel;
    const uint32_t y = group.y - threadIdx.x / 32 + thread / 32;
    if (!join_pixel (p, x, y, most[thread / 32]))
      atomicOr (&foreground[thread], 1u << pixel);
  }
  if (n)
    __syncthreads ();
  let_next_kernel_start ();
  deliver_group (p, group, foreground[threadIdx.x]);
}
