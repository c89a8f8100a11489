/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the frames of a stream are labelled, for elements that have a choice: for cudaccl, a GPU in
 * one CUDA context. */
#pragma once

#include <glib.h>

typedef struct _GstCclSite GstCclSite;

/* The first field of the element's own structure. Reference counted. */
struct _GstCclSite {
  gint n_references; /* atomic */
  void (*free) (GstCclSite *site);
};

static inline GstCclSite *
gst_ccl_site_ref (GstCclSite *site)
{
  g_atomic_int_inc (&site->n_references);
  return site;
}

static inline void
gst_ccl_site_unref (GstCclSite *site)
{
  if (g_atomic_int_dec_and_test (&site->n_references))
    site->free (site);
}
