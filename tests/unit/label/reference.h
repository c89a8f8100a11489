/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reference for all labellers: a flood fill from each unvisited pixel in raster order, one
 * pixel at a time. It is simple rather than fast, and shares only the types of labeller.h with the
 * labellers.
 */
#pragma once

#include <cudaccl/labeller.h>

/* The whole result of a frame. */
typedef struct Reference {
  uint32_t n_components;
  CclComponent *rows; /* n_components of them, in label order */
  uint32_t *labels;   /* width × height, without padding */
} Reference;

/* Labels a frame of width × height bytes whose rows are stride bytes apart.
 * Free with reference_free(). */
Reference *reference_new (const uint8_t *data, uint32_t width, uint32_t height, size_t stride,
    CclConnectivity connectivity, const CclLabellerOptions *options);

void reference_free (Reference *reference);
