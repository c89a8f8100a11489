/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the samples of a component begin in a frame. */
#pragma once

#include <gst/video/video.h>

/* GStreamer 1.22 says that V of P010_10LE begins one byte behind U. videoconvert writes it two
 * bytes behind: samples of 16 bits follow each other. */
static inline guint8 *
component_data (const GstVideoFrame *frame, guint component)
{
  const guint size = GST_VIDEO_FRAME_COMP_DEPTH (frame, component) > 8 ? 2 : 1;
  const guint offset = (guint)GST_VIDEO_FRAME_COMP_POFFSET (frame, component);

  return (guint8 *)GST_VIDEO_FRAME_COMP_DATA (frame, component) - offset +
         GST_ROUND_UP_N (offset, size);
}
