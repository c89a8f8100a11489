/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks of components in other forms: COCO's run-length encoding, one bit per pixel, crops. All
 * memory is the caller's, in host memory. The rules of labeller.h hold.
 *
 * COCO's encoding of a mask is a list of counts: how many pixels are background, then how many
 * foreground, and so on in turn, column by column from the left, each from the top. Its compressed
 * form is a string of printable characters. pycocotools reads both.
 *
 *   uint32_t *counts = malloc (ccl_rle_most_counts (&row) * sizeof *counts);
 *   uint64_t n = ccl_rle_encode (&labels, 1920, 1080, &row, counts);
 *   char *text = malloc (ccl_rle_most_characters (n));
 *   ccl_rle_compress (counts, n, text);
 *
 * Since: 0.3
 */
#ifndef CUDACCL_RLE_H
#define CUDACCL_RLE_H

#include <cudaccl/labeller.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most counts that the encoding of a component can have. Thread safe. Since: 0.3 */
CUDACCL_API
uint64_t ccl_rle_most_counts (const CclComponent *row);

/* Encodes the mask of one component.
 *
 * labels: width × height pixels, at most CUDACCL_MAX_PIXELS, of which those in the component's
 * bounding box are read. row: of the component; label and box are used. counts: room for
 * ccl_rle_most_counts().
 *
 * Returns the number of counts. Their sum is width × height. Thread safe. Since: 0.3 */
CUDACCL_API
uint64_t ccl_rle_encode (const CclLabels *labels, uint32_t width, uint32_t height,
    const CclComponent *row, uint32_t *counts);

/* Writes a mask from its counts: 1 for foreground, 0 for background.
 *
 * mask: height rows of width bytes, stride bytes from row to row.
 *
 * Returns CUDACCL_OK, or CUDACCL_ERROR_ARGUMENT if the counts do not add up to width × height;
 * the mask is then undefined. Thread safe. Since: 0.3 */
CUDACCL_API
CclStatus ccl_rle_decode (const uint32_t *counts, uint64_t n, uint32_t width, uint32_t height,
    uint8_t *mask, size_t stride, CclError *error);

/* The most characters of the compressed form of n counts, with the final NUL. Since: 0.3 */
CUDACCL_API
uint64_t ccl_rle_most_characters (uint64_t n);

/* Compresses counts to a string, which ends with NUL.
 *
 * text: room for ccl_rle_most_characters().
 *
 * Returns the number of characters without the NUL. Thread safe. Since: 0.3 */
CUDACCL_API
uint64_t ccl_rle_compress (const uint32_t *counts, uint64_t n, char *text);

/* Reads counts from their compressed form.
 *
 * text: length characters. counts: room for `length` counts, the most that a text can have.
 * n: set to the number of counts.
 *
 * Returns CUDACCL_OK, or CUDACCL_ERROR_ARGUMENT if the text is no list of counts of 32 bits.
 * Thread safe. Since: 0.3 */
CUDACCL_API
CclStatus ccl_rle_decompress (
    const char *text, uint64_t length, uint32_t *counts, uint64_t *n, CclError *error);

/* A run of pixels of one label, in the order of COCO's counts: down the columns, which follow each
 * other. It goes on to the next run, the last one to the end of the map. Since: 0.4 */
typedef struct CclLabelRun {
  uint32_t first; /* pixel: x × height + y */
  uint32_t label; /* 0 for background */
} CclLabelRun;

/* The masks of all labels of a map as counts. Since: 0.4 */
typedef struct CclRleMasks {
  uint32_t n_masks;
  uint32_t *labels;      /* [n_masks] ascending */
  uint64_t *first_count; /* [n_masks + 1] the counts of mask i are those from first_count[i] to
                          * before first_count[i + 1] */
  uint32_t *counts;
} CclRleMasks;

/* Makes the counts of all labels of a map from its runs, such as ccl_cuda_map_runs_find() finds.
 *
 * runs: n, whose first pixels ascend; pixels before the first one are background. n_pixels: of the
 * map, at most CUDACCL_MAX_PIXELS. masks: filled; free it with ccl_rle_masks_free(). The counts of
 * a mask are those of ccl_rle_encode().
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (first pixels do not ascend or are not in the map),
 * CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_rle_group_runs (
    const CclLabelRun *runs, uint64_t n, uint64_t n_pixels, CclRleMasks *masks, CclError *error);

/* Frees what ccl_rle_group_runs() has filled, and clears it. Since: 0.4 */
CUDACCL_API
void ccl_rle_masks_free (CclRleMasks *masks);

/* Packs a mask to one bit per pixel: bit i of byte j is pixel 8 j + i of a row, as
 * numpy.packbits (…, axis=1, bitorder='little') has it. The last bits of a row are 0.
 *
 * mask: height rows of width bytes, of which those greater than 0 are foreground. bits: height rows
 * of ⌈width / 8⌉ bytes. stride, bits_stride: bytes from row to row. Thread safe. Since: 0.3 */
CUDACCL_API
void ccl_mask_pack (const uint8_t *mask, size_t stride, uint32_t width, uint32_t height,
    uint8_t *bits, size_t bits_stride);

/* The inverse of ccl_mask_pack(): 1 for foreground, 0 for background. Thread safe. Since: 0.3 */
CUDACCL_API
void ccl_mask_unpack (const uint8_t *bits, size_t bits_stride, uint32_t width, uint32_t height,
    uint8_t *mask, size_t stride);

/* Cuts one component out of a label map: the mask of its bounding box.
 *
 * mask: row->height rows of row->width bytes, stride bytes from row to row: 1 for pixels of the
 * component, 0 for others. Thread safe. Since: 0.3 */
CUDACCL_API
void ccl_mask_crop (const CclLabels *labels, const CclComponent *row, uint8_t *mask, size_t stride);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_RLE_H */
