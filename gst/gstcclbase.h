/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The base class of ccl and cudaccl. */
#ifndef __GST_CCL_BASE_H__
#define __GST_CCL_BASE_H__

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <cudaccl/foreground.h>
#include <cudaccl/labeller.h>

#include "gstcclplanes.h"
#include "gstcclproperties.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_BASE (gst_ccl_base_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstCclBase, gst_ccl_base, GST, CCL_BASE, GstBaseTransform)

/* The maps that an element makes of a frame, and may attach to it. */
typedef enum {
  GST_CCL_MAP_LABELS, /* guint32 per pixel */
  GST_CCL_MAP_MASK,   /* guint8 per pixel */
  GST_CCL_N_MAPS
} GstCclMapKind;

static inline gsize
gst_ccl_map_pixel_size (GstCclMapKind kind)
{
  return kind == GST_CCL_MAP_LABELS ? sizeof (guint32) : sizeof (guint8);
}

/* The memory for a map of a frame, and its layout. */
typedef struct {
  GstBuffer *buffer;     /* NULL: no map is made */
  gsize offset;          /* of the first pixel, bytes */
  gsize stride;          /* bytes */
  GstMapFlags map_flags; /* for writing */
  CclLocation location;
} GstCclMap;

/* The virtual methods are called in the streaming thread, without the object lock. Those with an
 * error return NULL or FALSE after filling it, which ends the stream with an element error. */
struct _GstCclBaseClass {
  GstBaseTransformClass parent_class;

  /* Which properties the element has. Set by gst_ccl_base_class_install_properties(). */
  GstCclBackend backend;

  /* The kind of memory that maps are in, for error messages: "memory", "device memory". */
  const gchar *map_memory;

  /* Makes a labeller and an object for foreground masks. */
  CclLabeller *(*plan) (GstCclBase *base, const CclPlan *plan, CclError *error);
  CclForeground *(*plan_foreground) (
      GstCclBase *base, const CclForegroundPlan *plan, CclError *error);

  /* Optional. Called for every frame that needs a mask, before the mask is made: makes the
   * labeller's work wait for that of the foreground. */
  void (*connect) (GstCclBase *base, CclForeground *foreground, CclLabeller *labeller);

  /* Optional. Called for every frame before all other methods. Calls gst_ccl_base_forget_plans() if
   * labeller and foreground cannot be used for this frame. */
  gboolean (*prepare) (GstCclBase *base, GstBuffer *buffer, CclError *error);

  /* Optional. Called for every frame of the format info: corrects the layout of its planes, which
   * is that of system memory, copies the frame if it has to, and prepares the labeller for memory
   * of this kind. with_chroma: not only the luma is read. */
  gboolean (*locate) (GstCclBase *base, GstBuffer *buffer, const GstVideoInfo *info,
      gboolean with_chroma, CclLabeller *labeller, GstCclPlanes *planes, CclError *error);

  /* Makes an active pool of maps of the size of frames of that format. NULL if there is no memory.
   */
  GstBufferPool *(*new_map_pool) (GstCclBase *base, const GstVideoInfo *info, GstCclMapKind kind);

  /* Fills in the fields of a map whose buffer came from such a pool. */
  void (*locate_map) (
      GstCclBase *base, const GstVideoInfo *info, GstCclMapKind kind, GstCclMap *map);
};

/* Installs the properties of a backend. For class_init of the subclass, whose instances are of the
 * element that the backend stands for. */
void gst_ccl_base_class_install_properties (GstCclBaseClass *klass, GstCclBackend backend);

/* Copies the settings, all but roi_mask, which is NULL in the copy. Any thread may call. */
GstCclSettings gst_ccl_base_get_settings (GstCclBase *base);

/* Frees labellers, foregrounds with their background models, and pools of maps, of all streams;
 * they are made anew for the next frame. Before that it waits for frames that are queued. For the
 * streaming thread. */
void gst_ccl_base_forget_plans (GstCclBase *base);

G_END_DECLS

#endif /* __GST_CCL_BASE_H__ */
