/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time of day of a frame. */
#ifndef __GST_CCL_UTC_H__
#define __GST_CCL_UTC_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/gst.h>

G_BEGIN_DECLS

GST_CCL_API
gint64 gst_ccl_utc_of_buffer (GstBuffer *buffer, gboolean *from_sender);

GST_CCL_API
void gst_ccl_utc_mark_arrival (GstBuffer *buffer);

GST_CCL_API
void gst_ccl_utc_mark (GstBuffer *buffer, gint64 utc, gboolean from_sender);

GST_CCL_API
GstClockTime gst_ccl_utc_get_arrival (GstBuffer *buffer);

GST_CCL_API
gchar *gst_ccl_utc_format (gint64 utc);

G_END_DECLS

#endif /* __GST_CCL_UTC_H__ */
