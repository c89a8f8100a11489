/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels the frames of ccl and cudaccl: makes foreground mask, label map and component table of
 * each frame, and keeps the objects that make them. */
#ifndef __GST_CCL_FRAME_LABELLER_H__
#define __GST_CCL_FRAME_LABELLER_H__

#include <gst/ccl/ccl.h>
#include <gst/gst.h>

#include <cudaccl/labeller.h>

#include "gstcclbase.h"
#include "gstcclforeground.h"
#include "gstcclproperties.h"

G_BEGIN_DECLS

/* Belongs to the streaming thread. Zero is one that has not labelled any frame. */
typedef struct {
  CclLabeller *labeller;
  GstCclSettings planned; /* the settings that the labeller was made with */
  CclPixelFormat format;  /* of the pixels that it reads */
  GstCclForegroundStage foreground;
  GstBufferPool *map_pools[GST_CCL_N_MAPS];
  GstBufferPool *segmentation_pool; /* of label maps for analytics metadata */
  GstCclLabeller *description;      /* of the element with the settings below, for metadata */
  GstCclSettings described;
} GstCclFrameLabeller;

/* A labelled frame. */
typedef struct {
  CclTable table;                 /* valid until the next frame */
  GstCclMap maps[GST_CCL_N_MAPS]; /* label map and foreground mask, where the settings need them */
  CclSceneChange scene_change;
  GstClockTime time; /* that labelling took */
} GstCclLabelledFrame;

/* Registers the log category; for class_init, which runs once. */
void gst_ccl_frame_labeller_init_log (void);

/* Frees all but the region of interest mask. What the next frame needs is made anew. */
void gst_ccl_frame_labeller_forget (GstCclFrameLabeller *self);

/* Labels a frame. Clear the result with gst_ccl_labelled_frame_clear(), after a failure, too. */
gboolean gst_ccl_frame_labeller_run (GstCclFrameLabeller *self, GstCclBase *base,
    const GstCclSettings *settings, GstBuffer *buffer, GstCclLabelledFrame *result,
    CclError *error);

/* Attaches the result to the frame as the metadata that the settings name. */
void gst_ccl_frame_labeller_attach (GstCclFrameLabeller *self, GstCclBase *base,
    const GstCclSettings *settings, GstBuffer *buffer, const GstCclLabelledFrame *result);

void gst_ccl_labelled_frame_clear (GstCclLabelledFrame *result);

G_END_DECLS

#endif /* __GST_CCL_FRAME_LABELLER_H__ */
