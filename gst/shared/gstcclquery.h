/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What several elements do with queries. */
#pragma once

#include <gst/gst.h>

/* Removes GstVideoCropMeta from the answer to an allocation query. Elements that read or write
 * pixels do not read that metadata, so frames must arrive cropped. */
void gst_ccl_query_remove_crop_meta (GstQuery *query);

/* Asks the elements downstream whether one of them needs a sample of the foreground
 * (gstcclsample.h) from the labeller with that source pad. It is a custom query, which is not
 * serialised: it passes queues at once, and each branch of a tee is asked until one answers. */
gboolean gst_ccl_query_ask_for_sample (GstPad *source);

/* Whether a query is that question. labeller: set to the name of the labeller that asks;
 * is_nearest: whether no other labeller is between the two. */
gboolean gst_ccl_query_is_for_sample (
    GstQuery *query, const gchar **labeller, gboolean *is_nearest);

/* Notes in that question that it has passed a labeller. Leaves other queries alone. */
void gst_ccl_query_pass_labeller (GstQuery *query);
