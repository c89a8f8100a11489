/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches: many masks of one size in one call, such as those of a segmentation network. They are
 * labelled with a table for each, their holes are filled, and their small components removed.
 *
 *   CclBatchPlan plan = CUDACCL_BATCH_PLAN_DEFAULT;
 *   CclError error;
 *   plan.n_masks = 64;
 *   plan.width = 256;
 *   plan.height = 256;
 *   CclBatch *batch = ccl_cpu_batch_new (&plan, &error);
 *   const CclMasks masks = {pixels, 256, 256 * 256, CUDACCL_LOCATION_HOST};
 *   if (batch && ccl_batch_fill_holes (batch, &masks, 100, 1, &error) == CUDACCL_OK &&
 *       ccl_batch_label (batch, &masks, NULL, NULL, &table, &error) == CUDACCL_OK)
 *     printf ("%u components in mask 3\n", (unsigned)(table.offsets[4] - table.offsets[3]));
 *   ccl_batch_free (&batch);
 *
 * The rules at the top of labeller.h hold. Since: 0.3
 */
#ifndef CUDACCL_BATCH_H
#define CUDACCL_BATCH_H

#include <cudaccl/volume.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The properties of a batch that are fixed when it is made. Since: 0.3 */
typedef struct CclBatchPlan {
  size_t size;      /* of this struct in bytes, or 0 (labeller.h) */
  uint32_t n_masks; /* ≥ 1 */
  uint32_t width;   /* of a mask, pixels, ≥ 1 */
  uint32_t height; /* of a mask, pixels, ≥ 1; width × height × n_masks ≤ CUDACCL_MAX_PIXELS */
  CclConnectivity connectivity; /* of the foreground; holes have the other one */
} CclBatchPlan;

/* The defaults of CclBatchPlan; n_masks, width and height must be set. Since: 0.3 */
#define CUDACCL_BATCH_PLAN_DEFAULT                                                                 \
  {                                                                                                \
    .size = sizeof (CclBatchPlan), .connectivity = CUDACCL_CONNECTIVITY_8                          \
  }

/* The masks of a batch, one byte per pixel, foreground where it is not 0. They belong to the
 * caller; only functions that say so write them. Since: 0.3 */
typedef struct CclMasks {
  void *data;
  size_t row_stride;    /* bytes from a row to the next, ≥ width */
  size_t mask_stride;   /* bytes from a mask to the next, ≥ row_stride × (height - 1) + width */
  CclLocation location; /* 0 is host memory; of batches on a GPU it must be
                         * CUDACCL_LOCATION_DEVICE */
} CclMasks;

/* The component tables of a batch, in host memory of the batch, valid until its next call or until
 * it is freed. The rows of mask i are rows[offsets[i]]…rows[offsets[i + 1] - 1], with the labels
 * 1…n of that mask. Since: 0.3 */
typedef struct CclBatchTable {
  uint32_t n_masks;
  const uint64_t *offsets; /* n_masks + 1 */
  const CclComponent *rows;
} CclBatchTable;

/* An opaque batch. Since: 0.3 */
typedef struct CclBatch CclBatch;

/* Makes a batch that uses the CPU, one thread. Free it with ccl_batch_free().
 *
 * Address space is reserved for the worst masks; memory is used only as far as masks need it.
 *
 * Returns the batch, or NULL with the error filled: CUDACCL_ERROR_ARGUMENT,
 * CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.3 */
CUDACCL_API
CclBatch *ccl_cpu_batch_new (const CclBatchPlan *plan, CclError *error);

/* Labels all masks, each with labels of its own from 1 on. Allocates nothing, except that a batch
 * on a GPU makes more room for rows when masks have more components than any before.
 *
 * labels: the memory for the label maps, slice_stride apart, where the masks are; NULL for none.
 * areas: the memory for maps of the area of each pixel's component, 0 for background, slice_stride
 *   apart; NULL for none. With it, labels must not be NULL.
 * table: filled on success.
 *
 * Returns CUDACCL_OK or CUDACCL_ERROR_ARGUMENT (nothing was read or written). Since: 0.3 */
CUDACCL_API
CclStatus ccl_batch_label (CclBatch *batch, const CclMasks *masks, const CclVolumeLabels *labels,
    const CclVolumeLabels *areas, CclBatchTable *table, CclError *error);

/* Fills the holes of each mask: components of its background that do not touch its border. Writes
 * the masks. Allocates nothing.
 *
 * max_area: holes of more pixels stay; 0: all are filled.
 * value: of the pixels that become foreground, 1…255.
 *
 * Returns CUDACCL_OK or CUDACCL_ERROR_ARGUMENT (nothing was read or written). Since: 0.3 */
CUDACCL_API
CclStatus ccl_batch_fill_holes (
    CclBatch *batch, const CclMasks *masks, uint32_t max_area, uint8_t value, CclError *error);

/* Removes the components of each mask that have fewer than min_area pixels: writes 0 to them.
 * Allocates nothing.
 *
 * Returns CUDACCL_OK or CUDACCL_ERROR_ARGUMENT (nothing was read or written). Since: 0.3 */
CUDACCL_API
CclStatus ccl_batch_remove_small (
    CclBatch *batch, const CclMasks *masks, uint32_t min_area, CclError *error);

/* Frees a batch with all its memory, and sets the handle to NULL. Since: 0.3 */
CUDACCL_API
void ccl_batch_free (CclBatch **batch);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_BATCH_H */
