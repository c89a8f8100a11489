/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frames of a buffer while they are labelled: work on all of them is queued before the first
 * one is waited for. */
#pragma once

#include <gst/gst.h>

#include "labelling/frame/gstcclbackend.h"
#include "gstcclhints.h"
#include "labelling/frame/gstcclproperties.h"
#include "gstcclstats.h"
#include "gstcclstream.h"

/* Belongs to the streaming thread, but for the statistics. */
typedef struct {
  GArray *frames;          /* those that are queued */
  GstCclSettings settings; /* for them; texts are NULL */
  CclError error; /* the first one of the buffer; its status is CUDACCL_OK if there is none */
  gboolean error_posted;          /* another error of the buffer was posted */
  GstCclSettings former, refused; /* those of the frame before, and those that were not possible */
  gboolean has_former, has_refused;
  GstCclHints hints;
  GstCclStats *stats; /* of the element, whose object lock guards them */
} GstCclQueue;

/* Registers the log category; for class_init, which runs once. */
void gst_ccl_queue_init_log (void);

void gst_ccl_queue_init (GstCclQueue *queue, GstCclStats *stats);
void gst_ccl_queue_clear (GstCclQueue *queue);

/* Begins a stream: nothing was refused, and no hint was given. */
void gst_ccl_queue_start (GstCclQueue *queue);

/* Begins with a buffer. Its frames are labelled with these settings. */
void gst_ccl_queue_begin (GstCclQueue *queue, const GstCclSettings *settings);

/* Queues the work on a frame, whose buffer must stay until gst_ccl_queue_finish(). Returns FALSE
 * after an error, which is kept. */
gboolean gst_ccl_queue_add (
    GstCclQueue *queue, const GstCclOwner *owner, GstCclStream *stream, GstBuffer *buffer);

/* Waits for all frames that are queued; attaches the results to those that are labelled, and posts
 * their messages. */
void gst_ccl_queue_finish (GstCclQueue *queue, const GstCclOwner *owner);

/* Finishes the buffer. Posts the error if one was kept. */
GstFlowReturn gst_ccl_queue_end (GstCclQueue *queue, const GstCclOwner *owner);
