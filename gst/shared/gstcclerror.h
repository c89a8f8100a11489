/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors of libcudaccl and of the elements: how to fill a CclError, and how to post one. */
#pragma once

#include <gst/gst.h>

#include <cudaccl/labeller.h>

/* Fills an error. The format is translated. */
void gst_ccl_error_set (CclError *error, CclStatus status, const gchar *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Posts an element error in the domain that fits the status. The object lock must not be held. */
void gst_ccl_error_post (GstElement *element, const CclError *error);

/* Warns, unless `warned` is set, that frames arrive without a GstCclMeta of the labeller that the
 * element's property of this name names. The object lock must not be held. */
void gst_ccl_error_warn_of_missing_meta (GstElement *element, gboolean *warned);
