/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of a frame: the mixture of Gaussians of mixture.h for every pixel, bit by
 * bit.
 *
 * A thread updates four pixels. First it decays the weights of all their Gaussians. A pixel whose
 * value matches its first Gaussian, the heaviest one, takes the fast path, as 95 % of the pixels
 * do: the order of its Gaussians does not change, and of the others only the weights are read and
 * written. The other pixels go to a list of the thread block, which then updates them by
 * ccl_mixture_join() with one pixel per thread. So the threads of a warp do not diverge in either
 * part.
 *
 * 16-bit integers are converted to floats, and back, as the lower half of a float between 2^23 and
 * 2^24, whose last bit is worth one. An addition to such a float rounds to an integer.
 */
#include "device/quotient.cuh"
#define CCL_DIVIDE(a, b) ccl_quotient (a, b)

#include "device/dependent-launch.cuh"
#include "device/mask.cuh"

typedef CclForegroundParameters Parameters;

/* One value per pixel of a thread. */
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

/* From 2^23 to 2^24 the last bit of a float is worth one. Its upper half is loaded from constant
 * memory so that it stays in a register: as an immediate operand it would leave no room in the
 * instruction for the selector of the byte permutation. */
static constexpr float WHOLE = 8388608.0f;
static __constant__ float UPPER_HALF_OF_WHOLE = WHOLE;

static __device__ __forceinline__ float
whole_of (uint32_t word, uint32_t selector)
{
  return __uint_as_float (__byte_perm (word, __float_as_uint (UPPER_HALF_OF_WHOLE), selector));
}
enum { LOWER_HALF = 0x7610, UPPER_HALF = 0x7632 };

/* The decay of the weights in a frame. */
struct Decay {
  uint32_t of_lone, less; /* loss of a full weight; reduction by each further Gaussian */
  uint32_t added;         /* constant loss and rounding, in units of 2^-16 */
  uint32_t shift;         /* from these units to steps of weights */
};

static __device__ __forceinline__ Decay
decay_of (const CclMixtureParameters &m)
{
  return {m.decay - m.starvation, m.starvation, (m.starvation + m.round) << 16, 16 + m.shift};
}

/* The weight after ccl_mixture_loss(). */
static __device__ __forceinline__ uint32_t
decayed (uint32_t weight, uint32_t parts, const Decay &decay)
{
  return (uint32_t)max ((int)weight - (int)((weight * parts + decay.added) >> decay.shift), 0);
}

/* 1 in each half whose weight is not 0. */
static __device__ __forceinline__ uint32_t
count_living (uint32_t two_weights)
{
  return __vminu2 (two_weights, 0x00010001);
}

/* The deviation of a pixel's luma from the mean of its first Gaussian, and the variance, both in
 * the units of the model. */
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
  /* Means are in units of 1/256, so the luma becomes the upper byte. */
  fit.deviation = __fsub_rn (fit.whole_mean, whole_of (luma, 0x7604 | pixel << 4));
  fit.squared = __fmul_rn (fit.deviation, fit.deviation);
  return fit;
}

static __device__ __forceinline__ bool
joins (const Fit &fit)
{
  return fit.squared < __fmul_rn (CCL_MIXTURE_GENERATION * CCL_MIXTURE_SQUARES, fit.variance);
}

/* ccl_mixture_move() for a Gaussian of this weight. Returns its new shape. */
static __device__ __forceinline__ uint32_t
moved (const Fit &fit, uint32_t weight, const CclMixtureParameters &m)
{
  const float step = ccl_quotient (m.rate, __uint2float_rn (weight));
  const float excess = /* exact, as the factor is a power of two */
      __fmaf_rn (fit.squared, 1.0f / CCL_MIXTURE_SQUARES, -fit.variance);
  const float mean =
      __fadd_rd (fit.whole_mean, __fsub_rn (m.dither, __fmul_rn (step, fit.deviation)));
  float variance = __fadd_rd (fit.whole_variance, __fadd_rn (m.dither, __fmul_rn (step, excess)));
  variance = fmaxf (variance, WHOLE + CCL_MIXTURE_LEAST_VARIANCE);
  variance = fminf (variance, WHOLE + CCL_MIXTURE_MOST_VARIANCE);
  return pair (__float_as_uint (mean), __float_as_uint (variance));
}

/* Loads the weights of a thread's pixels; those of the fourth and fifth Gaussians only if a pixel
 * has three. */
static __device__ __forceinline__ void
load_weights (const Parameters &p, bool inside, uint32_t offset, Weights weights[CCL_MAX_MIXTURES])
{
  /* Three independent loads overlap their latency. */
#pragma unroll
  for (int k = 0; k < 3; k++)
    weights[k] = inside ? p.weights[k][offset] : make_uint2 (0, 0);
#pragma unroll
  for (int k = 3; k < CCL_MAX_MIXTURES; k++)
    weights[k] = is_zero (weights[2]) ? make_uint2 (0, 0) : p.weights[k][offset];
  if (p.mixture.mixtures < CCL_MAX_MIXTURES) {
    /* Removes Gaussians beyond the property, which may have been lowered. */
#pragma unroll
    for (int k = 1; k < CCL_MAX_MIXTURES; k++) {
      if (k >= (int)p.mixture.mixtures && !is_zero (weights[k]))
        p.weights[k][offset] = weights[k] = make_uint2 (0, 0);
    }
  }
}

/* Loads a cache line in advance. */
static __device__ __forceinline__ void
prefetch (const void *memory)
{
#ifndef CCL_SIMCUDA
  asm volatile("prefetch.L1 [%0];" ::"l"(memory));
#else
  (void)memory;
#endif
}

/* Prefetches the shapes that pixels without a match of their first Gaussian need. */
static __device__ __forceinline__ void
prefetch_shapes (const Parameters &p, uint32_t offset, const Weights weights[CCL_MAX_MIXTURES])
{
#pragma unroll
  for (int k = 1; k < CCL_MAX_MIXTURES; k++) {
    if (!is_zero (weights[k]))
      prefetch (p.shapes[k] + offset);
  }
}

/* Decays the weights of all but the first Gaussians; no pixel of the warp has more than `most`
 * Gaussians. Sets the loss of each pixel. */
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

/* The result of a thread's update, one bit per pixel. */
struct Found {
  uint32_t joining; /* pixels that matched their first Gaussian; the others remain to be updated */
  uint32_t foreground; /* matched pixels that are foreground */
  uint32_t most;       /* the most Gaussians of a pixel of the warp, at least 1 */
};

/* Decays the weights of a thread's pixels and updates the pixels that match their first Gaussian.
 * All threads of a warp take part. */
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

/* Updates the model of one pixel, whose weights have decayed and which has at most n_gaussians
 * Gaussians. Returns whether the pixel is background. */
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
    gaussians[k].chroma = CCL_NO_CHROMA;
  }
  const bool background =
      ccl_mixture_join (gaussians, p.frame[y * p.frame_stride + x], CCL_NO_CHROMA, &p.mixture);
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

/* A block handles four rows. Each thread updates a group of pixels, then some of the pixels in the
 * list. */
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
