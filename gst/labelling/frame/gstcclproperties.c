/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclproperties.h"

#include <string.h>

#include <cudaccl/device.h>

#include "gstcclattach.h"

/* Defines a type whose values have the names that the library gives them. */
#define DEFINE_NAMED_ENUM_TYPE(function, type_name, values, Type, get_name)                        \
  static GEnumValue *name_##values (void)                                                          \
  {                                                                                                \
    for (GEnumValue *value = values; value->value_name; value++)                                   \
      value->value_nick = get_name ((Type)value->value);                                           \
    return values;                                                                                 \
  }                                                                                                \
  GST_CCL_DEFINE_ENUM_TYPE (function, type_name, name_##values ())

static GEnumValue foreground_values[] = {
    {CUDACCL_FOREGROUND_THRESHOLD, "Pixels greater than the property threshold", NULL},
    {CUDACCL_FOREGROUND_OTSU,
        "Pixels greater than a threshold that Otsu's method chooses per frame", NULL},
    {CUDACCL_FOREGROUND_MOG2, "Background subtraction with a mixture of Gaussians (MOG2)", NULL},
    {CUDACCL_FOREGROUND_CODEBOOK,
        "Background subtraction with a codebook: the colours that pixels have had", NULL},
    {0, NULL, NULL},
};
DEFINE_NAMED_ENUM_TYPE (foreground_get_type, "GstCclForeground", foreground_values,
    CclForegroundMethod, ccl_foreground_method_name)

static GEnumValue denoise_values[] = {
    {CUDACCL_DENOISE_NONE, "No filter", NULL},
    {CUDACCL_DENOISE_MEDIAN_3, "Median filter, 3×3 pixels", NULL},
    {CUDACCL_DENOISE_MEDIAN_5, "Median filter, 5×5 pixels", NULL},
    {CUDACCL_DENOISE_OPENING_3, "Opening (erosion, then dilation), 3×3 pixels", NULL},
    {CUDACCL_DENOISE_OPENING_5, "Opening (erosion, then dilation), 5×5 pixels", NULL},
    {0, NULL, NULL},
};
DEFINE_NAMED_ENUM_TYPE (
    denoise_get_type, "GstCclDenoise", denoise_values, CclDenoise, ccl_denoise_name)

static GEnumValue shadows_values[] = {
    {CUDACCL_SHADOWS_KEEP, "Shadows are foreground", NULL},
    {CUDACCL_SHADOWS_MARK, "Shadows are background, and marked in the attached mask", NULL},
    {CUDACCL_SHADOWS_REMOVE, "Shadows are background", NULL},
    {0, NULL, NULL},
};
DEFINE_NAMED_ENUM_TYPE (
    shadows_get_type, "GstCclShadows", shadows_values, CclShadows, ccl_shadows_name)

static const GEnumValue reduction_values[] = {
    {CUDACCL_REDUCTION_AUTO,
        "4 for 1920×1080, 2 for 1280×720, 1 for 480×272, so that at most 250,000 pixels are left "
        "(foreground=mog2: 450,000)",
        "auto"},
    {1, "The model has the frame's size", "1"},
    {2, "Half the width and height", "2"},
    {4, "A quarter of the width and height", "4"},
    {8, "An eighth of the width and height", "8"},
    {0, NULL, NULL},
};
GST_CCL_DEFINE_ENUM_TYPE (reduction_get_type, "GstCclReduction", reduction_values)

static const GEnumValue connectivity_values[] = {
    {CUDACCL_CONNECTIVITY_4, "Pixels that share an edge are neighbours", "4"},
    {CUDACCL_CONNECTIVITY_8, "Pixels that share an edge or a corner are neighbours", "8"},
    {0, NULL, NULL},
};
GST_CCL_DEFINE_ENUM_TYPE (connectivity_get_type, "GstCclConnectivity", connectivity_values)

/* Values never change: programs store them. `auto` is the library's choice. */
#define ALGORITHM_AUTO 0
#define FORMER_ALGORITHM "No longer offered: the same as auto; Deprecated: 0.4"

static const GEnumValue cpu_algorithm_values[] = {
    {ALGORITHM_AUTO, "The fastest one that offers the connectivity", "auto"},
    {1, "Runs: connects runs of foreground pixels", "runs"},
    {2, FORMER_ALGORITHM, "bbdt"},
    {3, FORMER_ALGORITHM, "drag"},
    {4, FORMER_ALGORITHM, "sauf"},
    {0, NULL, NULL},
};
GST_CCL_DEFINE_ENUM_TYPE (cpu_algorithm_get_type, "GstCclAlgorithm", cpu_algorithm_values)

static const GEnumValue gpu_algorithm_values[] = {
    {ALGORITHM_AUTO, "The fastest one that offers the connectivity", "auto"},
    {1, "Strips: connects runs of foreground pixels in horizontal strips", "strips"},
    {2, "BKE: block-based Komura equivalence; 8-connectivity only", "bke"},
    {3, "KE: Komura equivalence", "ke"},
    {0, NULL, NULL},
};
GST_CCL_DEFINE_ENUM_TYPE (gpu_algorithm_get_type, "GstCudaCclAlgorithm", gpu_algorithm_values)

static const GEnumValue device_choice_values[] = {
    {GST_CCL_DEVICE_CHOICE_SHARED, "The GPU of a neighbour's CUDA context, or else the first one",
        "shared"},
    {GST_CCL_DEVICE_CHOICE_LEAST_USED,
        "The GPU with the fewest elements of this process that label on it", "least-used"},
    {0, NULL, NULL},
};
GST_CCL_DEFINE_ENUM_TYPE (device_choice_get_type, "GstCudaCclDeviceChoice", device_choice_values)

static const GEnumValue attach_contours_values[] = {
    {GST_CCL_ATTACH_CONTOURS_NONE, "No contours", "none"},
    {GST_CCL_ATTACH_CONTOURS_PIXELS, "The pixels along the boundaries", "pixels"},
    {GST_CCL_ATTACH_CONTOURS_CRACKS, "The corners of the boundaries between pixels", "cracks"},
    {0, NULL, NULL},
};
GST_CCL_DEFINE_ENUM_TYPE (attach_contours_get_type, "GstCclAttachContours", attach_contours_values)

static const GFlagsValue attach_columns_values[] = {
    {GST_CCL_ATTACH_COLUMNS_MOMENTS,
        "Second central moments, and the axes, eccentricity and orientation that follow from them",
        "moments"},
    {GST_CCL_ATTACH_COLUMNS_PERIMETER, "The perimeter, by scikit-image's definition", "perimeter"},
    {GST_CCL_ATTACH_COLUMNS_TOPOLOGY, "Euler numbers (parts minus holes) and the crack length",
        "topology"},
    {GST_CCL_ATTACH_COLUMNS_LUMA,
        "Sum, extremes, mean, standard deviation and weighted centroid of the luma", "luma"},
    {GST_CCL_ATTACH_COLUMNS_COLOR, "The mean colour: the means of luma and chroma", "color"},
    {0, NULL, NULL},
};

static GType
attach_columns_get_type (void)
{
  static GType type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, g_flags_register_static ("GstCclAttachColumns", attach_columns_values));
  return type;
}

/* Marks of rows. */
enum {
  DESCRIBED = 1, /* determines what is foreground and how it is labelled: part of the description */
};

/* clang-format off */
#define FIELD(field) G_STRUCT_OFFSET (GstCclSettings, field)
#define PLAYING GST_CCL_CHANGES_IN_PLAYING
#define CONTROLLED GST_CCL_CONTROLLABLE
#define READY GST_CCL_CHANGES_IN_READY
#define BOTH (GST_CCL_BACKEND_CPU | GST_CCL_BACKEND_GPU)

const GstCclProperty gst_ccl_settings_properties[] = {
  {GST_CCL_KIND_ENUM, FIELD (foreground), "foreground", "Foreground",
      "How foreground is told from background; codebook for a camera that does not move, threshold "
      "for masks",
      0, 0, foreground_get_type, PLAYING, BOTH, DESCRIBED},
  {GST_CCL_KIND_UINT, FIELD (threshold), "threshold", "Threshold",
      "A pixel is foreground when its value is greater than this (foreground=threshold); 0 to 255 in "
      "formats of 8 bits; in GRAY16_LE, P010_10LE, P012_LE and P016_LE, 0 to 65535: the 16 bits as stored",
      0, 65535, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_BOOLEAN, FIELD (invert), "invert", "Invert",
      "Swap foreground and background; set it where objects are darker than their background",
      0, 0, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_ENUM, FIELD (denoise), "denoise", "Denoise",
      "The filter that removes noise from the foreground mask before labelling; median-5x5 for "
      "mog2; codebook has one of its own",
      0, 0, denoise_get_type, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_UINT, FIELD (closing_width), "closing-width", "Closing width",
      "Gaps in the foreground mask that are narrower than this number of pixels of the frame are "
      "filled after the noise filter (1 = none); raise it where an object has several components "
      "side by side",
      1, CUDACCL_MAX_CLOSING, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_UINT, FIELD (closing_height), "closing-height", "Closing height",
      "Gaps in the foreground mask that are lower than this number of pixels of the frame are "
      "filled after the noise filter (1 = none); raise it where an object has several components "
      "one above the other",
      1, CUDACCL_MAX_CLOSING, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_UINT, FIELD (history), "history", "History",
      "The number of frames that the background model averages over; raise it where objects that "
      "stop become background too soon (foreground=mog2)",
      1, G_MAXINT, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_DOUBLE, FIELD (var_threshold), "var-threshold", "Variance threshold",
      "A pixel is background up to this squared distance from the mean of a Gaussian, in units of "
      "its variance; raise it where noise is foreground, lower it where objects are missing "
      "(foreground=mog2)",
      (gdouble) G_MINFLOAT, (gdouble) G_MAXFLOAT, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_DOUBLE, FIELD (learning_rate), "learning-rate", "Learning rate",
      "The weight of a frame in the background model: 0 = the model does not change, 1 = the frame "
      "replaces it, negative = 1 / history; set it to 0 to keep a model that was learnt from an "
      "empty scene (foreground=mog2)",
      -1, 1, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_UINT, FIELD (mixtures), "mixtures", "Mixtures",
      "The largest number of Gaussians per pixel; lower it to save time where the background does "
      "not move (foreground=mog2)",
      1, 5, NULL, PLAYING, BOTH, DESCRIBED},
  {GST_CCL_KIND_ENUM, FIELD (shadows), "shadows", "Shadows",
      "How cast shadows are treated, pixels that are darker than the background but of its colour; "
      "choose keep where grey objects have holes (foreground=codebook and mog2)",
      0, 0, shadows_get_type, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_BOOLEAN, FIELD (light), "light", "Light",
      "Correct frames for changes of light before they are compared with the background, and post a "
      "message scene-change when the picture has become another one; switch it off where values are "
      "measurements, as of an infrared camera (foreground=codebook and mog2)",
      0, 0, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_UINT, FIELD (hold), "hold", "Hold",
      "The background model learns pixels that were foreground in the frame before this number of "
      "times slower than others; raise it where objects that stop must stay in the result for "
      "longer (foreground=codebook and mog2)",
      1, 16, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_UINT, FIELD (sensitivity), "sensitivity", "Sensitivity",
      "How faint an object may be, in percent: 200 finds objects that differ half as much from the "
      "background as those which 100 finds, 50 only those that differ twice as much. Raise it where "
      "people in clothes of the ground's colour are missed, lower it where shadows or reflections are "
      "found (foreground=codebook)",
      CUDACCL_MIN_SENSITIVITY, CUDACCL_MAX_SENSITIVITY, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_DOUBLE, FIELD (absorb_after), "absorb-after", "Absorb after",
      "The time in seconds after which an object that has stopped is background; half of it passes at "
      "least. 0: 6 seconds, `hold` times, which is 24 by default. Raise it where a car that parks, or "
      "a bag that was left, must stay in the result for longer (foreground=codebook)",
      0, 86400, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_DOUBLE, FIELD (warm_up), "warm-up", "Warm-up",
      "The time in seconds from the first frame of a background model on in which nothing is "
      "foreground; raise it where cameras need some seconds until their picture is good "
      "(foreground=codebook)",
      0, 3600, NULL, PLAYING, BOTH, DESCRIBED},
  {GST_CCL_KIND_ENUM, FIELD (reduction), "reduction", "Reduction",
      "The background model works on means of this number × this number of pixels, which takes less "
      "time and averages noise; choose less than auto for objects of only a few pixels "
      "(foreground=codebook and mog2)",
      0, 0, reduction_get_type, PLAYING, BOTH, DESCRIBED},
  {GST_CCL_KIND_STRING, FIELD (roi_mask), "roi-mask", "Region of interest mask",
      "Path of a PNG, PBM, PGM or PPM file, the region of interest mask, which is read at the "
      "start: pixels that are black or transparent in it are never foreground. A mask of another "
      "size is scaled to the frames. Set it where a street or a screen moves and does not matter",
      0, 0, NULL, READY, BOTH},
  {GST_CCL_KIND_STRING, FIELD (masks), "masks", "Masks",
      "Polygons in which nothing is foreground, in pixels or percent: \"mask NAME X,Y X,Y X,Y…\" with "
      "semicolons between them, such as \"mask street 0%,0% 100%,0% 100%,20% 0%,20%\". They may change while "
      "playing, without an effect on the background model; masks with a mistake are refused, and the former "
      "ones stay",
      0, 0, NULL, PLAYING, BOTH},
  {GST_CCL_KIND_ENUM, FIELD (connectivity), "connectivity", "Connectivity",
      "The pixels that are neighbours of each other; choose 4 where objects that touch only at "
      "corners are separate",
      0, 0, connectivity_get_type, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_ENUM, FIELD (algorithm), "algorithm", "Algorithm",
      "The labelling algorithm; it changes the time, not the result, so choose another than auto "
      "only to compare them",
      0, 0, cpu_algorithm_get_type, PLAYING, GST_CCL_BACKEND_CPU, DESCRIBED},
  {GST_CCL_KIND_ENUM, FIELD (algorithm), "algorithm", "Algorithm",
      "The labelling algorithm; it changes the time, not the result, so choose another than auto "
      "only to compare them",
      0, 0, gpu_algorithm_get_type, PLAYING, GST_CCL_BACKEND_GPU, DESCRIBED},
  {GST_CCL_KIND_UINT, FIELD (n_threads), "n-threads", "Number of threads",
      "The largest number of threads for labelling and for the background model (0 = as many as "
      "useful); set it to 1 where many streams share the processors",
      0, G_MAXINT, NULL, READY, GST_CCL_BACKEND_CPU},
  {GST_CCL_KIND_INT, FIELD (cuda_device_id), "cuda-device-id", "CUDA device ID",
      "The number of the GPU to label on; frames in the memory of another GPU are copied to it. -1 "
      "= the GPU that holds the frames; for frames in system memory, cuda-device-choice decides",
      -1, G_MAXINT, NULL, READY, GST_CCL_BACKEND_GPU},
  {GST_CCL_KIND_ENUM, FIELD (cuda_device_choice), "cuda-device-choice", "CUDA device choice",
      "Which GPU labels frames in system memory where cuda-device-id is -1; choose least-used to "
      "spread many streams over several GPUs",
      0, 0, device_choice_get_type, READY, GST_CCL_BACKEND_GPU},
  {GST_CCL_KIND_UINT, FIELD (min_area), "min-area", "Minimum area",
      "Components of fewer pixels become background; raise it where noise gives small components",
      0, CUDACCL_MAX_PIXELS, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_UINT, FIELD (max_area), "max-area", "Maximum area",
      "Components of more pixels become background (0 = no limit)",
      0, CUDACCL_MAX_PIXELS, NULL, CONTROLLED, BOTH, DESCRIBED},
  {GST_CCL_KIND_UINT, FIELD (max_components), "max-components", "Maximum components",
      "The largest number of rows of the component table. The table of a frame with more components "
      "has the first ones and is marked as truncated; raise it where messages or JSON say so",
      1, CUDACCL_MAX_PIXELS, NULL, PLAYING, BOTH, DESCRIBED},
  {GST_CCL_KIND_FLAGS, FIELD (meta), "meta", "Metadata",
      "The kinds of metadata that are attached to a frame; choose what the elements downstream read",
      0, 0, gst_ccl_meta_flags_get_type, PLAYING, BOTH},
  {GST_CCL_KIND_BOOLEAN, FIELD (attach_labels), "attach-labels", "Attach labels",
      "Attach the label map to the GstCclMeta; ccloverlay needs it to paint components. It costs time "
      "for each pixel",
      0, 0, NULL, PLAYING, BOTH},
  {GST_CCL_KIND_BOOLEAN, FIELD (attach_mask), "attach-mask", "Attach mask",
      "Attach the foreground mask to the GstCclMeta; ccloverlay needs it to paint the mask",
      0, 0, NULL, PLAYING, BOTH},
  {GST_CCL_KIND_ENUM, FIELD (attach_contours), "attach-contours", "Attach contours",
      "Attach the contours of the components to the GstCclMeta, outer boundaries and holes as closed "
      "polygons; ccljson writes them, and ccloverlay draws them with style=outline. It costs time for "
      "each pixel, with cudaccl also a download of the label map",
      0, 0, attach_contours_get_type, PLAYING, BOTH},
  {GST_CCL_KIND_DOUBLE, FIELD (contour_tolerance), "contour-tolerance", "Contour tolerance",
      "Leave out points of contours that are no farther than this number of pixels from the edge that "
      "replaces them (0 = points on straight lines only, negative = none); raise it for shorter "
      "polygons (attach-contours=pixels and cracks)",
      -1, G_MAXINT, NULL, PLAYING, BOTH},
  {GST_CCL_KIND_FLAGS, FIELD (attach_columns), "attach-columns", "Attach columns",
      "Attach further measurements of the components to the GstCclMeta, of their shape, their luma "
      "and their colour; ccljson writes them. Frames may have at most 65536 pixels in width and "
      "height. color, and luma in packed formats, are measured on the CPU, with cudaccl from a "
      "download of the frame and its label map",
      0, 0, attach_columns_get_type, PLAYING, BOTH},
  {GST_CCL_KIND_BOOLEAN, FIELD (post_messages), "post-messages", "Post messages",
      "Post an element message with the components of each frame, for applications that do not read "
      "metadata",
      0, 0, NULL, PLAYING, BOTH},
  {GST_CCL_KIND_BOOLEAN, FIELD (post_motion), "post-motion", "Post motion",
      "Post an element message motion-begin after min-frames frames with components that move, and "
      "motion-end after quiet-time without any; with foreground=codebook, components whose pixels do "
      "not change do not move",
      0, 0, NULL, PLAYING, BOTH},
  {GST_CCL_KIND_UINT, FIELD (min_frames), "min-frames", "Minimum frames",
      "The number of frames with components that move after which motion begins; raise it where "
      "noise begins motions (post-motion=true)",
      1, G_MAXINT, NULL, PLAYING, BOTH},
  {GST_CCL_KIND_DOUBLE, FIELD (quiet_time), "quiet-time", "Quiet time",
      "The time in seconds without components that move after which motion ends; raise it where one motion is "
      "reported as several (post-motion=true)",
      0, G_MAXINT, NULL, PLAYING, BOTH},
  {GST_CCL_KIND_STATS, 0, "stats", "Statistics",
      "Counts since the start: labelled frames, their components, and frames that were dropped "
      "because they were late; mean and 99th percentile of the labelling time in nanoseconds",
      0, 0, NULL, 0, BOTH},
};
/* clang-format on */

const guint gst_ccl_settings_n_properties = G_N_ELEMENTS (gst_ccl_settings_properties);

/* Settings of the library have the library's defaults. */
void
gst_ccl_settings_init (GstCclSettings *settings)
{
  const CclLabellerPlan plan = CUDACCL_LABELLER_PLAN_DEFAULT;
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  const CclForegroundPlan foreground_plan = CUDACCL_FOREGROUND_PLAN_DEFAULT;
  const CclForegroundOptions foreground = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;

  *settings = (GstCclSettings){
      .foreground = (gint)foreground_plan.method,
      .threshold = options.threshold,
      .invert = options.invert,
      .denoise = (gint)foreground.denoise,
      .closing_width = foreground.closing_width,
      .closing_height = foreground.closing_height,
      .history = foreground.history,
      .mixtures = foreground.mixtures,
      .var_threshold = foreground.var_threshold,
      .learning_rate = foreground.learning_rate,
      .shadows = (gint)foreground.shadows,
      .light = foreground.light,
      .hold = foreground.hold,
      .sensitivity = foreground.sensitivity,
      .reduction = (gint)foreground_plan.reduction,
      .connectivity = (gint)plan.connectivity,
      .algorithm = ALGORITHM_AUTO,
      .min_area = options.min_area,
      .max_area = options.max_area,
      .max_components = plan.max_components,
      .n_threads = plan.n_threads,
      .cuda_device_id = -1,
      .cuda_device_choice = GST_CCL_DEVICE_CHOICE_SHARED,
      .meta = GST_CCL_META_FLAG_CCL,
      .attach_contours = GST_CCL_ATTACH_CONTOURS_NONE,
      .contour_tolerance = -1,
      .attach_columns = 0,
      .min_frames = 3,
      .quiet_time = 5,
  };
}

void
gst_ccl_settings_install (GObjectClass *object_class, GstCclBackend backend)
{
  GstCclSettings initial;

  gst_ccl_settings_init (&initial);
  gst_ccl_properties_install (
      object_class, gst_ccl_settings_properties, gst_ccl_settings_n_properties, backend, &initial);
}

CclLabellerOptions
gst_ccl_settings_get_options (const GstCclSettings *settings)
{
  return (CclLabellerOptions){
      .threshold = settings->threshold,
      .invert = settings->invert,
      .min_area = settings->min_area,
      .max_area = settings->max_area,
  };
}

CclForegroundOptions
gst_ccl_settings_get_foreground_options (const GstCclSettings *settings)
{
  return (CclForegroundOptions){
      .size = sizeof (CclForegroundOptions),
      .threshold = settings->threshold,
      .invert = settings->invert,
      .denoise = (CclDenoise)settings->denoise,
      .closing_width = settings->closing_width,
      .closing_height = settings->closing_height,
      .history = settings->history,
      .var_threshold = (gfloat)settings->var_threshold,
      .learning_rate = settings->learning_rate,
      .mixtures = settings->mixtures,
      .shadows = (CclShadows)settings->shadows,
      .light = settings->light,
      .hold = settings->hold,
      .sensitivity = settings->sensitivity,
      .warm_up = (guint64)(settings->warm_up * GST_SECOND),
      .absorb_after = (guint64)(settings->absorb_after * GST_SECOND),
  };
}

/* The name of a value of an enumeration. */
static const gchar *
nick_of (const GstCclProperty *row, gint value)
{
  g_autoptr (GEnumClass) klass = g_type_class_ref (row->get_type ());

  return g_enum_get_value (klass, value)->value_nick; /* a static string */
}

static void
describe (const GstCclProperty *row, const GstCclSettings *settings, GstStructure *description)
{
  gconstpointer field = G_STRUCT_MEMBER_P (settings, row->offset);

  switch (row->kind) {
  case GST_CCL_KIND_BOOLEAN:
    gst_structure_set (description, row->name, G_TYPE_BOOLEAN, *(const gboolean *)field, NULL);
    break;
  case GST_CCL_KIND_UINT:
    gst_structure_set (description, row->name, G_TYPE_UINT, *(const guint *)field, NULL);
    break;
  case GST_CCL_KIND_INT:
    gst_structure_set (description, row->name, G_TYPE_INT, *(const gint *)field, NULL);
    break;
  case GST_CCL_KIND_DOUBLE:
    gst_structure_set (description, row->name, G_TYPE_DOUBLE, *(const gdouble *)field, NULL);
    break;
  case GST_CCL_KIND_ENUM:
    gst_structure_set (
        description, row->name, G_TYPE_STRING, nick_of (row, *(const gint *)field), NULL);
    break;
  default:
    g_return_if_reached ();
  }
}

GstStructure *
gst_ccl_settings_describe (const GstCclSettings *settings, GstCclBackend backend)
{
  GstStructure *description =
      gst_structure_new_empty (backend == GST_CCL_BACKEND_CPU ? "ccl" : "cudaccl");

  for (guint i = 0; i < gst_ccl_settings_n_properties; i++)
    if (gst_ccl_settings_properties[i].marks & DESCRIBED &&
        (gst_ccl_settings_properties[i].classes & backend))
      describe (&gst_ccl_settings_properties[i], settings, description);
  return description;
}

gboolean
gst_ccl_settings_give_same_result (const GstCclSettings *a, const GstCclSettings *b)
{
  for (guint i = 0; i < gst_ccl_settings_n_properties; i++) {
    const GstCclProperty *row = &gst_ccl_settings_properties[i];
    const gsize size = row->kind == GST_CCL_KIND_DOUBLE ? sizeof (gdouble) : sizeof (gint);

    if (row->marks & DESCRIBED &&
        memcmp (G_STRUCT_MEMBER_P (a, row->offset), G_STRUCT_MEMBER_P (b, row->offset), size))
      return FALSE;
  }
  return TRUE;
}

/* The name of the property's value, also of one that is no longer offered. */
static const gchar *
chosen_algorithm (const GstCclSettings *settings, GstCclBackend backend)
{
  return (backend == GST_CCL_BACKEND_CPU ? cpu_algorithm_values
                                         : gpu_algorithm_values)[settings->algorithm]
      .value_nick;
}

static gboolean
is_offered (const gchar *algorithm, GstCclBackend backend)
{
  return g_strv_contains (
      backend == GST_CCL_BACKEND_CPU ? ccl_cpu_algorithms () : ccl_cuda_algorithms (), algorithm);
}

const gchar *
gst_ccl_settings_get_algorithm (const GstCclSettings *settings, GstCclBackend backend)
{
  const gchar *algorithm = chosen_algorithm (settings, backend);

  return is_offered (algorithm, backend) ? algorithm : NULL;
}

const gchar *
gst_ccl_settings_get_former_algorithm (const GstCclSettings *settings, GstCclBackend backend)
{
  const gchar *algorithm = chosen_algorithm (settings, backend);

  return settings->algorithm == ALGORITHM_AUTO || is_offered (algorithm, backend) ? NULL
                                                                                  : algorithm;
}
