/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many pixels of each component have a value, and the quantiles that follow. Memory grows with
 * the different values of each component, not with the picture. */
#pragma once

#include <cudaccl/labeller.h>

typedef struct ValueCounts ValueCounts;

/* In place of a quantile: the median, the mean of the two middle values. */
#define VALUE_COUNTS_MEDIAN (-1.0)

/* Functions that return a pointer or bool fill the error. */
ValueCounts *value_counts_new (CclError *error);

/* Adds n pixels. labels: uint32_t or uint64_t, 0 is left out. values: of the format. */
bool value_counts_add (ValueCounts *self, const void *labels, uint32_t label_bytes,
    const void *values, CclPixelFormat format, size_t n, CclError *error);

/* Writes the quantiles of the labels 1…n_labels, those of numpy.quantile() with linear
 * interpolation; not a number for a label without values, or with one that is not a number unless
 * these are ignored. found: of label i + 1 and share k at found[i * stride + k]. */
void value_counts_find (ValueCounts *self, const double *shares, uint32_t n_shares,
    bool ignores_nan, uint64_t n_labels, size_t stride, double *found);

void value_counts_free (ValueCounts *self); /* NULL is allowed */
