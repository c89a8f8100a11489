/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The contours in a line of ccljson. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <json-glib/json-glib.h>

/* Attaches the contours of a frame, if it has any. rows: the objects of the components, in the
 * order of the table. Returns FALSE with the error set if they are no contours. */
gboolean gst_ccl_json_contours_attach (
    GstCclMeta *meta, JsonObject *frame, JsonObject *const *rows, guint n_rows, GError **error);
