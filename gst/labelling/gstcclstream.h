/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream of frames that ccl or cudaccl labels: the state kept from frame to frame, and the
 * messages that its frames give rise to. */
#pragma once

#include <gst/gst.h>

#include "labelling/frame/gstcclbackend.h"
#include "labelling/frame/gstcclframelabeller.h"
#include "gstcclmotion.h"
#include "labelling/frame/gstcclproperties.h"
#include "shared/gstcclframeclock.h"

/* Belongs to the streaming thread. */
typedef struct {
  const GstCclOwner *owner;
  gint number;   /* of a stream in batches; -1: frames come one by one */
  GstCaps *caps; /* of a stream in batches */
  GstSegment segment;
  GstCclFrameLabeller labeller;
  GstCclMotion motion;
  GstCclFrameClock clock;
} GstCclStream;

/* Registers the log category; for class_init, which runs once. */
void gst_ccl_stream_init_log (void);

void gst_ccl_stream_init (GstCclStream *stream, const GstCclOwner *owner, gint number);

/* Frees all but the region of interest mask. No frame may be queued. */
void gst_ccl_stream_clear (GstCclStream *stream);

/* Frees labellers and the background model, and leaves the site; what the next frame needs is made
 * anew. No frame may be queued. */
void gst_ccl_stream_release (GstCclStream *stream);

/* Discards what the background model has learned. */
void gst_ccl_stream_reset_model (GstCclStream *stream);

/* Resets the motion, without a message, and the time from frame to frame. */
void gst_ccl_stream_reset_motion (GstCclStream *stream);

/* Sets the format of the frames, of which none may be queued, from caps of raw video. Returns FALSE
 * if there can be no such frames; if they are too large, it posts an error. */
gboolean gst_ccl_stream_set_caps (GstCclStream *stream, const GstCaps *caps);

/* Takes the time of the next frame, before it is labelled. */
void gst_ccl_stream_advance (GstCclStream *stream, GstBuffer *buffer);

/* Posts the messages about a labelled frame. */
void gst_ccl_stream_post_messages (GstCclStream *stream, GstBuffer *buffer,
    const GstCclSettings *settings, const GstCclLabelledFrame *frame);

/* Ends the motion, with a message if one has reported that it began, and resets the time from frame
 * to frame. */
void gst_ccl_stream_end_motion (GstCclStream *stream);

/* Begins anew, as after a flush: the next frame may be of another scene. Ends the motion as
 * gst_ccl_stream_end_motion() does, and discards what the background model has learned. */
void gst_ccl_stream_restart (GstCclStream *stream);
