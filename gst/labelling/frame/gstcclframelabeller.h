/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels the frames of ccl and cudaccl: makes foreground mask, label map and component table of
 * each frame, and keeps the objects that make them. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>

#include <cudaccl/labeller.h>

#include "gstcclbackend.h"
#include "gstcclcontourfinder.h"
#include "gstcclforeground.h"
#include "gstcclmeasurer.h"
#include "gstcclproperties.h"
#include "gstcclsite.h"
#include "shared/gstcclsample.h"

/* Labels the frames of one stream. Belongs to the streaming thread. */
typedef struct {
  GstVideoInfo info;   /* of the pixels that are read; release before their size changes */
  GstVideoInfo packed; /* of frames that are unpacked first, where is_packed */
  gboolean is_packed;  /* the format of the frames cannot be read as it is */
  GstBufferPool *unpacked_pool;
  GPtrArray *labellers;   /* a CclLabeller for each frame that is queued at once */
  guint n_queued;         /* frames */
  GstCclSite *site;       /* of the latest frame; NULL: none, or the element has no choice */
  GstCclSettings planned; /* the settings that the labellers were made with */
  CclPixelFormat format;  /* of the pixels that they read */
  guint32 columns;        /* that they measure: flags of CclColumn */
  guint scale;            /* each of these stands for scale × scale pixels of the frame */
  GArray *rows;           /* CclComponent: of the latest table, in the frame's coordinates */
  GstCclForegroundStage foreground;
  GstClockTime frame_duration; /* from the frame before to the next one that is queued */
  GstBufferPool *map_pools[GST_CCL_N_MAPS];
  GstBufferPool *segmentation_pool; /* of label maps for analytics metadata */
  GstCclContourFinder contour_finder;
  GstCclMeasurer measurer;
  GstCclLabeller *description; /* of the element with the settings below, for metadata */
  GstCclSettings described;
} GstCclFrameLabeller;

/* A frame that is being labelled, or is labelled. */
typedef struct {
  CclLabeller *labeller; /* that has the frame; NULL: none */
  GstBuffer *unpacked;   /* pixels that are read in place of the frame's; NULL: these are read */
  GstCclPlanes layout;   /* of the memory that is read */
  GstCclMappedPlanes planes;
  GstCclMap maps[GST_CCL_N_MAPS]; /* those that the settings need */
  GstMapInfo map_infos[GST_CCL_N_MAPS];
  gpointer data[GST_CCL_N_MAPS]; /* of maps that are mapped */
  GstClockTime start;            /* of labelling: a time of gst_util_get_timestamp() */
  GstCclSample sample;           /* of the foreground, where the settings ask for it */
  CclTable table;                /* valid until the labeller gets another frame */
  CclScene scene;
  gboolean has_changes;     /* scene has the numbers of pixels */
  GstCclContours *contours; /* that were found at the site; NULL: not yet, or not there */
  CclError contours_error;  /* why they were not found at the site */
} GstCclLabelledFrame;

/* Registers the log category; for class_init, which runs once. */
void gst_ccl_frame_labeller_init_log (void);

void gst_ccl_frame_labeller_init (GstCclFrameLabeller *self);

/* Takes the description of the next frames. Sets read to that of the pixels that will be read,
 * which is another one where frames are unpacked first; the caller sets it as info. */
void gst_ccl_frame_labeller_describe (
    GstCclFrameLabeller *self, const GstVideoInfo *frames, GstVideoInfo *read);

/* Frees all but the region of interest mask, and leaves the site. What the next frame needs is made
 * anew. No frame may be queued. */
void gst_ccl_frame_labeller_release (GstCclFrameLabeller *self);

/* Frees what gst_ccl_frame_labeller_release() leaves, but for the region of interest mask. */
void gst_ccl_frame_labeller_clear (GstCclFrameLabeller *self);

/* Chooses where a frame is labelled, and sets *site to that of the frame before or to a new
 * reference. */
gboolean gst_ccl_frame_labeller_choose_site (GstCclFrameLabeller *self, const GstCclOwner *owner,
    GstBuffer *buffer, GstCclSite **site, CclError *error);

/* Whether a frame of that site may be queued now. Foreground masks are made one at a time, and all
 * frames that are queued are of one site. */
gboolean gst_ccl_frame_labeller_can_queue (const GstCclFrameLabeller *self, const GstCclSite *site);

/* Queues the work on a frame, whose buffer must stay until gst_ccl_frame_labeller_wait(), to be
 * called in any case unless this fails. Takes the reference to the site if it is a new one. Clear
 * the frame with gst_ccl_labelled_frame_clear(), after a failure, too. */
gboolean gst_ccl_frame_labeller_queue (GstCclFrameLabeller *self, const GstCclOwner *owner,
    GstCclSite *site, const GstCclSettings *settings, GstBuffer *buffer, GstCclLabelledFrame *frame,
    CclError *error);

/* Waits for a queued frame, and finds its contours if that is done at the site. With the settings
 * that it was queued with. */
gboolean gst_ccl_frame_labeller_wait (GstCclFrameLabeller *self, const GstCclOwner *owner,
    const GstCclSettings *settings, GstCclLabelledFrame *frame, CclError *error);

/* Attaches the result to the frame as the metadata that the settings name. FALSE with the error
 * filled if columns cannot be measured, or contours cannot be found; everything before them is
 * attached all the same. */
gboolean gst_ccl_frame_labeller_attach (GstCclFrameLabeller *self, const GstCclOwner *owner,
    const GstCclSettings *settings, GstBuffer *buffer, GstCclLabelledFrame *frame, CclError *error);

void gst_ccl_labelled_frame_clear (GstCclLabelledFrame *frame);
