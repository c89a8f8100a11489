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

/* Moves one Gaussian to where its weight belongs among those before it. */
template <int SLOTS>
static __device__ __forceinline__ void
sort_in (float (&weights)[SLOTS], uint32_t (&shapes)[SLOTS], int place)
{
  bool moves = false;
#pragma unroll
  for (int k = SLOTS - 1; k > 0; k--) {
    moves = (moves || k == place) && weights[k] >= weights[k - 1];
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
  /* Gaussians that are one too many now. */
#pragma unroll
  for (int k = 1; k < READ; k++) {
    if (k >= (int)m.mixtures) {
      weight_changes[k] = model.weights[k].x | model.weights[k].y;
      model.weights[k] = make_uint2 (0, 0);
    }
  }
#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++) {
    /* A power of two and the luma, as means are at first. */
    const float power_plus_luma =
        __uint_as_float (__byte_perm (luma, __float_as_uint (POWERS[1]), 0x7404 | pixel << 4));
    float weights[SLOTS], total = 0.0f;
    uint32_t shapes[SLOTS];
    int joined = -1; /* which Gaussian the value has joined */
    bool fits = false, background = false, is_unordered = false;
    float joined_weight, deviation; /* at first those of the first */
    uint32_t joined_shape;
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
      weights[k] = 0.0f;
      shapes[k] = 0;
      if (k < READ) {
        const float before =
            unpack_weight (pixel < 2 ? model.weights[k].x : model.weights[k].y, pixel % 2);
        shapes[k] = shape_of (model.shapes[k], pixel);
        const float own_variance = unpack_variance (shapes[k]);
        const float own_deviation =
            __fsub_rn (with_lower_half (POWERS[1], shapes[k], false), power_plus_luma);
        const float own_squared = __fmul_rn (own_deviation, own_deviation);
        const bool looks = before > 0.0f && !fits;
        const bool near = looks && own_squared < __fmul_rn (m.var_threshold, own_variance);
        background |= k == 0 ? near || !looks : near && total < CCL_MIXTURE_BACKGROUND_RATIO;
        const bool joins = looks && own_squared < __fmul_rn (CCL_MIXTURE_GENERATION, own_variance);
        fits |= joins;
        float weight = __fsub_rn (__fmul_rn (m.keep, before), m.starvation);
        if (k == 0) {
          joined_weight = __fadd_rn (weight, m.rate);
          deviation = own_deviation;
          joined_shape = shapes[k];
          weight = joins ? joined_weight : weight;
          joined = joins ? 0 : -1;
        } else if (joins) {
          joined = k;
          joined_weight = weight = __fadd_rn (weight, m.rate);
          deviation = own_deviation;
          joined_shape = shapes[k];
        }
        /* One that does not exist has lost no more than it had. */
        weights[k] = weight < m.starvation ? 0.0f : weight;
        if (k > 0)
          is_unordered |= joins && weights[k] >= weights[k - 1];
        total = k == 0 ? weights[k] : __fadd_rn (total, weights[k]);
      }
    }
    if (!background)
      foreground |= 1u << pixel;

    /* The Gaussian that the value has joined. */
    float variance = unpack_variance (joined_shape);
    const float step = quotient (m.rate, joined_weight);
    float mean = __fadd_rn (deviation, __fsub_rn (power_plus_luma, MEAN_POWER));
    const float squared = __fmul_rn (deviation, deviation);
    mean = fmaxf (__fsub_rn (mean, __fmul_rn (step, deviation)), 0.0f);
    variance = __fadd_rn (variance, __fmul_rn (step, __fsub_rn (squared, variance)));
    variance = fminf (fmaxf (variance, CCL_MIXTURE_LEAST_VARIANCE), CCL_MIXTURE_MOST_VARIANCE);
    const uint32_t shape = pack_shape (mean, variance, m.dither);
#pragma unroll
    for (int k = 0; k < READ; k++) {
      if (READ == 1 ? fits : joined == k)
        shapes[k] = shape;
    }
    if (is_unordered)
      sort_in (weights, shapes, joined);

    const bool is_first = total == 0.0f, is_added = !fits && (m.rate > 0.0f || is_first);
    uint32_t numbers[READ];
    /* From here on weights are counted in steps, which changes no rounding. */
    if (READ > 1 || is_added) {
      const float scale =
          __fmul_rn (reciprocal (is_first ? 1.0f : total), CCL_MIXTURE_WEIGHT_STEPS);
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
#pragma unroll
      for (int k = 0; k < SLOTS; k++) {
        if (k < last)
          weights[k] = __fmul_rn (weights[k], m.keep);
        if (k == last) {
          weights[k] = __fmul_rn (last == 0 ? 1.0f : m.rate, CCL_MIXTURE_WEIGHT_STEPS);
          shapes[k] = new_shape (luma >> 8 * pixel & 0xff);
        }
      }
      sort_in (weights, shapes, last);
      if (READ < SLOTS) {
        weight_changes[READ] |= replace_weight (
            model.weights[READ], pixel, pack_weight (weights[READ], false, m.dither));
        /* No variance is 0, so a shape that was not read differs from any other. */
        shape_changes[READ] |= replace_shape (model.shapes[READ], pixel, shapes[READ]);
      }
    }
#pragma unroll
    for (int k = 0; k < READ; k++)
      numbers[k] = pack_weight (weights[k], k == 0, m.dither);
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
