/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of mixture.h for many pixels at a time, one pixel per lane. Masks and models
 * are identical to those of ccl_mixture_decay() and ccl_mixture_match() one pixel after the other;
 * the tests compare them. Work whose result is known is left out: most pixels match their heaviest
 * Gaussian, and most blocks have one Gaussian of full weight per pixel.
 *
 * The including file defines three vector types. Steps has STEP_LANES unsigned 16-bit numbers, the
 * format of the model; chroma has u in the lower and v in the upper byte. Ints and Floats have
 * LANES = STEP_LANES / 2 numbers of 32 bits, in which distances are compared and Gaussians are
 * moved. The operators of C work on all three; the including file also defines the functions on
 * them that are called below, and Mask, a set of LANES lanes. Steps are unpacked to two Ints, low
 * and high, in an order of lanes that depends on the instruction set. A set of STEP_LANES lanes is
 * a Steps whose lanes have all bits set or none.
 */
#pragma once

#include "mog2-match.h"

/* How far ahead blocks are prefetched. */
#define BLOCKS_AHEAD 8

static ALWAYS_INLINE bool
all_have_full_weight (const uint16_t *weights)
{
  Steps missing = steps_of (0);
  UNROLL for (int first = 0; first < BLOCK_PIXELS; first += STEP_LANES) missing |=
      steps_of (CUDACCL_MIXTURE_FULL_WEIGHT) - *steps_at ((uint16_t *)weights, first);
  return all_zero (missing);
}

/* Prefetches the Gaussians that a later block probably needs. The hardware does not predict these
 * accesses, because blocks differ in their number of Gaussians. */
static ALWAYS_INLINE void
prefetch_block (const Model *model, size_t block, bool colour)
{
  const BlockUse use = model->uses[block];

  if (use.single)
    return;
  for (size_t k = 0; k < use.most; k++)
    __builtin_prefetch (&model->weights[k * model->n_blocks + block], 1);
  for (size_t k = 1; k < use.compared; k++) {
    const GaussianBlock *gaussians = &model->gaussians[k * model->n_blocks + block];
    __builtin_prefetch (gaussians->means, 1);
    __builtin_prefetch (gaussians->variances, 1);
    if (colour)
      __builtin_prefetch (&model->chroma[k * model->n_blocks + block], 1);
  }
}

/* Updates the model of a block with its pixels, after decay. single: each pixel has one Gaussian of
 * full weight, and the decay was skipped, since a match restores the full weight. Updates use. */
static ALWAYS_INLINE Classes
match_pixels (const Pixels *pixels, bool single, bool all_have_gaussian, Kind kind,
    const Constants *constants, const Planes *planes, uint16_t *heaviest_weights, BlockUse *use)
{
  const int n = use->most;
  Classes classes = {UINT32_MAX, 0};

  UNROLL for (int first = 0; first < BLOCK_PIXELS; first += STEP_LANES)
  {
    if (all_have_gaussian &&
        match_heaviest (planes, first, pixels, single, kind, constants, &classes))
      continue;
    if (single)
      *steps_at (heaviest_weights, first) = constants->single_weight;
    const bool colour = kind.colour;
    (kind.words ? (colour ? match_any_wide_colour : match_any_wide_luma)
                : (colour ? match_any_colour : match_any_luma)) (
        n, pixels, constants, planes, first, heaviest_weights, use, &classes);
  }
  /* A full weight stays full as long as its Gaussian is the only one and is matched. */
  use->single = use->most == 1 && (single || all_have_full_weight (weights_of (planes, 0)));
  return classes;
}

/* Updates the model of a block with a frame's pixels. */
static ALWAYS_INLINE Classes
update_block (const Pixels *pixels, Kind kind, const Constants *constants, const Planes *planes,
    BlockUse *use)
{
  _Alignas(64) uint16_t heaviest_weights[BLOCK_PIXELS];
  bool all_have_gaussian = false;

  use->compared = 1;
  if (use->single)
    return match_pixels (pixels, true, true, kind, constants, planes, heaviest_weights, use);

  for (; use->most > constants->mixtures; use->most--)
    memset (weights_of (planes, use->most - 1), 0, sizeof (WeightBlock));
  /* The compiler specialises decay_weights() for each constant. */
  switch (use->most) {
  case 0:
    break;
  case 1:
    all_have_gaussian = decay_weights (1, constants, planes, heaviest_weights, use);
    break;
  case 2:
    all_have_gaussian = decay_weights (2, constants, planes, heaviest_weights, use);
    break;
  case 3:
    all_have_gaussian = decay_weights (3, constants, planes, heaviest_weights, use);
    break;
  case 4:
    all_have_gaussian = decay_weights (4, constants, planes, heaviest_weights, use);
    break;
  default:
    all_have_gaussian = decay_weights (5, constants, planes, heaviest_weights, use);
    break;
  }
  return match_pixels (
      pixels, false, all_have_gaussian, kind, constants, planes, heaviest_weights, use);
}

/* The same for a kind that is no constant. */
static Classes
update_block_of_kind (const Pixels *pixels, Kind kind, const Constants *constants,
    const Planes *planes, BlockUse *use)
{
  if (kind.words)
    return kind.colour ? update_block (pixels, (Kind){true, true}, constants, planes, use)
                       : update_block (pixels, (Kind){false, true}, constants, planes, use);
  return kind.colour ? update_block (pixels, (Kind){true, false}, constants, planes, use)
                     : update_block (pixels, (Kind){false, false}, constants, planes, use);
}

/* The same for a block with held pixels, one bit per pixel. Their model is updated, too, to find
 * their classes, and then restored. */
static __attribute__ ((noinline)) Classes
update_held_block (uint32_t held, const Pixels *pixels, Kind kind, const Constants *constants,
    const Planes *planes, BlockUse *use)
{
  const bool colour = kind.colour;
  const BlockUse before = *use;
  WeightBlock weights[CUDACCL_MAX_MIXTURES];
  GaussianBlock gaussians[CUDACCL_MAX_MIXTURES];
  ChromaBlock chroma[CUDACCL_MAX_MIXTURES];
  const int n = before.most < CUDACCL_MAX_MIXTURES ? before.most + 1 : CUDACCL_MAX_MIXTURES;

  for (int k = 0; k < n; k++) {
    memcpy (&weights[k], weights_of (planes, k), sizeof *weights);
    memcpy (&gaussians[k], gaussians_of (planes, k), sizeof *gaussians);
    if (colour)
      memcpy (&chroma[k], chroma_of (planes, k), sizeof *chroma);
  }
  const Classes classes = update_block_of_kind (pixels, kind, constants, planes, use);
  for (int k = 0; k < n; k++) {
    for (uint32_t rest = held; rest; rest &= rest - 1) {
      const int i = __builtin_ctz (rest);
      weights_of (planes, k)[i] = weights[k].weights[i];
      gaussians_of (planes, k)->means[i] = gaussians[k].means[i];
      gaussians_of (planes, k)->variances[i] = gaussians[k].variances[i];
      if (colour)
        chroma_of (planes, k)[i] = chroma[k].chroma[i];
    }
  }
  use->single = use->single && before.single;
  use->most = use->most > before.most ? use->most : before.most;
  return classes;
}

static ALWAYS_INLINE void
update_row (const BackgroundRow *row, Kind kind, const Constants *constants)
{
  const Model *model = row->model;
  const bool colour = kind.colour;
  const size_t pixel_bytes = kind.words ? 2 : 1;
  const size_t first_block = row->y * model->blocks_per_row;
  const size_t end_block = row->end_row * model->blocks_per_row;

  for (uint32_t x = 0; x < row->width; x += BLOCK_PIXELS) {
    const size_t block = first_block + x / BLOCK_PIXELS;
    const Planes planes = {&model->weights[block], &model->gaussians[block],
        colour ? &model->chroma[block] : NULL, model->n_blocks};
    Pixels pixels = {row->luma + pixel_bytes * x, colour ? row->chroma + x : NULL};
    uint8_t rest[2 * BLOCK_PIXELS] = {0};
    if (row->width - x < BLOCK_PIXELS)
      pixels.luma = memcpy (rest, pixels.luma, pixel_bytes * (row->width - x));
    prefetch_block (model, block + BLOCKS_AHEAD < end_block ? block + BLOCKS_AHEAD : block, colour);
    const uint32_t held = row->held ? (uint32_t)(row->held[x / 64] >> x % 64) : 0;
    const Classes classes =
        held ? update_held_block (held, &pixels, kind, constants, &planes, &model->uses[block])
             : update_block (&pixels, kind, constants, &planes, &model->uses[block]);
    const uint64_t foreground = ~(classes.background | classes.shadow);
    if (x % 64 == 0) {
      row->foreground[x / 64] = foreground;
      row->shadow[x / 64] = classes.shadow;
    } else {
      row->foreground[x / 64] |= foreground << 32;
      row->shadow[x / 64] |= (uint64_t)classes.shadow << 32;
    }
  }
}

static void
background_row (const BackgroundRow *row)
{
  const Constants constants = make_constants (row->parameters, row->tells_shadows);
  if (row->chroma && row->is_wide)
    update_row (row, (Kind){true, true}, &constants);
  else if (row->chroma)
    update_row (row, (Kind){true, false}, &constants);
  else if (row->is_wide)
    update_row (row, (Kind){false, true}, &constants);
  else
    update_row (row, (Kind){false, false}, &constants);
}
