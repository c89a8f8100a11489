/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of a frame: ccl_mixture_update() of mixture.h for every pixel.
 *
 * Memory sets the pace, so a warp reads no more of the model than some pixel of its stretch has
 * Gaussians, and a thread writes back only what has changed. Most stretches have few Gaussians;
 * each number of them has code of its own.
 *
 * The operations are those of mixture.h in their order, arranged for threads that go together. All
 * look at their Gaussians one after the other, but a value joins one at most, so that one is kept
 * aside, and the threads divide together afterwards. What is rare, another order or another
 * Gaussian, is left to branches. The mean and variance of a Gaussian that no value joins are not
 * even taken apart again, since packing would give the same numbers.
 *
 * A 16-bit number below the exponent of a power of two is that power plus the number of its steps,
 * exactly: so numbers are unpacked by a byte permutation and a subtraction, and packed by an
 * addition that rounds down.
 */
#include "device/dependent-launch.cuh"
#include "device/mask.cuh"

typedef CclSegmenterParameters Parameters;

/* A number for each of a thread's pixels. */
typedef uint2 Weights;
typedef uint4 Shapes;
static_assert (sizeof (Weights) == PIXELS * sizeof (uint16_t), "16 bits for each pixel");
static_assert (sizeof (Shapes) == PIXELS * sizeof (uint32_t), "32 bits for each pixel");

/* The part of the model that a thread has read; the rest is 0. */
struct Model {
  Weights weights[CCL_MAX_MIXTURES];
  Shapes shapes[CCL_MAX_MIXTURES];
};

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

/* A power of two in whose exponent a float's last bit is worth a step. With the number of steps as
 * its lower half, a float is that power plus what the number says. */
static __device__ __forceinline__ constexpr float
power_of (float steps)
{
  return 8388608.0f / steps;
}

static __device__ __forceinline__ float
power_plus_half (uint32_t word, bool upper, float steps)
{
  return __uint_as_float (
      __byte_perm (word, __float_as_uint (power_of (steps)), upper ? 0x7632 : 0x7610));
}

static __device__ __forceinline__ float
unpack (uint32_t word, bool upper, float steps)
{
  return __fsub_rn (power_plus_half (word, upper, steps), power_of (steps));
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

/* The shape of a new Gaussian: no dither changes whole steps. */
static __device__ __forceinline__ uint32_t
new_shape (uint32_t luma)
{
  return luma * (uint32_t)CCL_MIXTURE_MEAN_STEPS |
         (uint32_t)(CCL_MIXTURE_FIRST_VARIANCE * CCL_MIXTURE_VARIANCE_STEPS) << 16;
}

/* Puts the number of a pixel's weight in place. Returns the bits that this changes. */
static __device__ __forceinline__ uint32_t
replace_weight (Weights &weights, int pixel, uint32_t number)
{
  uint32_t &word = pixel < 2 ? weights.x : weights.y;
  const uint32_t before = word;
  word = __byte_perm (word, number, pixel % 2 ? 0x5410 : 0x3254);
  return word ^ before;
}

static __device__ __forceinline__ uint32_t
replace_shape (Shapes &shapes, int pixel, uint32_t shape)
{
  uint32_t &word = shape_of (shapes, pixel);
  const uint32_t before = word;
  word = shape;
  return word ^ before;
}

/* What ccl_mixture_pack_weight() gives. */
static __device__ __forceinline__ uint32_t
pack_weight (float weight, float dither)
{
  const float steps = __fadd_rn (__fmul_rn (weight, CCL_MIXTURE_WEIGHT_STEPS), dither);
  return round_down (weight == 0.0f ? 0.0f : fmaxf (fminf (steps, 65535.0f), 1.0f));
}

/* Moves the Gaussian that a flag marks to where its weight belongs among those before it. */
template <int SLOTS>
static __device__ __forceinline__ void
sort_in (float (&weights)[SLOTS], uint32_t (&shapes)[SLOTS], const bool (&marked)[SLOTS])
{
  bool moves = false;
#pragma unroll
  for (int k = SLOTS - 1; k > 0; k--) {
    moves = (moves || marked[k]) && weights[k] >= weights[k - 1];
    if (moves) {
      const float weight = weights[k];
      const uint32_t shape = shapes[k];
      weights[k] = weights[k - 1];
      shapes[k] = shapes[k - 1];
      weights[k - 1] = weight;
      shapes[k - 1] = shape;
    }
  }
}

/* Updates the models of a thread's pixels, of which none has more than READ Gaussians, and writes
 * what has changed. Returns which pixels are foreground. */
template <int READ>
static __device__ __forceinline__ uint32_t
update_pixels (
    const Parameters &p, const Group &group, uint32_t offset, Model &model, uint32_t luma)
{
  const int SLOTS = READ < CCL_MAX_MIXTURES ? READ + 1 : READ; /* one Gaussian may be added */
  const CclMixtureParameters &m = p.mixture;
  uint32_t foreground = 0;
  uint32_t weight_changes[SLOTS] = {0}, shape_changes[SLOTS] = {0};
#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++) {
    /* As means are first: a power of two, and the luma in steps of a mean. */
    const float power = power_of (CCL_MIXTURE_MEAN_STEPS);
    const float power_plus_luma =
        __uint_as_float (__byte_perm (luma, __float_as_uint (power), 0x7404 | pixel << 4));
    float weights[SLOTS], total = 0.0f;
    uint32_t shapes[SLOTS];
    bool joins[SLOTS], fits = false, background = false;
    float joined_weight, deviation; /* at first those of the first */
    uint32_t joined_shape;
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
      weights[k] = 0.0f;
      shapes[k] = 0;
      joins[k] = false;
      if (k < READ) {
        const float before = k == 0 || k < (int)m.mixtures
                                 ? unpack (pixel < 2 ? model.weights[k].x : model.weights[k].y,
                                       pixel % 2, CCL_MIXTURE_WEIGHT_STEPS)
                                 : 0.0f;
        shapes[k] = shape_of (model.shapes[k], pixel);
        const float own_variance = unpack (shapes[k], true, CCL_MIXTURE_VARIANCE_STEPS);
        const float own_deviation =
            __fsub_rn (power_plus_half (shapes[k], false, CCL_MIXTURE_MEAN_STEPS), power_plus_luma);
        const float own_squared = __fmul_rn (own_deviation, own_deviation);
        const bool looks = before > 0.0f && !fits;
        const bool near = looks && own_squared < __fmul_rn (m.var_threshold, own_variance);
        background |= k == 0 ? near || !looks : near && total < CCL_MIXTURE_BACKGROUND_RATIO;
        joins[k] = looks && own_squared < __fmul_rn (CCL_MIXTURE_GENERATION, own_variance);
        fits |= joins[k];
        const float lighter = __fsub_rn (__fmul_rn (m.keep, before), m.starvation);
        const float heavier = __fadd_rn (lighter, m.rate);
        const float weight = joins[k] ? heavier : lighter;
        if (k == 0 || joins[k]) {
          joined_weight = heavier;
          deviation = own_deviation;
          joined_shape = shapes[k];
        }
        /* One that does not exist has lost no more than it had. */
        weights[k] = weight < m.starvation ? 0.0f : weight;
        total = k == 0 ? weights[k] : __fadd_rn (total, weights[k]);
      }
    }
    if (!background)
      foreground |= 1u << pixel;

    /* The Gaussian that the value has joined. */
    float variance = unpack (joined_shape, true, CCL_MIXTURE_VARIANCE_STEPS);
    const float step = __fdiv_rn (m.rate, joined_weight);
    float mean = __fadd_rn (deviation, __fsub_rn (power_plus_luma, power));
    const float squared = __fmul_rn (deviation, deviation);
    mean = fmaxf (__fsub_rn (mean, __fmul_rn (step, deviation)), 0.0f);
    variance = __fadd_rn (variance, __fmul_rn (step, __fsub_rn (squared, variance)));
    variance = fminf (fmaxf (variance, CCL_MIXTURE_LEAST_VARIANCE), CCL_MIXTURE_MOST_VARIANCE);
    const uint32_t shape = pack_shape (mean, variance, m.dither);
    bool is_unordered = false;
#pragma unroll
    for (int k = 0; k < READ; k++) {
      if (joins[k])
        shapes[k] = shape;
      if (k > 0)
        is_unordered |= joins[k] && weights[k] >= weights[k - 1];
    }
    if (is_unordered)
      sort_in (weights, shapes, joins);

    const bool is_first = total == 0.0f, is_added = !fits && (m.rate > 0.0f || is_first);
    uint32_t numbers[READ];
    if (READ > 1 || is_added) {
      const float scale = __frcp_rn (is_first ? 1.0f : total);
#pragma unroll
      for (int k = 0; k < READ; k++)
        weights[k] = __fmul_rn (weights[k], scale);
    }
    if (is_added) {
      /* A Gaussian of its own for the value, behind all others or in place of the last. */
      int n = 0;
#pragma unroll
      for (int k = 0; k < READ; k++)
        n += weights[k] > 0.0f;
      const int last = min (n, (int)m.mixtures - 1);
      bool is_new[SLOTS];
#pragma unroll
      for (int k = 0; k < SLOTS; k++) {
        is_new[k] = k == last;
        if (k < last)
          weights[k] = __fmul_rn (weights[k], m.keep);
        if (is_new[k]) {
          weights[k] = last == 0 ? 1.0f : m.rate;
          shapes[k] = new_shape (luma >> 8 * pixel & 0xff);
        }
      }
      sort_in (weights, shapes, is_new);
      if (READ < SLOTS) {
        weight_changes[READ] |=
            replace_weight (model.weights[READ], pixel, pack_weight (weights[READ], m.dither));
        /* No variance is 0, so a shape that was not read differs from any other. */
        shape_changes[READ] |= replace_shape (model.shapes[READ], pixel, shapes[READ]);
      }
    }
#pragma unroll
    for (int k = 0; k < READ; k++)
      numbers[k] = pack_weight (weights[k], m.dither);
    /* A weight times its own reciprocal is so near 1 that it is packed as 1 would be. */
    if (READ == 1 && !is_added)
      numbers[0] = is_first ? 0 : 65535;
#pragma unroll
    for (int k = 0; k < READ; k++) {
      weight_changes[k] |= replace_weight (model.weights[k], pixel, numbers[k]);
      shape_changes[k] |= replace_shape (model.shapes[k], pixel, shapes[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < SLOTS; k++) {
    if (group.count && weight_changes[k])
      p.weights[k][offset] = model.weights[k];
    if (group.count && shape_changes[k])
      p.shapes[k][offset] = model.shapes[k];
  }
  return foreground;
}

/* Reads on where the first READ Gaussians of a thread's pixels are there, and the weight of the
 * next, and updates them. */
template <int READ>
static __device__ __forceinline__ uint32_t
read_and_update (
    const Parameters &p, const Group &group, uint32_t offset, Model &model, uint32_t luma)
{
  const bool wanted = !is_zero (model.weights[READ]);
  if (!__any_sync (FULL_WARP, wanted))
    return update_pixels<READ> (p, group, offset, model, luma);
  if (wanted) {
    model.shapes[READ] = p.shapes[READ][offset];
    model.weights[READ + 1] = p.weights[READ + 1][offset];
  }
  if constexpr (READ < 3)
    return read_and_update<READ + 1> (p, group, offset, model, luma);
  if (!is_zero (model.weights[CCL_MAX_MIXTURES - 1]))
    model.shapes[CCL_MAX_MIXTURES - 1] = p.shapes[CCL_MAX_MIXTURES - 1][offset];
  return update_pixels<CCL_MAX_MIXTURES> (p, group, offset, model, luma);
}

/* Blocks of four rows; a thread has a group of pixels. */
extern "C" __global__ void
__launch_bounds__ (CCL_SEGMENTER_THREADS, 6) ccl_background (const __grid_constant__ Parameters p)
{
  const Group group = group_of_thread (p);
  const uint32_t offset = group.y * p.row_groups + group.x / PIXELS;
  Model model = {};
  uint32_t luma = 0;
  /* Nearly every pixel has one Gaussian, and only the next one's weight tells whether it has two.
   */
  if (group.count) {
    model.weights[0] = p.weights[0][offset];
    model.shapes[0] = p.shapes[0][offset];
    model.weights[1] = p.weights[1][offset];
    luma = load_luma (p, group);
  }
  const uint32_t foreground = read_and_update<1> (p, group, offset, model, luma);
  let_next_kernel_start ();
  deliver_group (p, group, foreground);
}
