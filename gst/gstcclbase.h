/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the twins ccl and cudaccl share: everything but where pixels and labels live. */
#ifndef __GST_CCL_BASE_H__
#define __GST_CCL_BASE_H__

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <cudaccl/labeller.h>
#include <cudaccl/foreground.h>

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

/* What is made for a frame, a value a pixel, and may ride along with it. */
typedef enum {
  GST_CCL_MAP_LABELS, /* guint32 */
  GST_CCL_MAP_MASK,   /* guint8 */
  GST_CCL_N_MAPS
} GstCclMapKind;

static inline gsize
gst_ccl_map_pixel_size (GstCclMapKind kind)
{
  return kind == GST_CCL_MAP_LABELS ? sizeof (guint32) : sizeof (guint8);
}

/* A map that can be written. */
typedef struct {
  GstBuffer *buffer;
  gsize offset;
  gsize stride;
  GstMapFlags map_flags; /* for writing */
  CclLocation location;
} GstCclMap;

struct _GstCclBaseClass {
  GstBaseTransformClass parent_class;

  /* Makes a labeller. Called in the streaming thread. */
  CclLabeller *(*plan) (GstCclBase *base, const CclPlan *plan, CclError *error);

  /* Makes a foreground. Called in the streaming thread. */
  CclForeground *(*plan_foreground) (
      GstCclBase *base, const CclForegroundPlan *plan, CclError *error);

  /* Optional. Called for every frame that needs a mask, before it is made: makes the labeller wait
   * for the foreground's work. */
  void (*connect) (GstCclBase *base, CclForeground *foreground, CclLabeller *labeller);

  /* Optional. Called before every frame; may call gst_ccl_base_forget_plans() if the frame
   * needs other ones. FALSE with the error filled stops the stream. */
  gboolean (*prepare) (GstCclBase *base, GstBuffer *buffer, CclError *error);

  /* Optional. Corrects where the luma is, which is filled in from the caps for system memory; a
   * GstVideoMeta goes before either. Also the place to ready the labeller for such memory. */
  void (*locate) (GstCclBase *base, GstBuffer *buffer, CclLabeller *labeller, GstCclLuma *luma);

  /* Makes the pool of maps of that kind for the negotiated frame size, active; NULL if there is
   * no memory. */
  GstBufferPool *(*new_map_pool) (GstCclBase *base, GstCclMapKind kind);

  /* What error messages call the memory that maps are in. */
  const gchar *map_memory;

  /* Fills in how a map from that pool is reached, all but its buffer. */
  void (*locate_map) (GstCclBase *base, GstCclMapKind kind, GstCclMap *map);
};

/* For class_init of the twins: installs the property "algorithm", an enumeration with "auto"
 * and these names, NULL-terminated static strings. */
void gst_ccl_base_class_install_algorithms (
    GstCclBaseClass *klass, const gchar *type_name, const char *const *names);

/* The negotiated format; for the streaming thread. */
const GstVideoInfo *gst_ccl_base_get_info (GstCclBase *base);

/* Frees labeller, foreground with its model of the background, and maps; the next frame plans
 * anew. For the streaming thread. */
void gst_ccl_base_forget_plans (GstCclBase *base);

/* Posts an element error for a labeller's error, in the domain that fits its status. */
void gst_ccl_base_post_error (GstCclBase *base, const CclError *error);

G_END_DECLS

#endif /* __GST_CCL_BASE_H__ */
