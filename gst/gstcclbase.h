/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the twins ccl and cudaccl share: everything but where pixels and labels live. */
#ifndef __GST_CCL_BASE_H__
#define __GST_CCL_BASE_H__

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "labeller.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_BASE (gst_ccl_base_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstCclBase, gst_ccl_base, GST, CCL_BASE, GstBaseTransform)

/* The formats whose first plane is one byte of luma a pixel. */
#define GST_CCL_FORMATS "{ GRAY8, NV12, NV21, I420, YV12, Y42B, Y444 }"

/* Where a frame's luma is inside its buffer, and how to get at it. */
typedef struct {
  gsize offset;          /* of the first pixel, bytes */
  gint stride;           /* bytes; not checked yet */
  guint width, height;   /* pixels that are there */
  GstMapFlags map_flags; /* for reading */
  CclLocation location;
} GstCclLuma;

/* A label map that can be written. */
typedef struct {
  GstBuffer *buffer;
  gsize offset;
  gsize stride;
  GstMapFlags map_flags; /* for writing */
} GstCclLabelMap;

struct _GstCclBaseClass {
  GstBaseTransformClass parent_class;

  /* Makes a labeller. Called in the streaming thread. */
  CclLabeller *(*plan) (GstCclBase *base, const CclPlan *plan, CclError *error);

  /* Optional. Called before every frame; may call gst_ccl_base_forget_labeller() if the frame
   * needs another one. FALSE with the error filled stops the stream. */
  gboolean (*prepare) (GstCclBase *base, GstBuffer *buffer, CclError *error);

  /* Optional. Corrects where the luma is, which is filled in from the caps for system memory; a
   * GstVideoMeta goes before either. Also the place to ready the labeller for such memory. */
  void (*locate) (GstCclBase *base, GstBuffer *buffer, CclLabeller *labeller, GstCclLuma *luma);

  /* Gets an unused label map from the pool for frames of that size; the caller unrefs its
   * buffer. FALSE with the error filled if there is none. */
  gboolean (*acquire_label_map) (GstCclBase *base, GstCclLabelMap *map, CclError *error);

  /* Optional. Frees the pool that acquire_label_map() made; the frame size or context changes. */
  void (*release_label_maps) (GstCclBase *base);
};

/* For class_init of the twins: installs the property "algorithm", an enumeration with "auto"
 * and these names, NULL-terminated static strings. */
void gst_ccl_base_class_install_algorithms (
    GstCclBaseClass *klass, const gchar *type_name, const char *const *names);

/* The negotiated format; for the streaming thread. */
const GstVideoInfo *gst_ccl_base_get_info (GstCclBase *base);

/* Frees the labeller and the label maps; the next frame plans anew. For the streaming thread. */
void gst_ccl_base_forget_labeller (GstCclBase *base);

/* Posts an element error for a labeller's error, in the domain that fits its status. */
void gst_ccl_base_post_error (GstCclBase *base, const CclError *error);

G_END_DECLS

#endif /* __GST_CCL_BASE_H__ */
