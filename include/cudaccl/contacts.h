/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which labels of a label map touch each other, and along how many sides of pixels. The map is read
 * layer by layer, as CclTiledIo.write gets it, so it may be larger than memory: a layer and the
 * pairs are kept.
 *
 * Since: 0.4
 */
#ifndef CUDACCL_CONTACTS_H
#define CUDACCL_CONTACTS_H

#include <cudaccl/labeller.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Two labels that touch. Since: 0.4 */
typedef struct CclContact {
  uint64_t label;     /* the lesser one */
  uint64_t neighbour; /* the greater one */
  uint64_t n_sides; /* edges, in volumes faces, that their pixels share; 0 if they touch at corners
                     * only, or at edges of voxels */
} CclContact;

/* An opaque set of pairs. Since: 0.4 */
typedef struct CclContacts CclContacts;

/* Prepares for a label map. A layer is a row of an image, a slice of a volume.
 *
 * width, height: of a layer, 1…UINT32_MAX; the height is 1 with a connectivity of 4 or 8.
 * connectivity: of pixels that touch: 4, or of volumes 6, for those that share a side; 8, 18 or 26.
 * label_bytes: 4 or 8: labels are uint32_t or uint64_t.
 *
 * Free it with ccl_contacts_free(). Functions for one object are not to be called at the same time.
 * Returns NULL with the error filled: CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_NO_MEMORY. Thread safe.
 * Since: 0.4 */
CUDACCL_API
CclContacts *ccl_contacts_new (
    uint64_t width, uint64_t height, uint32_t connectivity, uint32_t label_bytes, CclError *error);

/* Reads the next n_layers layers of labels, without padding. 0 is background, which touches
 * nothing. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_NO_MEMORY or
 * CUDACCL_ERROR_INTERRUPTED. Since: 0.4 */
CUDACCL_API
CclStatus ccl_contacts_add (
    CclContacts *contacts, const void *labels, uint64_t n_layers, CclError *error);

/* The pairs so far, in order of labels, then of neighbours. rows: filled; belongs to the object,
 * until it is changed or freed. n: their number. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT or
 * CUDACCL_ERROR_NO_MEMORY. Since: 0.4 */
CUDACCL_API
CclStatus ccl_contacts_rows (
    CclContacts *contacts, const CclContact **rows, size_t *n, CclError *error);

/* Frees the pairs, and sets the handle to NULL. Since: 0.4 */
CUDACCL_API
void ccl_contacts_free (CclContacts **contacts);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_CONTACTS_H */
