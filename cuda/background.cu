/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of a frame: mixture.h for every pixel, to the bit.
 *
 * Nineteen of twenty pixels join the first of their Gaussians, the heaviest. For these little
 * changes: the mean and variance of that one, and all weights, whose order stays. A thread does
 * that for four pixels at a time, and reads of the other Gaussians no more than their weights. The
 * pixels that do otherwise are left on a list of the thread block, which then goes over it with a
 * pixel a thread and ccl_mixture_update() itself, so that the threads of a warp go together in
 * either part.
 *
 * Numbers are unpacked by a byte permutation and a subtraction, and packed by an addition that
 * rounds down.
 */
#include "device/dependent-launch.cuh"
#include "device/mask.cuh"

typedef CclSegmenterParameters Parameters;

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

static __device__ __forceinline__ uint32_t &
shape_of (Shapes &shapes, int pixel)
{
  return pixel == 0 ? shapes.x : pixel == 1 ? shapes.y : pixel == 2 ? shapes.z : shapes.w;
}

/* The powers of two in whose exponent a float's last bit is worth a step of a weight, a mean and a
 * variance. With the number of steps as its lower half, such a float is the power plus what the
 * number says. Their bits come from memory so that they stay in registers; as parts of an
 * instruction they would leave no room there for what a permutation selects. */
static constexpr float WEIGHT_POWER = 8388608.0f / CCL_MIXTURE_WEIGHT_STEPS;
static constexpr float MEAN_POWER = 8388608.0f / CCL_MIXTURE_MEAN_STEPS;
static constexpr float VARIANCE_POWER = 8388608.0f / CCL_MIXTURE_VARIANCE_STEPS;
static __constant__ float POWERS[3] = {WEIGHT_POWER, MEAN_POWER, VARIANCE_POWER};

static __device__ __forceinline__ float
with_lower_half (float power, uint32_t word, bool upper)
{
  return __uint_as_float (__byte_perm (word, __float_as_uint (power), upper ? 0x7632 : 0x7610));
}

static __device__ __forceinline__ float
unpack_weight (uint32_t word, bool upper)
{
  return __fsub_rn (with_lower_half (POWERS[0], word, upper), WEIGHT_POWER);
}

static __device__ __forceinline__ float
unpack_variance (uint32_t shape)
{
  return __fsub_rn (with_lower_half (POWERS[2], shape, true), VARIANCE_POWER);
}

/* A float whose lower half is the number of steps, below 65536, rounded down. */
static __device__ __forceinline__ uint32_t
round_down (float steps)
{
  return __float_as_uint (__fadd_rz (steps, 8388608.0f));
}

/* What ccl_mixture_pack() gives for mean and variance, the greatest of which is far from the
 * greatest number. */
static __device__ __forceinline__ uint32_t
pack_shape (float mean, float variance, float dither)
{
  const float mean_steps = __fadd_rn (__fmul_rn (mean, CCL_MIXTURE_MEAN_STEPS), dither);
  const float variance_steps = __fadd_rn (__fmul_rn (variance, CCL_MIXTURE_VARIANCE_STEPS), dither);
  return __byte_perm (
      round_down (fminf (mean_steps, 65535.0f)), round_down (variance_steps), 0x5410);
}
static_assert (CCL_MIXTURE_MOST_VARIANCE * CCL_MIXTURE_VARIANCE_STEPS < 65535, "no need to clamp");

/* Puts the number of a pixel's weight in place. */
static __device__ __forceinline__ void
replace_weight (Weights &weights, int pixel, uint32_t number)
{
  uint32_t &word = pixel < 2 ? weights.x : weights.y;
  word = __byte_perm (word, number, pixel % 2 ? 0x5410 : 0x3254);
}

static __device__ __forceinline__ uint32_t
word_of (const Weights &weights, int pixel)
{
  return pixel < 2 ? weights.x : weights.y;
}

/* What ccl_mixture_pack_weight() gives, for a weight in steps. Only the first can be so heavy that
 * it must be clamped, since none weighs more than those before it. */
static __device__ __forceinline__ uint32_t
pack_weight (float steps, bool is_first, float dither)
{
  float packed = __fadd_rn (steps, dither);
  if (is_first)
    packed = fminf (packed, 65535.0f);
  const float least = __saturatef (steps * 1.0e30f); /* 1 unless there is no weight at all */
  return round_down (fmaxf (packed, least));
}

/* Correctly rounded reciprocal and quotient where no step in between leaves the range of normal
 * numbers: an approximation with an error of one in the last place, Newton's step, and for the
 * quotient the remainder's share. It is how the compiler divides, less the test for other numbers
 * and the call that they take. Weights are never so small; a learning rate below 2^-60 may be, but
 * then the quotient moves neither mean nor variance. */
static __device__ __forceinline__ float
approximate_reciprocal (float a)
{
#ifdef CCL_SIMCUDA
  return 1.0f / a;
#else
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#endif
}

static __device__ __forceinline__ float
reciprocal (float a)
{
  const float estimate = approximate_reciprocal (a);
  return __fmaf_rn (estimate, __fmaf_rn (-a, estimate, 1.0f), estimate);
}

static __device__ __forceinline__ float
quotient (float a, float b)
{
  const float inverse = reciprocal (b);
  const float estimate = __fmul_rn (a, inverse);
  return __fmaf_rn (inverse, __fmaf_rn (-b, estimate, a), estimate);
}

/* What a frame leaves of a weight that no value adds to; none stays none. */
static __device__ __forceinline__ float
lighter (uint32_t word, int pixel, const CclMixtureParameters &m)
{
  const float weight =
      __fsub_rn (__fmul_rn (m.keep, unpack_weight (word, pixel % 2)), m.starvation);
  return weight < m.starvation ? 0.0f : weight;
}

/* Updates those of a thread's pixels that join their first Gaussian. Returns which ones, and which
 * of them are foreground. The threads of a warp go together. */
static __device__ __forceinline__ uint32_t
update_joining (const Parameters &p, const Group &group, uint32_t luma, uint32_t *foreground)
{
  const CclMixtureParameters &m = p.mixture;
  const uint32_t offset = group.y * p.row_groups + group.x / PIXELS;
  Weights weights[CCL_MAX_MIXTURES] = {};
  Shapes shapes = {};
  uint32_t joining = 0, changed = 0;

  /* Only the next one's weight tells whether there is a next one. */
  if (group.count) {
    weights[0] = p.weights[0][offset];
    shapes = p.shapes[0][offset];
    weights[1] = p.weights[1][offset];
  }
  int most = 1; /* Gaussians that a pixel of the warp has */
#pragma unroll
  for (int k = 1; k < CCL_MAX_MIXTURES; k++) {
    const bool there = !is_zero (weights[k]);
    if (most == k && __any_sync (FULL_WARP, there)) {
      most = k + 1;
      if (there && k + 1 < CCL_MAX_MIXTURES)
        weights[k + 1] = p.weights[k + 1][offset];
    }
  }
  /* Those that are too many since the property was lowered. */
#pragma unroll
  for (int k = 1; k < CCL_MAX_MIXTURES; k++) {
    if (k >= (int)m.mixtures && !is_zero (weights[k])) {
      weights[k] = make_uint2 (0, 0);
      changed |= 1u << k;
    }
  }

  float totals[PIXELS];
#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++) {
    /* A power of two and the luma, as means are at first. */
    const float power_plus_luma =
        __uint_as_float (__byte_perm (luma, __float_as_uint (POWERS[1]), 0x7404 | pixel << 4));
    uint32_t &shape = shape_of (shapes, pixel);
    const float before = unpack_weight (word_of (weights[0], pixel), pixel % 2);
    float variance = unpack_variance (shape);
    const float deviation = __fsub_rn (with_lower_half (POWERS[1], shape, false), power_plus_luma);
    const float squared = __fmul_rn (deviation, deviation);
    const bool joins = before > 0.0f && squared < __fmul_rn (CCL_MIXTURE_GENERATION, variance);
    if (joins)
      joining |= 1u << pixel;
    if (joins && !(squared < __fmul_rn (m.var_threshold, variance)))
      *foreground |= 1u << pixel;

    const float weight = __fadd_rn (__fsub_rn (__fmul_rn (m.keep, before), m.starvation), m.rate);
    totals[pixel] = weight;
    const float step = quotient (m.rate, weight);
    float mean = __fadd_rn (deviation, __fsub_rn (power_plus_luma, MEAN_POWER));
    mean = fmaxf (__fsub_rn (mean, __fmul_rn (step, deviation)), 0.0f);
    variance = __fadd_rn (variance, __fmul_rn (step, __fsub_rn (squared, variance)));
    variance = fminf (fmaxf (variance, CCL_MIXTURE_LEAST_VARIANCE), CCL_MIXTURE_MOST_VARIANCE);
    const uint32_t moved = joins ? pack_shape (mean, variance, m.dither) : shape;
    if (moved != shape)
      changed |= 1u << CCL_MAX_MIXTURES;
    shape = moved;
  }

#pragma unroll
  for (int k = 1; k < CCL_MAX_MIXTURES; k++) {
    if (k < most) {
#pragma unroll
      for (int pixel = 0; pixel < PIXELS; pixel++)
        totals[pixel] = __fadd_rn (totals[pixel], lighter (word_of (weights[k], pixel), pixel, m));
    }
  }
  /* From here on weights are counted in steps, which changes no rounding. A weight times its own
   * reciprocal is so near 1 that it is packed as 1 would be. */
  Weights first = weights[0];
#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++) {
    const bool joins = joining >> pixel & 1;
    if (most == 1) {
      if (joins)
        replace_weight (first, pixel, 65535);
      continue;
    }
    const float scale = __fmul_rn (reciprocal (totals[pixel]), CCL_MIXTURE_WEIGHT_STEPS);
    const float weight = __fadd_rn (
        __fsub_rn (__fmul_rn (m.keep, unpack_weight (word_of (weights[0], pixel), pixel % 2)),
            m.starvation),
        m.rate);
    if (joins)
      replace_weight (first, pixel, pack_weight (__fmul_rn (weight, scale), true, m.dither));
    totals[pixel] = scale;
  }
  if (first.x != weights[0].x || first.y != weights[0].y)
    changed |= 1;
  weights[0] = first;
#pragma unroll
  for (int k = 1; k < CCL_MAX_MIXTURES; k++) {
    if (k < most) {
      Weights scaled = weights[k];
#pragma unroll
      for (int pixel = 0; pixel < PIXELS; pixel++) {
        const float weight = lighter (word_of (weights[k], pixel), pixel, m);
        const uint32_t number = pack_weight (__fmul_rn (weight, totals[pixel]), false, m.dither);
        if (joining >> pixel & 1)
          replace_weight (scaled, pixel, number);
      }
      if (scaled.x != weights[k].x || scaled.y != weights[k].y)
        changed |= 1u << k;
      weights[k] = scaled;
    }
  }

#pragma unroll
  for (int k = 0; k < CCL_MAX_MIXTURES; k++) {
    if (changed >> k & 1)
      p.weights[k][offset] = weights[k];
  }
  if (changed >> CCL_MAX_MIXTURES & 1)
    p.shapes[0][offset] = shapes;
  return joining;
}

/* Updates the model of one pixel, whatever its value does there. Returns whether it is background.
 */
static __device__ __forceinline__ bool
update_pixel (const Parameters &p, uint32_t x, uint32_t y)
{
  const size_t offset = (size_t)y * p.row_groups * PIXELS + x;
  CclGaussian gaussians[CCL_MAX_MIXTURES] = {};
  uint16_t weights[CCL_MAX_MIXTURES] = {};
  uint32_t shapes[CCL_MAX_MIXTURES] = {};
#pragma unroll
  for (int k = 0; k < CCL_MAX_MIXTURES; k++) {
    if (k == 0 || weights[k - 1])
      weights[k] = ((const uint16_t *)p.weights[k])[offset];
    if (weights[k]) {
      shapes[k] = ((const uint32_t *)p.shapes[k])[offset];
      gaussians[k].weight = (float)weights[k] / CCL_MIXTURE_WEIGHT_STEPS;
      gaussians[k].mean = (float)(shapes[k] & 0xffff) / CCL_MIXTURE_MEAN_STEPS;
      gaussians[k].variance = (float)(shapes[k] >> 16) / CCL_MIXTURE_VARIANCE_STEPS;
    }
  }
  const float luma = p.frame[y * p.frame_stride + x];
  const float dither = p.mixture.dither;
  const bool background = ccl_mixture_update (gaussians, luma, &p.mixture);
#pragma unroll
  for (int k = 0; k < CCL_MAX_MIXTURES; k++) {
    const CclGaussian &g = gaussians[k];
    const uint16_t weight = ccl_mixture_pack_weight (g.weight, dither);
    const uint32_t shape =
        ccl_mixture_pack (g.mean, CCL_MIXTURE_MEAN_STEPS, dither) |
        (uint32_t)ccl_mixture_pack (g.variance, CCL_MIXTURE_VARIANCE_STEPS, dither) << 16;
    if (weight != weights[k])
      ((uint16_t *)p.weights[k])[offset] = weight;
    if (weight && shape != shapes[k])
      ((uint32_t *)p.shapes[k])[offset] = shape;
  }
  return background;
}

/* Blocks of four rows; a thread has a group of pixels, and then some of those that are left. */
extern "C" __global__ void
__launch_bounds__ (CCL_SEGMENTER_THREADS, 8) ccl_background (const __grid_constant__ Parameters p)
{
  __shared__ uint32_t foreground[CCL_SEGMENTER_THREADS], n_left;
  __shared__ uint16_t left[CCL_SEGMENTER_THREADS * PIXELS];
  const Group group = group_of_thread (p);
  uint32_t found = 0;
  if (threadIdx.x == 0)
    n_left = 0;
  const uint32_t luma = group.count ? load_luma (p, group) : 0;
  uint32_t rest = ~update_joining (p, group, luma, &found) & bits_below (group.count);
  foreground[threadIdx.x] = found;
  __syncthreads ();
  if (rest) {
    uint32_t place = atomicAdd (&n_left, __popc (rest));
    for (; rest; rest &= rest - 1)
      left[place++] = (uint16_t)(threadIdx.x * PIXELS + __ffs ((int)rest) - 1);
  }
  __syncthreads ();
  const uint32_t n = n_left;
  for (uint32_t i = threadIdx.x; i < n; i += CCL_SEGMENTER_THREADS) {
    const uint32_t thread = left[i] / PIXELS, pixel = left[i] % PIXELS;
    const uint32_t x = (blockIdx.x * 32 + thread % 32) * PIXELS + pixel;
    const uint32_t y = group.y - threadIdx.x / 32 + thread / 32;
    if (!update_pixel (p, x, y))
      atomicOr (&foreground[thread], 1u << pixel);
  }
  if (n)
    __syncthreads ();
  let_next_kernel_start ();
  deliver_group (p, group, foreground[threadIdx.x]);
}
