/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ccl
 * @title: ccl
 * @short_description: finds the connected components of a mask, on the CPU
 * @see_also: cudaccl, ccljson
 *
 * Labels the connected components of every frame and attaches what it finds, a #GstCclMeta with
 * area, bounding box and centroid of each component, to the frame. The pixels stay as they are.
 *
 * A pixel is foreground when its luma is greater than the property `threshold`. Components are
 * numbered 1…N in raster order of their first pixels. `cudaccl` is the same element on an NVIDIA
 * GPU, with the same properties and bit for bit the same result.
 *
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! ccl
 * threshold=128 ! ccljson ! fdsink
 * ]| This prints one line of JSON a frame, each with one component, the ball.
 */
#include "gstccl.h"

#include "cpulabeller.h"
#include "gstccllabelpool.h"

struct _GstCcl {
  GstCclBase parent;
  GstBufferPool *label_maps; /* of the streaming thread */
};

G_DEFINE_TYPE (GstCcl, gst_ccl, GST_TYPE_CCL_BASE)
GST_ELEMENT_REGISTER_DEFINE (ccl, "ccl", GST_RANK_NONE, GST_TYPE_CCL)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_CCL_FORMATS)));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_CCL_FORMATS)));

static CclLabeller *
gst_ccl_plan (GstCclBase *base, const CclPlan *plan, CclError *error)
{
  CclPlan threaded = *plan;

  /* The labeller takes as many of them as pay for the frame size: one for 1080p. */
  threaded.n_threads = g_get_num_processors ();
  return ccl_cpu_labeller_new (&threaded, error);
}

static gboolean
gst_ccl_acquire_label_map (GstCclBase *base, GstCclLabelMap *map, CclError *error)
{
  GstCcl *self = GST_CCL (base);
  const GstVideoInfo *info = gst_ccl_base_get_info (base);
  guint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);

  if (!self->label_maps)
    self->label_maps = gst_ccl_label_pool_new (width, height);
  if (gst_buffer_pool_acquire_buffer (self->label_maps, &map->buffer, NULL) != GST_FLOW_OK) {
    ccl_error_set (
        error, CCL_ERROR_NO_MEMORY, "No memory for a label map of %u×%u pixels", width, height);
    return FALSE;
  }
  map->offset = 0;
  map->stride = sizeof (guint32) * (gsize)width;
  map->map_flags = GST_MAP_WRITE;
  return TRUE;
}

static void
gst_ccl_release_label_maps (GstCclBase *base)
{
  GstCcl *self = GST_CCL (base);

  if (self->label_maps) {
    gst_buffer_pool_set_active (self->label_maps, FALSE);
    gst_clear_object (&self->label_maps);
  }
}

static void
gst_ccl_class_init (GstCclClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstCclBaseClass *base_class = GST_CCL_BASE_CLASS (klass);

  gst_element_class_set_static_metadata (element_class, "Connected components labeller",
      "Filter/Analyzer/Video",
      "Finds the connected components of video frames and attaches area, box and centroid of each",
      "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  gst_ccl_base_class_install_algorithms (base_class, "GstCclAlgorithm", ccl_cpu_algorithms ());
  base_class->plan = gst_ccl_plan;
  base_class->acquire_label_map = gst_ccl_acquire_label_map;
  base_class->release_label_maps = gst_ccl_release_label_maps;
}

static void
gst_ccl_init (GstCcl *self)
{
}
