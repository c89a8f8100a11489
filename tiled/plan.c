/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks plans, and decides how many layers a tile has. */
#include "passes.h"
#include "core/base/divide-up.h"

#define DEFAULT_MEMORY ((uint64_t)1 << 30)

/* The most pixels of a tile on a GPU. */
#define MOST_DEVICE_PIXELS ((uint64_t)1 << 26)

CclStatus
tiled_check_peers (const CclTiledPeers *peers, CclError *error)
{
  if (!peers)
    return CUDACCL_OK;
  if (peers->n_ranks < 1 || peers->n_ranks > 1u << 20 || peers->rank >= peers->n_ranks)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "there is no rank %u of %u ranks",
        peers->rank, peers->n_ranks);
  if (peers->n_ranks > 1 && (!peers->send || !peers->receive))
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "several ranks need functions to send and to receive");
  return CUDACCL_OK;
}

/* Checks the columns of a plan. */
static CclStatus
check_columns (const CclTiledPlan *plan, const CclTiledIo *io, CclError *error)
{
  if (plan->columns & ~(uint32_t)CUDACCL_ALL_COLUMNS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the columns must be flags of CclColumn, 0…%d, not %u", CUDACCL_ALL_COLUMNS, plan->columns);
  if (plan->columns & CUDACCL_COLUMN_PERIMETER && !is_frame (plan))
    return ccl_error_set (
        error, CUDACCL_ERROR_UNSUPPORTED, "the perimeter is one of frames, not of volumes");
  if (!(plan->columns & CUDACCL_COLUMN_INTENSITY))
    return CUDACCL_OK;
  if (!io->read_values)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the column of intensities needs a function to read values");
  if (ccl_value_bytes (plan->intensity_format) == 0)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the values of the second plane must have 8 or 16 bits or be doubles");
  return CUDACCL_OK;
}

CclStatus
tiled_check_plan (
    const CclTiledPlan *plan, const CclTiledIo *io, const CclTiledPeers *peers, CclError *error)
{
  const unsigned long long width = plan->width, height = plan->height, depth = plan->depth;
  const uint64_t most = UINT32_MAX;

  if (plan->width < 1 || plan->height < 1 || plan->depth < 1 || plan->width > most ||
      plan->height > most || plan->depth > most)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a picture of %llu×%llu×%llu pixels has a side that is not 1…%u", width, height, depth,
        UINT32_MAX);
  if (!is_frame (plan) && plan->connectivity != 6 && plan->connectivity != 18 &&
      plan->connectivity != 26)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4 or 8 for frames and 6, 18 or 26 for volumes, not %u",
        plan->connectivity);
  if (is_frame (plan) && plan->depth != 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "%u-connectivity is for frames, and the picture has %llu slices", plan->connectivity,
        depth);
  if (plan->threshold > 255)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the threshold must be 0…255, not %u", plan->threshold);
  if (plan->label_bytes != 0 && plan->label_bytes != 4 && plan->label_bytes != 8)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "a label has 4 or 8 bytes, not %u", plan->label_bytes);
  if (plan->first_layer > all_layers (plan) ||
      plan->n_layers > all_layers (plan) - plan->first_layer)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the slab of %llu layers from layer %llu is not inside the picture",
        (unsigned long long)plan->n_layers, (unsigned long long)plan->first_layer);
  if ((!peers || peers->n_ranks == 1) && plan->n_layers != all_layers (plan))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "one process must label the whole picture, not %llu of %llu layers",
        (unsigned long long)plan->n_layers, (unsigned long long)all_layers (plan));
  if ((!is_frame (plan) && plan->width > CUDACCL_MAX_PIXELS / plan->height) ||
      plan->width > CUDACCL_MAX_PIXELS)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "a layer of %llu×%llu pixels is too large: at most %d pixels can be labelled at once",
        width, is_frame (plan) ? 1ull : height, CUDACCL_MAX_PIXELS);
  uint64_t longest = plan->width > plan->height ? plan->width : plan->height;
  longest = plan->depth > longest ? plan->depth : longest;
  if (layer_size (plan) * all_layers (plan) > INT64_MAX / longest)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "in a picture of %llu×%llu×%llu pixels, sums of coordinates could exceed 64 bits", width,
        height, depth);
  return check_columns (plan, io, error);
}

/* The layers of a tile, so that half of the memory suffices in the worst case. The other half is
 * for the components at seams. */
uint64_t
tiled_choose_layers (const CclTiledPlan *plan)
{
  const uint64_t memory = plan->memory ? plan->memory : DEFAULT_MEMORY;
  uint64_t most = memory / 2 / tile_bytes_per_pixel (plan), layers;

  if (plan->device && most > MOST_DEVICE_PIXELS)
    most = MOST_DEVICE_PIXELS;
  if (most > CUDACCL_MAX_PIXELS)
    most = CUDACCL_MAX_PIXELS;
  if (plan->tile_layers && plan->tile_layers <= CUDACCL_MAX_PIXELS / layer_size (plan))
    layers = plan->tile_layers;
  else
    layers = plan->tile_layers ? CUDACCL_MAX_PIXELS / layer_size (plan) : most / layer_size (plan);
  if (layers > plan->n_layers)
    layers = plan->n_layers;
  if (layers == 0)
    return 1;
  /* Tiles of the same size, as far as the memory decides it. */
  const uint64_t n_tiles = divide_up (plan->n_layers, layers);
  return plan->tile_layers ? layers : divide_up (plan->n_layers, n_tiles);
}
