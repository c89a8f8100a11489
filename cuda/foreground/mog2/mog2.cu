/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of a frame: the mixture of Gaussians of mixture.h for every pixel, bit by
 * bit.
 *
 * A thread updates four pixels. First it decays the weights of all their Gaussians. A pixel whose
 * value matches its first Gaussian, the heaviest one, takes the fast path, as 95 % of the pixels
 * do: the order of its Gaussians does not change, and of the others only the weights are read and
 * written. The other pixels go to a list of the thread block, which then updates them by
 * ccl_mixture_match() with one pixel per thread. So the threads of a warp do not diverge in either
 * part. Held pixels, whose model stays, go there, too.
 */
#include "gaussians.cuh"

#include "cuda/kernel-lib/dependent-launch.cuh"

/* Loads the weights of a thread's pixels; those of the fourth and fifth Gaussians only if a pixel
 * has three. */
static __device__ __forceinline__ void
load_weights (const Parameters &p, bool inside, uint32_t offset, uint32_t held,
    Weights weights[CUDACCL_MAX_MIXTURES])
{
  /* Three independent loads overlap their latency. */
#pragma unroll
  for (int k = 0; k < 3; k++)
    weights[k] = inside ? p.weights[k][offset] : make_uint2 (0, 0);
#pragma unroll
  for (int k = 3; k < CUDACCL_MAX_MIXTURES; k++)
    weights[k] = is_zero (weights[2]) ? make_uint2 (0, 0) : p.weights[k][offset];
  if (p.mixture.mixtures < CUDACCL_MAX_MIXTURES) {
    /* Removes Gaussians beyond the property, which may have been lowered. */
#pragma unroll
    for (int k = 1; k < CUDACCL_MAX_MIXTURES; k++) {
      if (k >= (int)p.mixture.mixtures && !is_zero (weights[k]))
        p.weights[k][offset] = weights[k] = keep_held (make_uint2 (0, 0), weights[k], held);
    }
  }
}

/* Loads a cache line in advance. */
static __device__ __forceinline__ void
prefetch (const void *memory)
{
#ifndef CUDACCL_SIMCUDA
  asm volatile("prefetch.L1 [%0];" ::"l"(memory));
#else
  (void)memory;
#endif
}

/* Prefetches the shapes that pixels without a match of their first Gaussian need. */
static __device__ __forceinline__ void
prefetch_shapes (const Parameters &p, uint32_t offset, const Weights weights[CUDACCL_MAX_MIXTURES])
{
#pragma unroll
  for (int k = 1; k < CUDACCL_MAX_MIXTURES; k++) {
    if (!is_zero (weights[k]))
      prefetch (p.shapes[k] + offset);
  }
}

/* Decays the weights of all but the first Gaussians, except those of held pixels; no pixel of the
 * warp has more than `most` Gaussians. Sets the loss of each pixel. */
static __device__ __forceinline__ void
decay_others (const Parameters &p, uint32_t offset, uint32_t held, uint32_t most,
    const Decay &decay, const Weights weights[CUDACCL_MAX_MIXTURES], uint32_t parts[PIXELS])
{
  Weights others = {0, 0};
#pragma unroll
  for (uint32_t k = 1; k < CUDACCL_MAX_MIXTURES; k++) {
    if (k < most) {
      others.x += count_living (weights[k].x);
      others.y += count_living (weights[k].y);
    }
  }
#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++)
    parts[pixel] = decay.of_lone - weight_of (others, pixel) * decay.less;
#pragma unroll
  for (uint32_t k = 1; k < CUDACCL_MAX_MIXTURES; k++) {
    if (k < most && !is_zero (weights[k])) {
      uint32_t left[PIXELS];
#pragma unroll
      for (int pixel = 0; pixel < PIXELS; pixel++)
        left[pixel] = decayed (weight_of (weights[k], pixel), parts[pixel], decay);
      const Weights now = make_uint2 (pair (left[0], left[1]), pair (left[2], left[3]));
      p.weights[k][offset] = held ? keep_held (now, weights[k], held) : now;
    }
  }
}

/* Shadows are this many bits above the foreground. */
enum { SHADOW_SHIFT = 8 };

/* The class of a pixel that is not background: a bit for foreground or for shadow. */
static __device__ __forceinline__ uint32_t
class_bit (const Parameters &p, const CclGaussian &heaviest, uint32_t luma, uint32_t chroma)
{
  const bool shadow = p.tells_shadows && ccl_mixture_is_shadow (&heaviest, luma, chroma);
  return shadow ? 1u << SHADOW_SHIFT : 1;
}

/* The result of a thread's update, one bit per pixel. */
struct Found {
  uint32_t matched; /* pixels that matched their first Gaussian; the others remain to be updated */
  uint32_t classes; /* matched pixels that are foreground, or shadow */
  uint32_t most;    /* the most Gaussians of a pixel of the warp, at least 1 */
};

/* Decays the weights of a thread's pixels and updates the pixels that match their first Gaussian,
 * except held ones. All threads of a warp take part. */
template <bool COLOUR, typename Luma>
static __device__ __forceinline__ Found
update_group (const Parameters &p, const Group &group, const Values<Luma> &values, uint32_t held)
{
  const CclMixtureParameters &m = p.mixture;
  const Decay decay = decay_of (m);
  const uint32_t offset = group.y * p.row_groups + group.x / PIXELS;
  const bool inside = group.count > 0;
  Found found = {0, 0, 1};
  Weights weights[CUDACCL_MAX_MIXTURES];
  Shapes shapes = inside ? p.shapes[0][offset] : make_uint4 (0, 0, 0, 0);
  uint2 chroma = COLOUR && inside ? p.chroma[0][offset] : make_uint2 (0, 0);
  load_weights (p, inside, offset, held, weights);

#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++) {
    const Fit fit =
        fit_of<COLOUR> (shape_of (shapes, pixel), chroma_of (chroma, pixel), values, pixel);
    found.matched |= (uint32_t)matches (fit) << pixel;
  }
  found.matched &= ~held;
  if (found.matched != bits_below (PIXELS))
    prefetch_shapes (p, offset, weights);

  uint32_t parts[PIXELS];
#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++)
    parts[pixel] = decay.of_lone;
#pragma unroll
  for (uint32_t k = 1; k < CUDACCL_MAX_MIXTURES; k++) {
    if (found.most == k && __any_sync (FULL_WARP, !is_zero (weights[k])))
      found.most = k + 1;
  }
  if (found.most > 1)
    decay_others (p, offset, held, found.most, decay, weights, parts);

  const Shapes shapes_before = shapes;
  uint32_t first[PIXELS], chroma_then[PIXELS];
#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++) {
    uint32_t &shape = shape_of (shapes, pixel);
    const uint32_t chroma_before = chroma_of (chroma, pixel);
    const Fit fit = fit_of<COLOUR> (shape, chroma_before, values, pixel);
    first[pixel] = decayed (weight_of (weights[0], pixel), parts[pixel], decay);
    const uint32_t weight = min (first[pixel] + m.gain, CUDACCL_MIXTURE_FULL_WEIGHT);
    const float step = step_of (weight, m);
    const uint32_t shape_then = moved<Luma> (fit, step, m);
    chroma_then[pixel] = chroma_before;
    if (first[pixel] == 0)
      found.matched &= ~(1u << pixel);
    else if (found.matched >> pixel & 1) {
      if (!(fit.squared < __fmul_rn (m.var_threshold, fit.variance))) {
        const CclGaussian gaussian = {
            first[pixel], shape & 0xffff, shape >> 16, COLOUR ? chroma_before : CUDACCL_NO_CHROMA};
        found.classes |= class_bit (p, gaussian, luma_of (values.luma, pixel),
                             COLOUR ? chroma_of (values.chroma, pixel) : CUDACCL_NO_CHROMA)
                         << pixel;
      }
      first[pixel] = weight;
      shape = shape_then;
      if (COLOUR)
        chroma_then[pixel] =
            moved_chroma (chroma_before, chroma_of (values.chroma, pixel), step, m);
    }
  }
  if (COLOUR) {
    const uint2 moved = {
        pair (chroma_then[0], chroma_then[1]), pair (chroma_then[2], chroma_then[3])};
    if (moved.x != chroma.x || moved.y != chroma.y)
      p.chroma[0][offset] = moved;
  }
  Weights heaviest = {pair (first[0], first[1]), pair (first[2], first[3])};
  if (held)
    heaviest = keep_held (heaviest, weights[0], held);
  if (heaviest.x != weights[0].x || heaviest.y != weights[0].y)
    p.weights[0][offset] = heaviest;
  if (shapes.x != shapes_before.x || shapes.y != shapes_before.y || shapes.z != shapes_before.z ||
      shapes.w != shapes_before.w)
    p.shapes[0][offset] = shapes;
  return found;
}

/* Updates the model of one pixel, whose weights have decayed and which has at most n_gaussians
 * Gaussians. The model of a held pixel has not decayed, and stays. Returns the pixel's class as
 * class_bit(), 0 for background. */
template <bool COLOUR>
static __device__ __forceinline__ uint32_t
match_pixel (const Parameters &p, uint32_t x, uint32_t y, uint32_t luma, uint32_t chroma,
    uint32_t n_gaussians, bool is_held)
{
  const size_t offset = (size_t)y * p.row_groups * PIXELS + x;
  CclGaussian gaussians[CUDACCL_MAX_MIXTURES];
  uint32_t shapes[CUDACCL_MAX_MIXTURES], weights[CUDACCL_MAX_MIXTURES],
      chromas[CUDACCL_MAX_MIXTURES];
#pragma unroll
  for (int k = 0; k < CUDACCL_MAX_MIXTURES; k++) {
    const bool there = k < (int)n_gaussians;
    gaussians[k].weight = there ? ((const uint16_t *)p.weights[k])[offset] : 0;
    shapes[k] = there ? ((const uint32_t *)p.shapes[k])[offset] : 0;
    /* UINT32_MAX differs from every chroma, so that the chroma of a new Gaussian is stored. */
    chromas[k] = COLOUR && there ? ((const uint16_t *)p.chroma[k])[offset] : UINT32_MAX;
  }
#pragma unroll
  for (int k = 0; k < CUDACCL_MAX_MIXTURES; k++) {
    weights[k] = gaussians[k].weight;
    gaussians[k].mean = shapes[k] & 0xffff;
    gaussians[k].variance = shapes[k] >> 16;
    gaussians[k].chroma = COLOUR ? chromas[k] : CUDACCL_NO_CHROMA;
  }
  if (is_held)
    ccl_mixture_decay (gaussians, &p.mixture);
  const uint32_t class_otherwise = class_bit (p, gaussians[0], luma, chroma);
  const bool background = ccl_mixture_match (gaussians, luma, chroma, &p.mixture);
#pragma unroll
  for (int k = 0; k < CUDACCL_MAX_MIXTURES; k++) {
    const uint32_t shape = gaussians[k].mean | gaussians[k].variance << 16;
    if (is_held)
      continue;
    if (gaussians[k].weight != weights[k])
      ((uint16_t *)p.weights[k])[offset] = (uint16_t)gaussians[k].weight;
    if (gaussians[k].weight && shape != shapes[k])
      ((uint32_t *)p.shapes[k])[offset] = shape;
    if (COLOUR && gaussians[k].weight && gaussians[k].chroma != chromas[k])
      ((uint16_t *)p.chroma[k])[offset] = (uint16_t)gaussians[k].chroma;
  }
  return background ? 0 : class_otherwise;
}

/* Begins the model of a thread's pixels: ccl_mixture_match() without Gaussians. */
template <typename Luma>
static __device__ __forceinline__ void
begin_group (const Parameters &p, const Group &group, const Values<Luma> &values)
{
  const uint32_t offset = group.y * p.row_groups + group.x / PIXELS;
  Shapes shapes;

  if (group.count == 0)
    return;
#pragma unroll
  for (int pixel = 0; pixel < PIXELS; pixel++)
    shape_of (shapes, pixel) = pair (luma_of (values.luma, pixel), CUDACCL_MIXTURE_FIRST_VARIANCE);
  p.shapes[0][offset] = shapes;
  p.weights[0][offset] =
      make_uint2 (CUDACCL_MIXTURE_FULL_WEIGHT * 0x10001u, CUDACCL_MIXTURE_FULL_WEIGHT * 0x10001u);
#pragma unroll
  for (int k = 1; k < CUDACCL_MAX_MIXTURES; k++)
    p.weights[k][offset] = make_uint2 (0, 0);
  if (p.frame.u)
    p.chroma[0][offset] = values.chroma;
}

/* Brings the values of a thread's pixels to the light of the model. */
template <typename Luma>
static __device__ __forceinline__ void
correct_values (const Parameters &p, const Group &group, Values<Luma> *values)
{
  values->luma = correct_luma (values->luma, light_factor (p.grid, p.factors, group.x, group.y));
  if (p.frame.u) {
    const uint32_t y = group.y >> p.frame.chroma_shift_y << p.frame.chroma_shift_y;
    const uint32_t factor = light_factor (p.grid, p.factors, group.x, y);
    values->chroma.x = correct_chroma (values->chroma.x, factor);
    values->chroma.y = correct_chroma (values->chroma.y, factor);
  }
}

static __device__ __forceinline__ uint32_t
held_of (const Parameters &p, const Group &group)
{
  if (!p.held || !group.count)
    return 0;
  return p.held[(size_t)group.y * p.extent.row_words + group.x / 32] >> group.x % 32 &
         bits_below (PIXELS);
}

/* Marks a held pixel in the list. */
enum { HELD = 1u << 15 };
static_assert (
    CUDACCL_FOREGROUND_THREADS * PIXELS <= HELD, "the mark is no part of a pixel's number");

/* Updates the model of a block's pixels; each thread first a group, then some of those in the list.
 * Returns the classes of the thread's pixels. */
template <bool COLOUR, typename Luma>
static __device__ __forceinline__ uint32_t
update_block (const Parameters &p, const Group &group, const Values<Luma> &values)
{
  __shared__ uint32_t classes[CUDACCL_FOREGROUND_THREADS], most[CUDACCL_FOREGROUND_WARPS], n_left;
  __shared__ Luma luma[CUDACCL_FOREGROUND_THREADS];
  __shared__ uint2 chroma[COLOUR ? CUDACCL_FOREGROUND_THREADS : 1];
  __shared__ uint16_t left[CUDACCL_FOREGROUND_THREADS * PIXELS];
  if (threadIdx.x == 0)
    n_left = 0;
  const uint32_t held = held_of (p, group);
  const Found found = update_group<COLOUR> (p, group, values, held);
  classes[threadIdx.x] = found.classes;
  luma[threadIdx.x] = values.luma;
  if (COLOUR)
    chroma[threadIdx.x] = values.chroma;
  if (lane_of_warp () == 0)
    most[threadIdx.x / 32] = found.most;
  __syncthreads ();
  uint32_t rest = ~found.matched & bits_below (group.count);
  if (rest) {
    uint32_t place = atomicAdd (&n_left, __popc (rest));
    for (; rest; rest &= rest - 1) {
      const uint32_t pixel = (uint32_t)__ffs ((int)rest) - 1;
      left[place++] = (uint16_t)(threadIdx.x * PIXELS + pixel + (held >> pixel & 1 ? HELD : 0));
    }
  }
  __syncthreads ();
  const uint32_t n = n_left;
  for (uint32_t i = threadIdx.x; i < n; i += CUDACCL_FOREGROUND_THREADS) {
    const uint32_t entry = left[i] % HELD, thread = entry / PIXELS, pixel = entry % PIXELS;
    const uint32_t x = (blockIdx.x * 32 + thread % 32) * PIXELS + pixel;
    const uint32_t y = group.y - threadIdx.x / 32 + thread / 32;
    const uint32_t bit = match_pixel<COLOUR> (p, x, y, luma_of (luma[thread], pixel),
        COLOUR ? chroma_of (chroma[COLOUR ? thread : 0], (int)pixel) : CUDACCL_NO_CHROMA,
        most[thread / 32], left[i] >= HELD);
    if (bit)
      atomicOr (&classes[thread], bit << pixel);
  }
  if (n)
    __syncthreads ();
  return classes[threadIdx.x];
}

/* A block handles four rows. */
template <bool COLOUR, PixelKind KIND>
static __device__ __forceinline__ void
model (const Parameters &p)
{
  const Group group = group_of_thread (p.extent);
  Values<typename LumaOf<KIND>::Type> values = {};
  if (group.count)
    values.luma = LumaOf<KIND>::load (p, group);
  if (COLOUR && group.count)
    values.chroma = load_chroma<KIND> (p.frame, group);
  uint32_t classes = 0;
  wait_for_previous_kernel ();
  if (p.light && p.light->begins)
    begin_group (p, group, values);
  else {
    if (p.light && p.light->is_corrected && group.count)
      correct_values (p, group, &values);
    classes = update_block<COLOUR> (p, group, values);
    if (p.light && p.light->is_empty)
      classes = 0;
  }
  let_next_kernel_start ();
  const uint32_t foreground = classes % (1u << SHADOW_SHIFT);
  if (p.next_held)
    write_bits (p.extent, group, foreground, p.next_held);
  write_group (p.extent, p.mask, group, foreground, classes >> SHADOW_SHIFT);
}

#define MODEL_KERNEL(name, colour, kind)                                                           \
  extern "C" __global__ void __launch_bounds__ (CUDACCL_FOREGROUND_THREADS, CUDACCL_MOG2_BLOCKS)   \
      name (const __grid_constant__ Parameters p)                                                  \
  {                                                                                                \
    model<colour, kind> (p);                                                                       \
  }
MODEL_KERNEL (ccl_mog2, false, BYTES)
MODEL_KERNEL (ccl_mog2_packed, false, PACKED)
MODEL_KERNEL (ccl_mog2_words, false, WORDS)
/* The same with chroma. */
MODEL_KERNEL (ccl_mog2_colour, true, BYTES)
MODEL_KERNEL (ccl_mog2_colour_packed, true, PACKED)
MODEL_KERNEL (ccl_mog2_colour_words, true, WORDS)
