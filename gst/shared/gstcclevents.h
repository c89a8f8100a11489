/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of the custom events that ccltrack sends downstream. */
#pragma once

/* An event of a track, in front of its frame; also the name of the element message with the same
 * content, which the documentation of ccltrack lists. */
#define GST_CCL_TRACK_EVENT "ccl-track"

/* A sticky event with the regions, lines and counts. Its field `regions` is that of
 * gst_ccl_region_list_describe(). */
#define GST_CCL_REGIONS_EVENT "ccl-regions"
