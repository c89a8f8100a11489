/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The light of a frame: how much brighter it is than the background model. It also shows scene
 * changes, differences between frame and model that a change of light does not explain.
 *
 * The frame is divided into square cells. The measured light of a cell is the median of the log
 * ratios of the frame's luma to the model's at 16 × 16 samples; objects that cover less than half
 * of the cell do not change it. The light of a cell is the median of the measured light of the
 * uniform cells around it, or, if these are too few, of the explained cells of the frame. Before a
 * frame updates the model, each of its pixels is multiplied by a factor that removes the light and
 * is interpolated between the cells. The factors are one step nearer to one than measured, so that
 * the model follows the light by about one step in `history` frames, without a pass over the model.
 *
 * The codebook model (codebook.h) knows two more kinds of light. Lamps and a rolling shutter make
 * bands: then each row of samples has light of its own, the median of its log ratios, which is
 * subtracted before cells are measured. Whether rows have is known from the frame before. At the
 * edges of a cloud's shadow, the uniform cells around a cell that are like it decide alone, and a
 * pixel between cells has the light of one of them where this brings it to the model.
 *
 * A cell is uniform if most of its samples differ from the measured light by at most a few percent.
 * It is explained also if most of them differ by at most two standard deviations of the model,
 * because noise is a larger part of the luma in the dark. Where objects pass, the model has large
 * deviations, too, so the light measured there counts less than that of uniform cells. If four
 * fifths of the measured cells are not explained, or differ from the light of the cells around
 * them, the scene has changed, and a new model begins. With a third of them, people who fill a part
 * of the picture and a shaking camera made the model begin anew again and again.
 *
 * Light is measured in luma of 8 bits, to which luma of 16 bits is rounded. Factors are applied to
 * all bits. All numbers are integers, so that CPU and GPU give identical bits.
 */
#pragma once

#include "mixture.h"

#include <cudaccl/foreground.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define CUDACCL_LIGHT_FUNCTION __host__ __device__ static __forceinline__
#else
#define CUDACCL_LIGHT_FUNCTION static inline
#endif

enum {
  CUDACCL_LIGHT_SAMPLES = 16,       /* rows and columns of samples in a cell */
  CUDACCL_LIGHT_MAX_COLUMNS = 32,   /* of cells in a frame */
  CUDACCL_LIGHT_LEAST_LUMA = 24,    /* samples of this luma and more are compared, */
  CUDACCL_LIGHT_MOST_LUMA = 232,    /* up to this one */
  CUDACCL_LIGHT_LEAST_SAMPLES = 64, /* a cell with fewer compared samples is not measured */
  CUDACCL_LIGHT_LIMIT = 128,        /* log ratios are cut off here; 64 make an octave */
  CUDACCL_LIGHT_NEAR = 8,           /* log ratios that differ by at most this are alike */
  CUDACCL_LIGHT_WINDOW = 2,         /* cells to each side that the median takes in */
  CUDACCL_LIGHT_ONE = 4096,         /* a factor of one */
  CUDACCL_LIGHT_BAD_PERCENT = 80,   /* a larger share of bad cells is a scene change */
  /* Where the light has edges, cells that are alike at a cell, itself included, decide alone. */
  CUDACCL_LIGHT_LEAST_ALIKE = 3,
  /* The light of a frame has edges if so many of the measured cells are uniform, and so many of the
   * explained ones differ from their median. */
  CUDACCL_LIGHT_EDGES_UNIFORM_QUARTERS = 3,
  CUDACCL_LIGHT_EDGES_VARIED_EIGHTHS = 1,
  /* The greatest difference from the model of a pixel that is in the light of one of the cells
   * around it: there is no tolerance below it in daylight. */
  CUDACCL_LIGHT_EDGE_TOLERANCE = 20,
  CUDACCL_LIGHT_FIRST_FRAMES = 16, /* of a model, in which no scene change is found */
};

/* round (64 × log2 (i)) for i = 0…255; 0 for i = 0. */
#define CUDACCL_LIGHT_LOGS                                                                         \
  0, 0, 64, 101, 128, 149, 165, 180, 192, 203, 213, 221, 229, 237, 244, 250, 256, 262, 267, 272,   \
      277, 281, 285, 290, 293, 297, 301, 304, 308, 311, 314, 317, 320, 323, 326, 328, 331, 333,    \
      336, 338, 341, 343, 345, 347, 349, 351, 354, 355, 357, 359, 361, 363, 365, 367, 368, 370,    \
      372, 373, 375, 376, 378, 380, 381, 383, 384, 385, 387, 388, 390, 391, 392, 394, 395, 396,    \
      397, 399, 400, 401, 402, 403, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416,    \
      418, 419, 419, 420, 421, 422, 423, 424, 425, 426, 427, 428, 429, 430, 431, 431, 432, 433,    \
      434, 435, 436, 436, 437, 438, 439, 440, 440, 441, 442, 443, 444, 444, 445, 446, 447, 447,    \
      448, 449, 449, 450, 451, 452, 452, 453, 454, 454, 455, 456, 456, 457, 458, 458, 459, 460,    \
      460, 461, 461, 462, 463, 463, 464, 464, 465, 466, 466, 467, 467, 468, 469, 469, 470, 470,    \
      471, 471, 472, 473, 473, 474, 474, 475, 475, 476, 476, 477, 477, 478, 478, 479, 479, 480,    \
      480, 481, 482, 482, 483, 483, 483, 484, 484, 485, 485, 486, 486, 487, 487, 488, 488, 489,    \
      489, 490, 490, 491, 491, 491, 492, 492, 493, 493, 494, 494, 495, 495, 495, 496, 496, 497,    \
      497, 498, 498, 498, 499, 499, 500, 500, 500, 501, 501, 502, 502, 503, 503, 503, 504, 504,    \
      504, 505, 505, 506, 506, 506, 507, 507, 508, 508, 508, 509, 509, 509, 510, 510, 511, 511,    \
      511, 512

/* round (CUDACCL_LIGHT_ONE × 2^(i / 64)) for i = −CUDACCL_LIGHT_LIMIT…CUDACCL_LIGHT_LIMIT. */
#define CUDACCL_LIGHT_POWERS                                                                       \
  1024, 1035, 1046, 1058, 1069, 1081, 1093, 1105, 1117, 1129, 1141, 1154, 1166, 1179, 1192, 1205,  \
      1218, 1231, 1244, 1258, 1272, 1286, 1300, 1314, 1328, 1342, 1357, 1372, 1387, 1402, 1417,    \
      1433, 1448, 1464, 1480, 1496, 1512, 1529, 1545, 1562, 1579, 1596, 1614, 1631, 1649, 1667,    \
      1685, 1704, 1722, 1741, 1760, 1779, 1798, 1818, 1838, 1858, 1878, 1898, 1919, 1940, 1961,    \
      1983, 2004, 2026, 2048, 2070, 2093, 2116, 2139, 2162, 2186, 2209, 2233, 2258, 2282, 2307,    \
      2332, 2358, 2383, 2409, 2435, 2462, 2489, 2516, 2543, 2571, 2599, 2627, 2656, 2685, 2714,    \
      2744, 2774, 2804, 2834, 2865, 2896, 2928, 2960, 2992, 3025, 3057, 3091, 3124, 3158, 3193,    \
      3228, 3263, 3298, 3334, 3371, 3407, 3444, 3482, 3520, 3558, 3597, 3636, 3676, 3716, 3756,    \
      3797, 3838, 3880, 3922, 3965, 4008, 4052, 4096, 4141, 4186, 4231, 4277, 4324, 4371, 4419,    \
      4467, 4515, 4565, 4614, 4664, 4715, 4767, 4819, 4871, 4924, 4978, 5032, 5087, 5142, 5198,    \
      5255, 5312, 5370, 5428, 5487, 5547, 5607, 5668, 5730, 5793, 5856, 5919, 5984, 6049, 6115,    \
      6182, 6249, 6317, 6386, 6455, 6526, 6597, 6668, 6741, 6814, 6889, 6964, 7039, 7116, 7194,    \
      7272, 7351, 7431, 7512, 7594, 7677, 7760, 7845, 7930, 8016, 8104, 8192, 8281, 8371, 8463,    \
      8555, 8648, 8742, 8837, 8933, 9031, 9129, 9228, 9329, 9431, 9533, 9637, 9742, 9848, 9955,    \
      10064, 10173, 10284, 10396, 10509, 10624, 10739, 10856, 10975, 11094, 11215, 11337, 11460,   \
      11585, 11711, 11839, 11968, 12098, 12230, 12363, 12498, 12634, 12771, 12910, 13051, 13193,   \
      13337, 13482, 13629, 13777, 13927, 14079, 14232, 14387, 14544, 14702, 14862, 15024, 15188,   \
      15353, 15520, 15689, 15860, 16033, 16208, 16384

/* The light of rows of samples, which lamps and a rolling shutter make: bands that run through the
 * frame. */
enum {
  /* Rows get light of their own where this brings more of the compared samples near to it, by so
   * many of them, and lose it where it brings fewer, by as many. */
  CUDACCL_LIGHT_ROWS_SIXTEENTHS = 1,
  /* Eighths of them that are near to it then, at least: it explains the frame but for objects. */
  CUDACCL_LIGHT_ROWS_BEGIN_EIGHTHS = 7,
  CUDACCL_LIGHT_ROWS_STAY_EIGHTHS = 6,
};

/* Samples of a frame, or of a part of it. */
typedef struct CclLightRowSums {
  uint32_t compared;
  uint32_t near_rows;   /* those near the light of their row */
  uint32_t near_smooth; /* those near the light of the rows around it */
} CclLightRowSums;

/* The division of a frame into cells. */
typedef struct CclLightGrid {
  uint32_t shift; /* the side of a cell is 1 << shift pixels, at least CUDACCL_LIGHT_SAMPLES */
  uint32_t columns, rows; /* the cells at the right and at the bottom may be smaller */
} CclLightGrid;

/* What was measured in a cell. Samples are compared where the luma of both frame and model is
 * CUDACCL_LIGHT_LEAST_LUMA…CUDACCL_LIGHT_MOST_LUMA; the model's is that of its heaviest Gaussian.
 */
typedef struct CclLightCell {
  int16_t ratio;         /* the lower median of the log ratios; undefined unless measured */
  bool measured;         /* at least CUDACCL_LIGHT_LEAST_SAMPLES were compared */
  bool uniform;          /* measured, and three fifths of the ratios are near the median */
  bool explained;        /* measured, and three fifths of the samples are near it or noise */
  uint16_t in_frame;     /* samples of the frame with a luma in that range */
  uint16_t in_model;     /* samples of the model with a luma in that range */
  uint16_t dark, bright; /* samples of the frame with a lower, and with a higher luma */
  uint32_t frame_chroma; /* sum of |u − 128| + |v − 128| over all samples of the frame */
  uint32_t model_chroma; /* the same of the model */
} CclLightCell;

/* Numbers of cells of a frame that say whether its light has edges. */
typedef struct CclLightShares {
  uint32_t measured, uniform, explained;
  uint32_t varied; /* explained, and not near the frame's median */
} CclLightShares;

/* Sums over the cells of a frame. */
typedef struct CclLightSums {
  uint32_t cells, measured;
  uint32_t bad; /* measured, but not explained or not near the light around them */
  /* Cells with CUDACCL_LIGHT_LEAST_SAMPLES samples whose luma is compared: */
  uint32_t in_frame, in_model;
  uint64_t dark, bright;
  uint64_t frame_chroma, model_chroma;
} CclLightSums;

CUDACCL_LIGHT_FUNCTION bool
ccl_light_compares (uint32_t luma)
{
  return luma >= CUDACCL_LIGHT_LEAST_LUMA && luma <= CUDACCL_LIGHT_MOST_LUMA;
}

/* A log ratio, or a sum of two, limited to ±CUDACCL_LIGHT_LIMIT. */
CUDACCL_LIGHT_FUNCTION int
ccl_light_limited (int ratio)
{
  return ratio < -CUDACCL_LIGHT_LIMIT  ? -CUDACCL_LIGHT_LIMIT
         : ratio > CUDACCL_LIGHT_LIMIT ? CUDACCL_LIGHT_LIMIT
                                       : ratio;
}

/* Whether a log ratio is near a median. */
CUDACCL_LIGHT_FUNCTION bool
ccl_light_is_near (int ratio, int median)
{
  const int distance = ratio - median;
  return distance >= -CUDACCL_LIGHT_NEAR && distance <= CUDACCL_LIGHT_NEAR;
}

/* Whether the difference of a sample from the model can be noise. expected: the model's mean in the
 * light of the median. variance: the model's. */
CUDACCL_LIGHT_FUNCTION bool
ccl_light_is_noise (uint32_t luma, uint32_t expected, uint32_t variance)
{
  const int deviation = (int)luma - (int)expected;
  return (uint32_t)(deviation * deviation) * (CUDACCL_MIXTURE_VARIANCE_STEPS / 4) <= variance;
}

/* The luma of a mean in the light of a factor. */
CUDACCL_LIGHT_FUNCTION uint32_t
ccl_light_expected (uint32_t mean, uint32_t factor)
{
  return (mean * factor + CUDACCL_LIGHT_ONE / 2) >> 12;
}

CUDACCL_LIGHT_FUNCTION CclLightGrid
ccl_light_grid (uint32_t width, uint32_t height)
{
  CclLightGrid grid = {4, 0, 0};
  while ((width + (1u << grid.shift) - 1) >> grid.shift > CUDACCL_LIGHT_MAX_COLUMNS)
    grid.shift++;
  grid.columns = (width + (1u << grid.shift) - 1) >> grid.shift;
  grid.rows = (height + (1u << grid.shift) - 1) >> grid.shift;
  return grid;
}

/* The scene change that the sums of a frame show. */
CUDACCL_LIGHT_FUNCTION CclSceneChange
ccl_light_scene_change (const CclLightSums *sums)
{
  const uint64_t less =
      sums->frame_chroma < sums->model_chroma ? sums->frame_chroma : sums->model_chroma;
  const uint64_t greater =
      sums->frame_chroma < sums->model_chroma ? sums->model_chroma : sums->frame_chroma;
  /* The model has a picture, and the frame has hardly anything of it, or the other way round. */
  if (4 * sums->in_model >= sums->cells && 4 * sums->measured < sums->in_model)
    return sums->dark >= sums->bright ? CUDACCL_SCENE_COVERED : CUDACCL_SCENE_BLINDED;
  if (4 * sums->in_frame >= sums->cells && 4 * sums->measured < sums->in_frame)
    return CUDACCL_SCENE_UNCOVERED;
  if (100 * (uint64_t)sums->bad <= CUDACCL_LIGHT_BAD_PERCENT * (uint64_t)sums->measured)
    return CUDACCL_SCENE_UNCHANGED;
  return 4 * less < greater ? CUDACCL_SCENE_INFRARED : CUDACCL_SCENE_MOVED;
}

/* Whether the light has edges, as those of a cloud's shadow: it explains most of the frame, and
 * parts of the frame have another one. */
CUDACCL_LIGHT_FUNCTION bool
ccl_light_has_edges (const CclLightShares *shares)
{
  return 4 * shares->uniform >= CUDACCL_LIGHT_EDGES_UNIFORM_QUARTERS * shares->measured &&
         8 * shares->varied >= CUDACCL_LIGHT_EDGES_VARIED_EIGHTHS * shares->explained;
}

/* The two cells between which a pixel lies, in a row or a column of n cells, and the weight of the
 * second one, out of 1 << shift. */
CUDACCL_LIGHT_FUNCTION void
ccl_light_place (
    uint32_t pixel, uint32_t shift, uint32_t n, uint32_t *first, uint32_t *second, uint32_t *weight)
{
  const uint32_t half = 1u << shift >> 1, from_middle = pixel > half ? pixel - half : 0;
  *first = from_middle >> shift;
  *second = *first + 1 < n ? *first + 1 : *first;
  *weight = from_middle & ((1u << shift) - 1);
}

/* a and b with weights (1 << shift) − weight and weight. */
CUDACCL_LIGHT_FUNCTION uint32_t
ccl_light_between (uint32_t a, uint32_t b, uint32_t weight, uint32_t shift)
{
  return (uint32_t)(((uint64_t)a * ((1u << shift) - weight) + (uint64_t)b * weight) >> shift);
}

/* Whether the rows of the next frame have their own light: it explains most of the frame, and more
 * than smooth light does. before: whether those of this frame have. */
CUDACCL_LIGHT_FUNCTION bool
ccl_light_has_rows (const CclLightRowSums *sums, bool before)
{
  const int64_t gain = (int64_t)sums->near_rows - sums->near_smooth;
  const int64_t least = CUDACCL_LIGHT_ROWS_SIXTEENTHS * (int64_t)sums->compared;
  const int64_t eighths =
      before ? CUDACCL_LIGHT_ROWS_STAY_EIGHTHS : CUDACCL_LIGHT_ROWS_BEGIN_EIGHTHS;
  return 8 * (int64_t)sums->near_rows >= eighths * (int64_t)sums->compared &&
         16 * gain >= (before ? -least : least);
}

/* The mean of n ≥ 1 lights, from their sum. */
CUDACCL_LIGHT_FUNCTION int
ccl_light_mean (int sum, int n)
{
  return (sum + CUDACCL_LIGHT_LIMIT * n) / n - CUDACCL_LIGHT_LIMIT;
}

/* The lower median of the means of the rows of cells around one. */
CUDACCL_LIGHT_FUNCTION int
ccl_light_of_means (const int16_t *means, uint32_t n_rows, uint32_t row)
{
  const uint32_t first = row < CUDACCL_LIGHT_WINDOW ? 0 : row - CUDACCL_LIGHT_WINDOW;
  const uint32_t last =
      row + CUDACCL_LIGHT_WINDOW < n_rows ? row + CUDACCL_LIGHT_WINDOW : n_rows - 1;
  const uint32_t n = last - first + 1;
  for (uint32_t i = first; i <= last; i++) {
    uint32_t n_below = 0, n_up_to = 0;
    for (uint32_t k = first; k <= last; k++) {
      n_below += means[k] < means[i];
      n_up_to += means[k] <= means[i];
    }
    if (2 * n_below < n && 2 * n_up_to >= n)
      return means[i];
  }
  return 0; /* never */
}

/* The light that rows around row y of the frame have without their own: between the rows of cells.
 */
CUDACCL_LIGHT_FUNCTION int
ccl_light_smooth_row (const CclLightGrid *grid, const int16_t *means, uint32_t y)
{
  uint32_t above, below, weight;
  ccl_light_place (y, grid->shift, grid->rows, &above, &below, &weight);
  const int a = ccl_light_of_means (means, grid->rows, above);
  const int b = ccl_light_of_means (means, grid->rows, below);
  return (int)ccl_light_between ((uint32_t)(a + CUDACCL_LIGHT_LIMIT),
             (uint32_t)(b + CUDACCL_LIGHT_LIMIT), weight, grid->shift) -
         CUDACCL_LIGHT_LIMIT;
}

/* The light that is removed: all but one step. */
CUDACCL_LIGHT_FUNCTION int
ccl_light_removed (int light)
{
  return light > 0 ? light - 1 : light < 0 ? light + 1 : 0;
}

/* The product of two factors. */
CUDACCL_LIGHT_FUNCTION uint32_t
ccl_light_product (uint32_t a, uint32_t b)
{
  const uint32_t product = (a * b + CUDACCL_LIGHT_ONE / 2) >> 12;
  return product < 4 * CUDACCL_LIGHT_ONE ? product : 4u * CUDACCL_LIGHT_ONE;
}

/* most: the greatest luma of the format. */
CUDACCL_LIGHT_FUNCTION uint32_t
ccl_light_correct_luma (uint32_t luma, uint32_t factor, uint32_t most)
{
  const uint32_t corrected = (luma * factor + CUDACCL_LIGHT_ONE / 2) >> 12;
  return corrected < most ? corrected : most;
}

/* The factor of a pixel where the light has edges: that between the cells around it, or the least
 * or the greatest of theirs, if one brings the pixel nearer to the model's luma, and near to it. */
CUDACCL_LIGHT_FUNCTION uint32_t
ccl_light_choose (uint32_t luma, uint32_t model, uint32_t between, uint32_t least, uint32_t most)
{
  const uint32_t factors[] = {between, least, most};
  uint32_t chosen = between, nearest = CUDACCL_LIGHT_EDGE_TOLERANCE + 1;
  for (int i = 0; i < 3; i++) {
    const uint32_t corrected = ccl_light_correct_luma (luma, factors[i], UINT8_MAX);
    const uint32_t distance = corrected < model ? model - corrected : corrected - model;
    if (distance < nearest) {
      nearest = distance;
      chosen = factors[i];
    }
  }
  return chosen;
}

/* Whether a pixel is within the side of a cell from the border of a frame. Beyond the border is
 * light that no cell sees: a strip of it that is narrower than half a cell. So where the light has
 * edges, such a pixel may be in that of any cell of the frame. */
CUDACCL_LIGHT_FUNCTION bool
ccl_light_is_at_border (
    const CclLightGrid *grid, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  const uint32_t side = 1u << grid->shift;
  return x < side || y < side || x + side >= width || y + side >= height;
}

/* u or v. */
CUDACCL_LIGHT_FUNCTION uint32_t
ccl_light_correct_chroma (uint32_t chroma, uint32_t factor)
{
  const int32_t corrected =
      128 + ((((int32_t)chroma - 128) * (int32_t)factor + CUDACCL_LIGHT_ONE / 2) >> 12);
  return (uint32_t)(corrected < 0 ? 0 : corrected < 255 ? corrected : 255);
}

#ifndef __CUDACC__
/* Smooths the light: sets the factor of each cell. *has_edges: filled with whether the light has
 * edges, which only cells that are alike then smooth; NULL: edges are not looked for. Returns the
 * scene change that the cells show. */
CclSceneChange ccl_light_smooth (
    const CclLightGrid *grid, const CclLightCell *cells, bool *has_edges, uint16_t *factors);
#endif
