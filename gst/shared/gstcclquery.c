/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclquery.h"

#include <gst/video/video.h>

void
gst_ccl_query_remove_crop_meta (GstQuery *query)
{
  guint i;

  if (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, &i))
    gst_query_remove_nth_allocation_meta (query, i);
}
