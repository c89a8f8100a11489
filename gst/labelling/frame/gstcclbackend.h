/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ccl and cudaccl do in different ways, as their common helpers see it. */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <cudaccl/contours.h>
#include <cudaccl/foreground.h>
#include <cudaccl/labeller.h>

#include "labelling/pixels/gstcclplanes.h"
#include "gstcclproperties.h"
#include "gstcclsite.h"

/* The maps that an element makes of a frame, and may attach to it. Samples and pictures are in
 * system memory. */
typedef enum {
  GST_CCL_MAP_LABELS,  /* guint32 per pixel */
  GST_CCL_MAP_MASK,    /* guint8 per pixel */
  GST_CCL_MAP_SAMPLE,  /* some rows of the mask or of the frame (gstcclsample.h) */
  GST_CCL_MAP_PICTURE, /* some rows of the frame (gstcclpicture.h) */
  GST_CCL_MAP_LUMA,    /* the luma plane of a frame in system memory, where masks are in another */
  GST_CCL_N_MAPS
} GstCclMapKind;

static inline gsize
gst_ccl_map_pixel_size (GstCclMapKind kind)
{
  return kind == GST_CCL_MAP_LABELS ? sizeof (guint32) : sizeof (guint8);
}

/* Rows of pixels that are copied to a sample, to a picture, or to a plane of luma. */
typedef struct {
  CclFrame from; /* the stride is from one of these rows to the next */
  gsize row_size, to_stride;
  guint n_rows;
  gpointer to; /* system memory if the rows are in device memory, else device memory */
} GstCclRowCopy;

/* The memory for a map of a frame, and its layout. */
typedef struct {
  GstBuffer *buffer;     /* NULL: no map is made */
  gsize offset;          /* of the first pixel, bytes */
  gsize stride;          /* bytes */
  GstMapFlags map_flags; /* for writing */
  CclLocation location;
} GstCclMap;

/* The methods are called in the streaming thread, without the object lock. Those with an error
 * return NULL or FALSE after filling it, which ends the stream with an element error. */
typedef struct {
  /* Which element it is. Set by gst_ccl_base_class_install_properties(). */
  GstCclBackend backend;

  /* The kind of memory that maps are in, for error messages: "memory", "device memory". */
  const gchar *map_memory;

  /* Optional. Chooses where the next frame of a stream is labelled: at the present site, which it
   * then returns as it is, or at another one, which it returns with a new reference. NULL after an
   * error. The present site is that of the frame before; NULL for the first one. has_model: with
   * the present site, the stream would lose a background model. Without this method all sites are
   * NULL. */
  GstCclSite *(*choose_site) (GstElement *element, GstCclSite *present, gboolean has_model,
      GstBuffer *buffer, CclError *error);

  /* Makes a labeller and an object for foreground masks. */
  CclLabeller *(*plan) (
      GstElement *element, GstCclSite *site, const CclLabellerPlan *plan, CclError *error);
  CclForeground *(*plan_foreground) (
      GstElement *element, GstCclSite *site, const CclForegroundPlan *plan, CclError *error);

  /* Optional. Called for every frame that needs a mask, before the mask is made: makes the
   * labeller's work wait for that of the foreground. */
  void (*connect) (GstElement *element, CclForeground *foreground, CclLabeller *labeller);

  /* Optional. Has the next mask written to `memory`, too, with one bit for each pixel. NULL: undoes
   * that. Returns FALSE if the foreground cannot do it. */
  gboolean (*copy_bits) (GstElement *element, CclForeground *foreground, gpointer memory);

  /* Optional. Queues a mask and the labels of its components at once, as ccl_foreground_queue() and
   * ccl_labeller_queue() do one after the other. */
  CclStatus (*queue_with_mask) (CclLabeller *labeller, CclForeground *foreground,
      const CclFrame *frame, const CclForegroundOptions *foreground_options, const CclMask *mask,
      const CclLabellerOptions *options, const CclLabels *labels, CclError *error);

  /* Optional. Called when a labeller that was connected to the foreground has been waited for. */
  void (*finish) (GstElement *element, CclForeground *foreground);

  /* Optional. Called for every frame of the format info: corrects the layout of its planes, which
   * is that of system memory, copies the frame if it has to, and prepares the labeller for memory
   * of this kind. with_chroma: not only the luma is read. */
  gboolean (*locate) (GstElement *element, GstCclSite *site, GstBuffer *buffer,
      const GstVideoInfo *info, gboolean with_chroma, CclLabeller *labeller, GstCclPlanes *planes,
      CclError *error);

  /* Optional. Queues a copy of rows from or to device memory, before the labeller's work on the
   * frame. It is done when that work is. */
  gboolean (*copy_rows) (GstElement *element, GstCclSite *site, CclLabeller *labeller,
      const GstCclRowCopy *copy, CclError *error);

  /* Optional, together with the next two. Returns an object that finds contours in label maps of
   * the site. Streams share it by turns: a turn ends when the stream has read its table. NULL with
   * CUDACCL_ERROR_NO_MEMORY: contours are found on the CPU. */
  CclContours *(*plan_contours) (
      GstElement *element, GstCclSite *site, const CclContoursPlan *plan, CclError *error);
  void (*release_contours) (GstCclSite *site, CclContours *contours);

  /* Queues the next run behind the labeller's work. */
  gboolean (*connect_contours) (CclContours *contours, CclLabeller *labeller, CclError *error);

  /* An active pool of maps of the size of frames of that format. NULL if there is no memory. */
  GstBufferPool *(*new_map_pool) (
      GstElement *element, GstCclSite *site, const GstVideoInfo *info, GstCclMapKind kind);

  /* Fills in the fields of a map whose buffer came from such a pool. */
  void (*locate_map) (
      GstElement *element, const GstVideoInfo *info, GstCclMapKind kind, GstCclMap *map);
} GstCclMethods;

/* The element that a helper works for. */
typedef struct {
  GstElement *element;
  const GstCclMethods *methods;
  guint64 id; /* of the element, see gst_ccl_labeller_get_id() */
} GstCclOwner;
