/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes fragmented MP4 of the H.264 frames of a camera, for browsers: a head, then fragments of
 * about a tenth of a second. The frames are those of the camera; none is encoded. A thread of its
 * own does it, and frames that it does not take in time are left out, up to a key frame. */
#pragma once

#include <gst/gst.h>

typedef struct _WatchStreamMuxer WatchStreamMuxer;

/* Called in the muxer's thread; must not wait. */
typedef struct {
  /* Once, before the first fragment. `codec` is that of RFC 6381, such as avc1.64001F. `zero` is
   * the running time of the presentation time 0 in the fragments. */
  void (*head) (gpointer data, GBytes *head, const gchar *codec, GstClockTimeDiff zero);
  void (*fragment) (gpointer data, GBytes *fragment, gboolean begins_with_key_frame);
  /* The stream cannot be continued. */
  void (*failed) (gpointer data, const gchar *reason);
  gpointer data;
} WatchStreamFunctions;

/* Begins with a key frame, which is to be added, too. NULL and an error if an element is missing.
 * @time: its running time, that of its DTS or PTS */
WatchStreamMuxer *watch_stream_muxer_new (GstCaps *caps, GstBuffer *key_frame,
    GstClockTimeDiff time, const WatchStreamFunctions *functions, GError **error);
/* Adds a frame, in decoding order; does not wait. */
void watch_stream_muxer_add (WatchStreamMuxer *muxer, GstBuffer *frame, GstClockTimeDiff time);
/* Not in the muxer's thread. No function is called afterwards. */
void watch_stream_muxer_free (WatchStreamMuxer *muxer);
