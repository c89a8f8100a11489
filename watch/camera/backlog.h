/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The encoded frames of a camera that have arrived and wait for the decoder. On a machine that is
 * too slow they would become more and more. So a frame that is too old is not decoded, nor are
 * those behind it, up to a key frame that is fresh. The camera whose share of late frames is the
 * least among all cameras is the first to skip frames.
 *
 * Where frames arrive by RTP, this queue takes up what comes all at once, and the decoder waits for
 * the labeller, unless the frames are late. */
#pragma once

#include "camera-state.h"

/* Notes when the packets of an RTP jitter buffer arrive. */
void watch_backlog_add_source (WatchCamera *camera, GstElement *jitter_buffer);

/* Whether the packets of the pad are RTP packets of that media: "video" or "audio". */
gboolean watch_backlog_is_media (GstPad *pad, const gchar *media);

/* Called in the decoder's thread for each encoded frame, which must be writable. FALSE: it is not
 * to be decoded. */
gboolean watch_backlog_take (WatchCamera *camera, GstBuffer *frame);

/* Whether the decoded frame is so late that it should be skipped and not wait for the labeller. */
gboolean watch_backlog_is_late (WatchCamera *camera, GstBuffer *frame);

/* The connection ended. */
void watch_backlog_end (WatchCamera *camera);
