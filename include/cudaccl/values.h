/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labelling of pictures with many values, such as segmentations and class maps: neighbours are
 * connected where their values are equal.
 *
 * Labels are 1…N in raster order of each component's first pixel, as those of masks: a picture of 0
 * and 1, labelled with zero_is_background, has the labels of its mask.
 *
 *   CclValuesPlan plan = CUDACCL_VALUES_PLAN_DEFAULT;
 *   CclError error;
 *   uint32_t n_components;
 *   plan.width = 512;
 *   plan.height = 512;
 *   plan.type = CUDACCL_VALUE_TYPE_16;
 *   CclValuesLabeller *labeller = ccl_cpu_values_labeller_new (&plan, &error);
 *   if (labeller && ccl_values_labeller_run (labeller, &picture, &labels, &n_components, &error) ==
 *       CUDACCL_OK)
 *     printf ("%u components\n", n_components);
 *   ccl_values_labeller_free (&labeller);
 *
 * The rules at the top of labeller.h hold. Since: 0.3
 */
#ifndef CUDACCL_VALUES_H
#define CUDACCL_VALUES_H

#include <cudaccl/volume.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a picture stores its values. Signed integers have the types of unsigned ones: only equality
 * matters. Reals are IEEE numbers and equal as in C: 0 and -0 are equal, and a NaN
 * equals nothing, so that such a pixel is a component of its own, unless CclValuesPlan.nan says
 * that it is background. Since: 0.3 */
typedef enum CclValueType {
  CUDACCL_VALUE_TYPE_8 = 0,       /* integers of one byte */
  CUDACCL_VALUE_TYPE_16 = 1,      /* of two bytes */
  CUDACCL_VALUE_TYPE_32 = 2,      /* of four bytes */
  CUDACCL_VALUE_TYPE_64 = 3,      /* of eight bytes */
  CUDACCL_VALUE_TYPE_REAL_32 = 4, /* float */
  CUDACCL_VALUE_TYPE_REAL_64 = 5, /* double */
} CclValueType;

/* What a pixel is whose value is not a number. Since: 0.4 */
typedef enum CclNanRule {
  CUDACCL_NAN_STANDS_ALONE = 0,  /* a component of its own */
  CUDACCL_NAN_IS_BACKGROUND = 1, /* it gets label 0, also without zero_is_background */
} CclNanRule;

/* The properties of a labeller of values that are fixed when it is made. Since: 0.3 */
typedef struct CclValuesPlan {
  size_t size;           /* of this struct in bytes, or 0 (labeller.h) */
  uint32_t width;        /* pixels, ≥ 1 */
  uint32_t height;       /* pixels, ≥ 1 */
  uint32_t depth;        /* slices, ≥ 1; width × height × depth ≤ CUDACCL_MAX_PIXELS */
  uint32_t connectivity; /* 4 or 8 (with a depth of 1), 6, 18 or 26 */
  CclValueType type;
  bool zero_is_background; /* pixels of value 0 get label 0; else they are components, too */
  CclNanRule nan;          /* of reals; `size` must be set, too. Since: 0.4 */
} CclValuesPlan;

/* The defaults of CclValuesPlan; width, height, connectivity and type must be set. Since: 0.3 */
#define CUDACCL_VALUES_PLAN_DEFAULT                                                                \
  {                                                                                                \
    .size = sizeof (CclValuesPlan), .depth = 1, .zero_is_background = true                         \
  }

/* A picture of the planned size and type, whose address and strides are multiples of the bytes of a
 * value. Only the values of each row are read. It belongs to the caller and is never written.
 * Since: 0.3 */
typedef struct CclValues {
  const void *data;
  size_t row_stride;    /* bytes from a row to the next, ≥ those of its values */
  size_t slice_stride;  /* bytes from a slice to the next, so that slices do not overlap; not read
                         * with a depth of 1 */
  CclLocation location; /* 0 is host memory; of labellers on a GPU it must be
                         * CUDACCL_LOCATION_DEVICE */
} CclValues;

/* An opaque labeller of values. Since: 0.3 */
typedef struct CclValuesLabeller CclValuesLabeller;

/* Makes a labeller that uses the CPU, one thread. Free it with ccl_values_labeller_free().
 *
 * Address space is reserved for the worst picture, some 4.4 bytes per pixel; memory is used only as
 * far as pictures need it.
 *
 * Returns the labeller, or NULL with the error filled: CUDACCL_ERROR_ARGUMENT,
 * CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.3 */
CUDACCL_API
CclValuesLabeller *ccl_cpu_values_labeller_new (const CclValuesPlan *plan, CclError *error);

/* Labels one picture and waits for the result. Allocates nothing.
 *
 * labels: the memory for the label map, where the picture is; slice_stride is not read with a depth
 *   of 1. NULL: only the components are counted.
 * n_components: filled on success.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (nothing was read or written) or, on a GPU,
 * CUDACCL_ERROR_DEVICE. Since: 0.3 */
CUDACCL_API
CclStatus ccl_values_labeller_run (CclValuesLabeller *labeller, const CclValues *values,
    const CclVolumeLabels *labels, uint32_t *n_components, CclError *error);

/* Frees a labeller with all its memory, and sets the handle to NULL. Since: 0.3 */
CUDACCL_API
void ccl_values_labeller_free (CclValuesLabeller **labeller);

/* Labels a picture in host memory whose neighbours are connected where their values differ by at
 * most a tolerance, from neighbour to neighbour: within a component values may differ by more.
 *
 * plan: zero_is_background and nan are not read. is_signed: whether integers have a sign.
 * tolerance: 0 or more, of integers rounded down; a NaN differs from all. foreground: [width ×
 * height × depth] bytes, 0 for pixels of the background, which get label 0; NULL: there are none.
 * labels: as of ccl_values_labeller_run(), 1…N in raster order of first pixels. n_components: set
 * to N.
 *
 * It allocates four bytes per pixel. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT,
 * CUDACCL_ERROR_NO_MEMORY or CUDACCL_ERROR_INTERRUPTED. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_label_similar_values (const CclValuesPlan *plan, const CclValues *values,
    bool is_signed, double tolerance, const uint8_t *foreground, const CclVolumeLabels *labels,
    uint32_t *n_components, CclError *error);

/* Counts the parts of each label of a label map: the sets of its pixels that are connected. A label
 * in a frame has as many holes as it has more parts than its Euler number says (columns.h).
 *
 * labels: in host memory, of width × height × depth; the slice stride is not read with a depth
 * of 1. connectivity: 4 or 8 with a depth of 1; 6, 18 or 26. n_parts: [n], filled: of the labels
 * 1…n, 0 for those without pixels.
 *
 * It allocates some 8.4 bytes per pixel. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT,
 * CUDACCL_ERROR_NO_MEMORY or CUDACCL_ERROR_INTERRUPTED. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_count_parts (const CclVolumeLabels *labels, uint32_t width, uint32_t height,
    uint32_t depth, uint32_t connectivity, uint32_t n, uint32_t *n_parts, CclError *error);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_VALUES_H */
