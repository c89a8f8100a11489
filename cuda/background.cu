/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of a frame: mixture.h for every pixel.
 *
 * Memory sets the pace, so a warp reads no more of the model than some pixel of its stretch has
 * Gaussians, and a thread writes back only what has changed. Most stretches have few Gaussians;
 * each number of them has its own code, in which the others are no more than constants.
 *
 * The numbers of a model are taken apart and put together by byte permutations: a 16-bit number
 * below the exponent of a power of two is that power plus the number of its steps, exactly.
 */
#include "device/dependent-launch.cuh"
#include "device/mask.cuh"

typedef CclSegmenterParameters Parameters;

enum { WEIGHT, MEAN, VARIANCE, FIELDS = CCL_MODEL_FIELDS };

/* One field of a Gaussian of a thread's pixels. */
typedef uint2 Numbers;
static_assert (sizeof (Numbers) == PIXELS * sizeof (uint16_t), "a number for each pixel");

/* The part of the model that a thread has read. */
struct Model {
  Numbers fields[CCL_MAX_MIXTURES][FIELDS];
};

static __device__ __forceinline__ bool
is_zero (const Numbers &numbers)
{
  return (numbers.x | numbers.y) == 0;
}

/* Where the numbers of a thread are in the plane of a field. */
static __device__ __forceinline__ Numbers *
numbers_at (const Parameters &p, size_t offset, int gaussian, int field)
{
  return (Numbers *)((char *)p.model + offset + (gaussian * FIELDS + field) * p.plane_size);
}

static __device__ __forceinline__ Numbers
load_numbers (const Parameters &p, size_t offset, int gaussian, int field, bool wanted)
{
  return wanted ? *numbers_at (p, offset, gaussian, field) : make_uint2 (0, 0);
}

/* The number of one pixel, of which one has as many steps as it takes to reach the power of two
 * from the middle of a float's bits. */
static __device__ __forceinline__ float
unpack (const Numbers &numbers, int pixel, float steps)
{
  const float power = 8388608.0f / steps; /* whose last bit is a step */
  const uint32_t bits = __byte_perm (
      pixel < 2 ? numbers.x : numbers.y, __float_as_uint (power), pixel % 2 ? 0x7632 : 0x7610);
  return __fsub_rn (__uint_as_float (bits), power);
}

/* The bits of a float whose lower half is the value in steps, rounded down after the dither. It
 * is what ccl_mixture_pack() gives. */
static __device__ __forceinline__ uint32_t
pack (float value, float steps, float dither)
{
  const float packed = __fadd_rn (__fmul_rn (value, steps), dither);
  return __float_as_uint (__fadd_rz (fminf (packed, 65535.0f), 8388608.0f));
}

static __device__ __forceinline__ uint32_t
pack_weight (float weight, float dither)
{
  const float packed = __fadd_rn (__fmul_rn (weight, CCL_MIXTURE_WEIGHT_STEPS), dither);
  const float alive = fmaxf (fminf (packed, 65535.0f), 1.0f);
  return __float_as_uint (__fadd_rz (weight == 0.0f ? 0.0f : alive, 8388608.0f));
}

/* Puts the lower half of a word in place of the number of one pixel. Returns whether that changes
 * anything. */
static __device__ __forceinline__ bool
replace (Numbers &numbers, int pixel, uint32_t number)
{
  uint32_t &word = pixel < 2 ? numbers.x : numbers.y;
  const uint32_t before = word;
  word = __byte_perm (word, number, pixel % 2 ? 0x5410 : 0x3254);
  return word != before;
}

/* Updates the models of a thread's pixels, of which none has more than READ Gaussians, and writes
 * what has changed. Returns which pixels are foreground. */
template <int READ>
static __device__ __forceinline__ uint32_t
update_pixels (const Parameters &p, const Group &group, size_t offset, Model &model, uint32_t luma)
{
  /* An update adds one Gaussian at most. */
  const int WRITTEN = READ < CCL_MAX_MIXTURES ? READ + 1 : READ;
  const float dither = p.mixture.dither;
  uint32_t foreground = 0, changed = 0;
#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++) {
    CclGaussian gaussians[CCL_MAX_MIXTURES];
#pragma unroll
    for (int k = 0; k < CCL_MAX_MIXTURES; k++) {
      gaussians[k].weight = gaussians[k].mean = gaussians[k].variance = 0.0f;
      if (k < READ) {
        const Numbers *fields = model.fields[k];
        gaussians[k].weight = unpack (fields[WEIGHT], pixel, CCL_MIXTURE_WEIGHT_STEPS);
        gaussians[k].mean = unpack (fields[MEAN], pixel, CCL_MIXTURE_MEAN_STEPS);
        gaussians[k].variance = unpack (fields[VARIANCE], pixel, CCL_MIXTURE_VARIANCE_STEPS);
      }
    }
    const float value = (float)(luma >> 8 * pixel & 0xff);
    if (!ccl_mixture_update (gaussians, value, &p.mixture))
      foreground |= 1u << pixel;
#pragma unroll
    for (int k = 0; k < WRITTEN; k++) {
      Numbers *fields = model.fields[k];
      const CclGaussian &g = gaussians[k];
      if (replace (fields[WEIGHT], pixel, pack_weight (g.weight, dither)))
        changed |= 1u << 2 * k;
      /* No variance is 0, so that of a Gaussian that was not read differs. */
      if (g.weight != 0.0f) {
        const bool moved =
            replace (fields[MEAN], pixel, pack (g.mean, CCL_MIXTURE_MEAN_STEPS, dither));
        if (replace (
                fields[VARIANCE], pixel, pack (g.variance, CCL_MIXTURE_VARIANCE_STEPS, dither)) ||
            moved)
          changed |= 2u << 2 * k;
      }
    }
  }
#pragma unroll
  for (int k = 0; k < WRITTEN; k++) {
    if (group.count && changed >> 2 * k & 1)
      *numbers_at (p, offset, k, WEIGHT) = model.fields[k][WEIGHT];
    if (group.count && changed >> 2 * k & 2) {
      *numbers_at (p, offset, k, MEAN) = model.fields[k][MEAN];
      *numbers_at (p, offset, k, VARIANCE) = model.fields[k][VARIANCE];
    }
  }
  return foreground;
}

/* Blocks of four rows; a thread has a group of pixels. */
extern "C" __global__ void
__launch_bounds__ (CCL_SEGMENTER_THREADS, 6) ccl_background (const __grid_constant__ Parameters p)
{
  const Group group = group_of_thread (p);
  const bool inside = group.count > 0;
  const size_t offset = ((size_t)group.y * p.row_groups + group.x / PIXELS) * sizeof (Numbers);
  Model model = {};
  uint32_t luma = 0, foreground;

  /* Nearly every pixel has one Gaussian, and only the next one's weight tells whether it has two.
   * A thread reads the others of pixels that have them. */
  model.fields[0][WEIGHT] = load_numbers (p, offset, 0, WEIGHT, inside);
  model.fields[0][MEAN] = load_numbers (p, offset, 0, MEAN, inside);
  model.fields[0][VARIANCE] = load_numbers (p, offset, 0, VARIANCE, inside);
  model.fields[1][WEIGHT] = load_numbers (p, offset, 1, WEIGHT, inside);
  if (inside)
    luma = load_luma (p, group);
  int most = 1;
#pragma unroll
  for (int k = 1; k < CCL_MAX_MIXTURES; k++) {
    const bool wanted = !is_zero (model.fields[k][WEIGHT]);
    if (most == k && __any_sync (FULL_WARP, wanted)) {
      most = k + 1;
      model.fields[k][MEAN] = load_numbers (p, offset, k, MEAN, wanted);
      model.fields[k][VARIANCE] = load_numbers (p, offset, k, VARIANCE, wanted);
      if (k + 1 < CCL_MAX_MIXTURES)
        model.fields[k + 1][WEIGHT] = load_numbers (p, offset, k + 1, WEIGHT, wanted);
    }
  }
  if (most == 1)
    foreground = update_pixels<1> (p, group, offset, model, luma);
  else if (most == 2)
    foreground = update_pixels<2> (p, group, offset, model, luma);
  else
    foreground = update_pixels<CCL_MAX_MIXTURES> (p, group, offset, model, luma);
  let_next_kernel_start ();
  deliver_group (p, group, foreground);
}
