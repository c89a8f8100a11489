/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of ccl_tiled_run(), for programs that divide a picture and the work on it by
 * themselves: into chunks in a grid, for example, each of which any process of a cluster labels.
 *
 * Each chunk is labelled with 1…n. A seam is where two chunks touch: sides, in a grid also edges
 * and corners. A forest is what seams connect: forests of some seams are pairs of numbers, which
 * are sent as bytes and added to another forest. The sums of a label are bytes, too, and are added
 * in the same way. In a forest that has the seams of all chunks, roots are the components.
 *
 *   ccl_forest_add_seam (forest, &seam, 0, 1, &error);
 *   n = ccl_forest_pairs (forest, pairs);
 *
 * The results are those of ccl_tiled_run(), bit for bit, but for sums of doubles. Bytes are for
 * machines of one byte order and the same version of the library.
 *
 * Since: 0.4
 */
#ifndef CUDACCL_CHUNKS_H
#define CUDACCL_CHUNKS_H

#include <cudaccl/columns.h>
#include <cudaccl/tiled.h>
#include <cudaccl/values.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The pixels of two chunks that touch at a seam: rows, or layers of rows. Both belong to the
 * caller. Since: 0.4 */
typedef struct CclSeam {
  uint32_t width;        /* pixels of a row, ≥ 1 */
  uint32_t height;       /* rows, ≥ 1; 1 with a connectivity of 4 or 8 */
  uint32_t connectivity; /* of rows: 4, or 8, where pixels also touch those beside the opposite one;
                          * of layers: 6, 18 or 26. An edge of chunks of a volume is a row: of
                          * 4 where the volume has 18 neighbours, of 8 where it has 26; a corner
                          * has a width of 1. */
  const uint32_t *upper; /* [height × width]: labels of a chunk, 0: background */
  const uint32_t *lower; /* those of the other one */
  const void *upper_values; /* [height × width], at addresses that are multiples of a value's bytes:
                             * pixels are connected where these are equal, as in values.h, or
                             * differ by at most the tolerance; NULL: all neighbours are */
  const void *lower_values;
  CclValueType value_type;
  bool is_signed;   /* whether integers have a sign */
  double tolerance; /* 0 or more, as of ccl_label_similar_values() */
} CclSeam;

/* Two labels that are connected, each with the number of its chunk: chunk << 32 | label.
 * Since: 0.4 */
typedef struct CclLabelPair {
  uint64_t label;
  uint64_t root; /* the least one that it is connected to */
} CclLabelPair;

/* An opaque forest: labels of chunks that are connected. Since: 0.4 */
typedef struct CclForest CclForest;

/* Makes a forest without pairs. Free it with ccl_forest_free(). Functions for one forest are not
 * to be called at the same time. Returns NULL with the error filled: CUDACCL_ERROR_NO_MEMORY.
 * Thread safe. Since: 0.4 */
CUDACCL_API
CclForest *ccl_forest_new (CclError *error);

/* Connects the labels that touch at a seam. upper_chunk, lower_chunk: the numbers of the chunks.
 * Returns CUDACCL_OK; CUDACCL_ERROR_ARGUMENT (nothing was read); CUDACCL_ERROR_NO_MEMORY.
 * Since: 0.4 */
CUDACCL_API
CclStatus ccl_forest_add_seam (CclForest *forest, const CclSeam *seam, uint32_t upper_chunk,
    uint32_t lower_chunk, CclError *error);

/* Connects labels: [n] pairs, those of another forest for example. Returns CUDACCL_OK,
 * CUDACCL_ERROR_ARGUMENT or CUDACCL_ERROR_NO_MEMORY. Since: 0.4 */
CUDACCL_API
CclStatus ccl_forest_add_pairs (
    CclForest *forest, const CclLabelPair *pairs, size_t n, CclError *error);

/* The pairs of a forest, in order of labels: each label with its root, the least label that it is
 * connected to. Labels that are roots have no pair. pairs: filled; belongs to the forest, until
 * that is changed or freed. n: their number.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT or CUDACCL_ERROR_NO_MEMORY. Since: 0.4 */
CUDACCL_API
CclStatus ccl_forest_pairs (
    CclForest *forest, const CclLabelPair **pairs, size_t *n, CclError *error);

/* The roots of the labels of all chunks, which are counted through from 0: those of chunk 0, then
 * those of chunk 1.
 *
 * n_labels: [n_chunks]. roots: [Σ n_labels], filled: of each label the least one that it is
 * connected to, itself if there is no other.
 *
 * Returns CUDACCL_OK; CUDACCL_ERROR_ARGUMENT, also if the forest has a label that no chunk has;
 * CUDACCL_ERROR_NO_MEMORY. Since: 0.4 */
CUDACCL_API
CclStatus ccl_forest_roots (
    CclForest *forest, const uint64_t *n_labels, size_t n_chunks, uint64_t *roots, CclError *error);

/* Frees a forest, and sets the handle to NULL. Since: 0.4 */
CUDACCL_API
void ccl_forest_free (CclForest **forest);

/* What sums are those of. Since: 0.4 */
typedef struct CclSumsPlan {
  size_t size;      /* of this struct in bytes, or 0 (labeller.h) */
  uint64_t width;   /* of the picture, pixels, 1…UINT32_MAX */
  uint64_t height;  /* 1…UINT32_MAX */
  uint64_t depth;   /* slices of a volume, 1…UINT32_MAX; 0: a frame */
  uint32_t columns; /* flags of CclColumn; 0: rows alone. PERIMETER and TOPOLOGY depend on
                     * neighbours: chunks then have the next fields */
  CclPixelFormat intensity_format; /* as in CclTiledPlan */

  /* The first and the last layers of a chunk, rows of a frame or slices of a volume, the first and
   * the last pixels of its rows, and in a volume the first and the last rows of its slices: other
   * chunks have them, too, and they are not measured. Needed are, as far as the picture has them,
   * two of each with PERIMETER, and one of each with TOPOLOGY, but no layer after. */
  uint32_t layers_before, layers_after;
  uint32_t pixels_before, pixels_after;
  uint32_t rows_before, rows_after; /* 0 in a frame */
} CclSumsPlan;

/* The bytes of the sums of a label, which may have any address. Since: 0.4 */
CUDACCL_API
size_t ccl_sums_bytes (void);

/* The sums of the labels 1…n of a chunk.
 *
 * labels: width × height × depth pixels in host memory, at most CUDACCL_MAX_PIXELS, layers before
 * and after included; depth: 1 in frames. x, y, z: the place of the chunk's first pixel in the
 * picture. intensity: needed with CUDACCL_COLUMN_INTENSITY, of the plan's format; those of pixels
 * that are not measured are not read. sums: [n × ccl_sums_bytes()], filled. A label without pixels
 * has the sums that ccl_sums_clear() makes.
 *
 * Returns CUDACCL_OK; CUDACCL_ERROR_ARGUMENT; CUDACCL_ERROR_UNSUPPORTED (sums of coordinates of the
 * picture could exceed 64 bits); CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_sums_measure (const CclSumsPlan *plan, const CclVolumeLabels *labels, uint32_t width,
    uint32_t height, uint32_t depth, uint64_t x, uint64_t y, uint64_t z,
    const CclVolumeIntensity *intensity, uint32_t n, void *sums, CclError *error);

/* Makes the sums of n labels without pixels. Thread safe. Since: 0.4 */
CUDACCL_API
void ccl_sums_clear (void *sums, size_t n);

/* Adds sums of one plan: others[i] to sums[owners[i]]. n: of others. Thread safe. Since: 0.4 */
CUDACCL_API
void ccl_sums_add (
    const CclSumsPlan *plan, void *sums, const void *others, const uint64_t *owners, size_t n);

/* Computes components from sums. rows, shapes: [n], filled as CclTiledIo.measured gets them;
 * rows[i] is that of label i + 1, all zeros if the label has no pixels. shapes: NULL without
 * columns. Thread safe. Since: 0.4 */
CUDACCL_API
void ccl_sums_derive (const CclSumsPlan *plan, const void *sums, size_t n, CclTiledComponent *rows,
    CclVolumeShape *shapes);

/* A patch of a label map: pixels of one label, or of the background, that are connected.
 * Coordinates are those of the picture. Since: 0.4 */
typedef struct CclPatch {
  uint64_t label;                 /* 0: background */
  uint64_t area;                  /* pixels */
  uint64_t least[3], greatest[3]; /* x, y, z of its bounding box, the last pixels included */
  uint64_t at_border; /* 1 if it touches the border of the picture, of a volume also the first or
                       * the last slice; else 0 */
} CclPatch;

/* Two patches that touch, in any order, by their indices. Since: 0.4 */
typedef struct CclPatchPair {
  uint64_t patch, neighbour;
} CclPatchPair;

/* Fills the holes of each label, as ccl_fill_label_holes() does in a map, where the map is known as
 * patches and the pairs of them that touch.
 *
 * patches: [n], n < 2³² − 1. Their pixels are connected, and patches touch, as holes are: with a
 * connectivity of 8 where labels have 4, 4 with 8, 26 with 6, and 6 with 18 and 26. A component of
 * a mask may be one patch, whatever its connectivity. A label may have several patches. pairs:
 * [n_pairs]. Of components of a mask and of its background, the pairs of each patch and the one of
 * the pixel before its first pixel are enough. max_area: as of ccl_fill_label_holes(); 0: all holes
 * are filled. labels: [n], filled: the label of the patch, and of background in holes the one that
 * fills it.
 *
 * It takes some 40 bytes for each patch and 8 for each pair. Returns CUDACCL_OK,
 * CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_UNSUPPORTED (too many patches), CUDACCL_ERROR_NO_MEMORY or
 * CUDACCL_ERROR_INTERRUPTED. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_fill_patches (const CclPatch *patches, size_t n, const CclPatchPair *pairs,
    size_t n_pairs, uint64_t max_area, uint64_t *labels, CclError *error);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_CHUNKS_H */
