/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ccl
 * @title: ccl
 * @short_description: finds the connected components of a mask, on the CPU
 * @see_also: cudaccl, ccljson
 *
 * Labels the connected components of every frame and attaches them to the frame: a #GstCclMeta has
 * area, bounding box and centroid of each component. The pixels are not changed.
 *
 * A pixel is foreground when its luma is greater than the property `threshold`, or, with
 * `foreground=codebook`, when it differs from a model of the background that the element learns
 * from the frames before. A new size or format, a flushing seek and the action signal `reset` start
 * a new model. Cast shadows are removed, and changes of light are followed. A change of the picture
 * that light does not explain is posted as an element message `scene-change`, whose field
 * `kind` is moved, infrared, covered, blinded, uncovered or settled. Where the camera was moved and
 * the displacement of the picture is known, `dx` and `dy` have it, in pixels to the right and down.
 *
 * With GStreamer 1.28 and later the element also takes batches: buffers whose
 * #GstAnalyticsBatchMeta holds the frames of several streams. Each frame gets the metadata that it
 * gets alone, each stream has a model of its own, and messages name the stream.
 *
 * Frames in RGB and its like, GRAY16_BE and I420_10LE are unpacked first, into luma and chroma of
 * 8 or 16 bits; unlike `cudaccl`, the element takes them without `videoconvert`.
 *
 * Components are numbered 1…N in raster order of their first pixels. `cudaccl` is the same element
 * on an NVIDIA GPU, with the same properties and identical output.
 *
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! \
 *   ccl threshold=128 ! ccljson ! fdsink
 * ]| This pipeline prints a line of JSON per frame, each with one component: the ball.
 * |[
 * gst-launch-1.0 v4l2src ! decodebin ! videoconvert ! \
 *   ccl foreground=codebook min-area=200 ! \
 *   ccloverlay ! videoconvert ! autovideosink
 * ]| This pipeline draws boxes around all that moves in front of a camera.
 *
 * Since: 0.2
 */
#include "gstcclbase.h"

#include <cudaccl/foreground.h>
#include <cudaccl/labeller.h>

#include "gstcclbatch.h"
#include "labelling/pixels/gstcclmappool.h"
#include "labelling/frame/gstcclpicture.h"
#include "labelling/pixels/gstcclplanes.h"
#include "labelling/frame/gstcclsampler.h"
#include "labelling/pixels/gstcclunpack.h"
#include "shared/gstcclelements.h"
#include "shared/gstccli18n.h"

#define GST_TYPE_CCL (gst_ccl_get_type ())
G_DECLARE_FINAL_TYPE (GstCcl, gst_ccl, GST, CCL, GstCclBase)

struct _GstCcl {
  GstCclBase parent;
};

G_DEFINE_TYPE (GstCcl, gst_ccl, GST_TYPE_CCL_BASE)
GST_ELEMENT_REGISTER_DEFINE (ccl, "ccl", GST_RANK_NONE, GST_TYPE_CCL)

#define VA_MEMORY "memory:VAMemory"
#define CAPS                                                                                       \
  GST_VIDEO_CAPS_MAKE (GST_CCL_FORMATS)                                                            \
  "; " GST_VIDEO_CAPS_MAKE (                                                                       \
      "{ " GST_CCL_UNPACKED_FORMATS                                                                \
      " }") "; " GST_VIDEO_CAPS_MAKE_WITH_FEATURES (VA_MEMORY, GST_CCL_FORMATS) GST_CCL_OR_BATCHES

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static CclLabeller *
gst_ccl_plan (GstElement *element, GstCclSite *site, const CclLabellerPlan *plan, CclError *error)
{
  return ccl_cpu_labeller_new (plan, error);
}

static CclForeground *
gst_ccl_plan_foreground (
    GstElement *element, GstCclSite *site, const CclForegroundPlan *plan, CclError *error)
{
  return ccl_cpu_foreground_new (plan, error);
}

static GstBufferPool *
gst_ccl_new_map_pool (
    GstElement *element, GstCclSite *site, const GstVideoInfo *info, GstCclMapKind kind)
{
  if (kind == GST_CCL_MAP_SAMPLE)
    return gst_ccl_map_pool_new (gst_ccl_sampler_size (info));
  if (kind == GST_CCL_MAP_PICTURE)
    return gst_ccl_map_pool_new (gst_ccl_picture_size (info));
  return gst_ccl_map_pool_new (gst_ccl_map_pixel_size (kind) * (gsize)GST_VIDEO_INFO_WIDTH (info) *
                               (gsize)GST_VIDEO_INFO_HEIGHT (info));
}

static void
gst_ccl_locate_map (
    GstElement *element, const GstVideoInfo *info, GstCclMapKind kind, GstCclMap *map)
{
  map->offset = 0;
  map->stride = gst_ccl_map_pixel_size (kind) * (gsize)GST_VIDEO_INFO_WIDTH (info);
  map->map_flags = GST_MAP_WRITE;
  map->location = CUDACCL_LOCATION_HOST;
}

static void
gst_ccl_class_init (GstCclClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstCclBaseClass *base_class = GST_CCL_BASE_CLASS (klass);

  gst_element_class_set_static_metadata (element_class, "Connected components labeller",
      "Filter/Analyzer/Video",
      "Finds the connected components of video frames and attaches area, bounding box and centroid "
      "of each",
      GST_CCL_AUTHOR);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  base_class->methods = (GstCclMethods){
      .plan = gst_ccl_plan,
      .plan_foreground = gst_ccl_plan_foreground,
      .new_map_pool = gst_ccl_new_map_pool,
      .locate_map = gst_ccl_locate_map,
      .map_memory = N_ ("memory"),
  };
  gst_ccl_base_class_install_properties (base_class, GST_CCL_BACKEND_CPU);
}

static void
gst_ccl_init (GstCcl *self)
{
}
