/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The foreground masks of ccl and cudaccl: when frames need one, and the objects that make them. */
#pragma once

#include <gst/gst.h>

#include <cudaccl/foreground.h>

#include "gstcclbackend.h"
#include "gstcclproperties.h"
#include "labelling/masks/gstcclroimask.h"
#include "gstcclsite.h"

/* Belongs to the streaming thread. Zero is a closed one. */
typedef struct {
  GstCclRoiMask *roi_mask;   /* as the file has it; NULL: none. Stages may share one. */
  GstCclMasks *masks;        /* those of foreground; a reference */
  gboolean size_warning;     /* a warning about its size was posted */
  gboolean move_warning;     /* a warning about a lost model was posted */
  CclForeground *foreground; /* NULL as long as frames need no mask */
  gint method;               /* that foreground was made with */
  gboolean has_chroma;       /* foreground reads the chroma of frames */
  CclPixelFormat format;     /* of the frames */
  guint reduction;
} GstCclForegroundStage;

/* Registers the log category; for class_init, which runs once. */
void gst_ccl_foreground_stage_init_log (void);

/* Reads the region of interest mask of that path; NULL: none. Returns FALSE after an element error
 * if that fails. */
gboolean gst_ccl_foreground_stage_open (
    GstCclForegroundStage *stage, GstElement *element, const gchar *roi_mask);

/* Also frees the region of interest mask. */
void gst_ccl_foreground_stage_close (GstCclForegroundStage *stage);

/* Frees the CclForeground with its background model; the region of interest mask stays. */
void gst_ccl_foreground_stage_release (GstCclForegroundStage *stage);

/* Whether parts of frames are never foreground. */
gboolean gst_ccl_foreground_stage_is_masked (
    const GstCclForegroundStage *stage, const GstCclSettings *settings);

/* Makes the CclForeground that frames of these settings need, or frees the one that they do not
 * need. It lives as long as method and kind of format do not change, so that its background model
 * does; masks change without it. */
gboolean gst_ccl_foreground_stage_prepare (GstCclForegroundStage *stage, const GstCclOwner *owner,
    GstCclSite *site, const GstVideoInfo *info, const GstCclSettings *settings, CclError *error);

/* Whether there is a background model. */
gboolean gst_ccl_foreground_stage_has_model (const GstCclForegroundStage *stage);

/* Warns once that the background model is lost because frames are labelled at another site. */
void gst_ccl_foreground_stage_warn_of_move (GstCclForegroundStage *stage, GstElement *element);
