/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checks of columns that all labellers share: every field of CclFeatures against a reference
 * that looks at one pixel at a time, bit for bit.
 */
#pragma once

#include "tests/unit/label/labeller-checks.h"

/* Adds test cases /NAME/columns/ALGORITHM/… of a backend. Its run function also gets frames with a
 * second plane in host memory. */
void feature_checks_register (const LabellerBackend *backend);

/* The reference: the features of the labels 1…n of a map without padding. */
void reference_features (const uint32_t *labels, uint32_t width, uint32_t height,
    const CclIntensity *intensity, uint32_t n, CclFeatures *features);

/* Fails unless the fields of the columns are equal. */
void assert_same_features (
    const CclFeatures *features, const CclFeatures *expected, uint32_t n, uint32_t columns);
