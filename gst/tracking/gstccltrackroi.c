/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccltrackroi.h"

#include "shared/gstcclroi.h"

void
gst_ccl_track_roi_replace (GstBuffer *frame, const GstCclMeta *meta, gboolean *attached)
{
  g_autoptr (GstCclLabeller) labeller = gst_ccl_meta_get_labeller (meta);

  *attached |= gst_ccl_roi_remove (frame, gst_ccl_labeller_id_or_none (labeller));
  if (*attached)
    gst_ccl_roi_add_rows (frame, meta);
}
