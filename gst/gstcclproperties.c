/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclproperties.h"

#include <string.h>

#include "gstcclattach.h"

/* Defines a function that registers an enumeration when it is first called. Applications store the
 * numbers of values, so each one is explicit and must never change. */
#define DEFINE_ENUM_TYPE(function, type_name, values)                                              \
  static GType function (void)                                                                     \
  {                                                                                                \
    static GType type = 0;                                                                         \
                                                                                                   \
    if (g_once_init_enter (&type))                                                                 \
      g_once_init_leave (&type, g_enum_register_static (type_name, values));                       \
    return type;                                                                                   \
  }

static const GEnumValue foreground_values[] = {
    {CCL_FOREGROUND_THRESHOLD, "Pixels greater than the property threshold", "threshold"},
    {CCL_FOREGROUND_OTSU, "Pixels greater than a threshold that Otsu's method chooses per frame",
        "otsu"},
    {CCL_FOREGROUND_MOG2, "Background subtraction with a mixture of Gaussians (MOG2)", "mog2"},
    {0, NULL, NULL},
};
DEFINE_ENUM_TYPE (foreground_get_type, "GstCclForeground", foreground_values)

static const GEnumValue denoise_values[] = {
    {CCL_DENOISE_NONE, "No filter", "none"},
    {CCL_DENOISE_MEDIAN_3, "Median filter, 3×3 pixels", "median-3x3"},
    {CCL_DENOISE_MEDIAN_5, "Median filter, 5×5 pixels", "median-5x5"},
    {CCL_DENOISE_OPENING_3, "Opening (erosion, then dilation), 3×3 pixels", "opening-3x3"},
    {CCL_DENOISE_OPENING_5, "Opening (erosion, then dilation), 5×5 pixels", "opening-5x5"},
    {0, NULL, NULL},
};
DEFINE_ENUM_TYPE (denoise_get_type, "GstCclDenoise", denoise_values)

static const GEnumValue shadows_values[] = {
    {CCL_SHADOWS_KEEP, "Shadows are foreground", "keep"},
    {CCL_SHADOWS_MARK, "Shadows are background, and marked in the attached mask", "mark"},
    {CCL_SHADOWS_REMOVE, "Shadows are background", "remove"},
    {0, NULL, NULL},
};
DEFINE_ENUM_TYPE (shadows_get_type, "GstCclShadows", shadows_values)

static const GEnumValue connectivity_values[] = {
    {CCL_CONNECTIVITY_4, "Pixels that share an edge are neighbours", "4"},
    {CCL_CONNECTIVITY_8, "Pixels that share an edge or a corner are neighbours", "8"},
    {0, NULL, NULL},
};
DEFINE_ENUM_TYPE (connectivity_get_type, "GstCclConnectivity", connectivity_values)

#define ALGORITHM_AUTO 0

static const GEnumValue cpu_algorithm_values[] = {
    {ALGORITHM_AUTO, "The fastest one that offers the connectivity", "auto"},
    {1, "Runs: connects runs of foreground pixels", "runs"},
    {2, "BBDT: block-based scan with a decision tree", "bbdt"},
    {3, "DRAG: block-based scan with a directed rooted acyclic graph", "drag"},
    {4, "SAUF: pixel-based scan with an array-based union-find", "sauf"},
    {0, NULL, NULL},
};
DEFINE_ENUM_TYPE (cpu_algorithm_get_type, "GstCclAlgorithm", cpu_algorithm_values)

static const GEnumValue gpu_algorithm_values[] = {
    {ALGORITHM_AUTO, "The fastest one that offers the connectivity", "auto"},
    {1, "Strips: connects runs of foreground pixels in horizontal strips", "strips"},
    {2, "BKE: block-based Komura equivalence; 8-connectivity only", "bke"},
    {3, "KE: Komura equivalence", "ke"},
    {0, NULL, NULL},
};
DEFINE_ENUM_TYPE (gpu_algorithm_get_type, "GstCudaCclAlgorithm", gpu_algorithm_values)

static const GEnumValue device_choice_values[] = {
    {GST_CCL_DEVICE_CHOICE_SHARED, "The GPU of a neighbour's CUDA context, or else the first one",
        "shared"},
    {GST_CCL_DEVICE_CHOICE_LEAST_USED,
        "The GPU with the fewest elements of this process that label on it", "least-used"},
    {0, NULL, NULL},
};
DEFINE_ENUM_TYPE (device_choice_get_type, "GstCudaCclDeviceChoice", device_choice_values)

typedef enum {
  KIND_BOOLEAN, /* gboolean */
  KIND_UINT,    /* guint */
  KIND_INT,     /* gint */
  KIND_DOUBLE,  /* gdouble */
  KIND_ENUM,    /* gint */
  KIND_FLAGS,   /* guint */
  KIND_PATH,    /* gchar *, default NULL */
  KIND_STATS,   /* a GstStructure without a field, read-only */
} Kind;

typedef struct {
  Kind kind;
  gsize offset; /* of the field in GstCclSettings */
  const gchar *name, *nick, *blurb;
  gdouble minimum, maximum, initial; /* initial: the default */
  GType (*get_type) (void);          /* KIND_ENUM and KIND_FLAGS */
  GParamFlags flags;                 /* in addition to those of its kind */
  guint backends;                    /* GstCclBackend */
} Property;

/* clang-format off */
#define FIELD(field) G_STRUCT_OFFSET (GstCclSettings, field)
#define PLAYING GST_PARAM_MUTABLE_PLAYING
#define CONTROLLED (GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE)
#define READY GST_PARAM_MUTABLE_READY
#define BOTH (GST_CCL_BACKEND_CPU | GST_CCL_BACKEND_GPU)

/* The property at index i has the number i + 1. */
static const Property properties[] = {
  {KIND_ENUM, FIELD (foreground), "foreground", "Foreground",
      "The method that separates foreground from background",
      0, 0, CCL_FOREGROUND_THRESHOLD, foreground_get_type, PLAYING, BOTH},
  {KIND_UINT, FIELD (threshold), "threshold", "Threshold",
      "A pixel is foreground when its value is greater than this (foreground=threshold); 0 to 255 in "
      "formats of 8 bits; in GRAY16_LE, P010_10LE, P012_LE and P016_LE, 0 to 65535: the 16 bits as stored",
      0, 65535, 0, NULL, CONTROLLED, BOTH},
  {KIND_BOOLEAN, FIELD (invert), "invert", "Invert",
      "Swap foreground and background",
      0, 0, FALSE, NULL, CONTROLLED, BOTH},
  {KIND_ENUM, FIELD (denoise), "denoise", "Denoise",
      "The filter that removes noise from the foreground mask before labelling",
      0, 0, CCL_DENOISE_NONE, denoise_get_type, CONTROLLED, BOTH},
  {KIND_UINT, FIELD (closing_width), "closing-width", "Closing width",
      "Gaps in the foreground mask that are narrower than this number of pixels are filled after the "
      "noise filter (1 = none)",
      1, CCL_MAX_CLOSING, 1, NULL, CONTROLLED, BOTH},
  {KIND_UINT, FIELD (closing_height), "closing-height", "Closing height",
      "Gaps in the foreground mask that are lower than this number of pixels are filled after the "
      "noise filter (1 = none)",
      1, CCL_MAX_CLOSING, 1, NULL, CONTROLLED, BOTH},
  {KIND_UINT, FIELD (history), "history", "History",
      "The time constant of the background model in frames (foreground=mog2)",
      1, G_MAXINT, 500, NULL, CONTROLLED, BOTH},
  {KIND_DOUBLE, FIELD (var_threshold), "var-threshold", "Variance threshold",
      "A pixel is background up to this squared distance from the mean of a Gaussian, in units of "
      "its variance (foreground=mog2)",
      (gdouble) G_MINFLOAT, (gdouble) G_MAXFLOAT, 9, NULL, CONTROLLED, BOTH},
  {KIND_DOUBLE, FIELD (learning_rate), "learning-rate", "Learning rate",
      "The weight of a frame in the background model: 0 keeps the model, 1 replaces it by the "
      "frame, negative values select 1 / history (foreground=mog2)",
      -1, 1, -1, NULL, CONTROLLED, BOTH},
  {KIND_UINT, FIELD (mixtures), "mixtures", "Mixtures",
      "The largest number of Gaussians per pixel (foreground=mog2)",
      1, 5, 5, NULL, PLAYING, BOTH},
  {KIND_ENUM, FIELD (shadows), "shadows", "Shadows",
      "How cast shadows are treated: pixels that are darker than the background but of its colour "
      "(foreground=mog2)",
      0, 0, CCL_SHADOWS_REMOVE, shadows_get_type, CONTROLLED, BOTH},
  {KIND_BOOLEAN, FIELD (light), "light", "Light",
      "Compare frames with the background in the light of the frame, and post a message "
      "scene-change when light does not explain a frame (foreground=mog2)",
      0, 0, TRUE, NULL, CONTROLLED, BOTH},
  {KIND_UINT, FIELD (hold), "hold", "Hold",
      "Foreground becomes background this number of times slower (foreground=mog2)",
      1, 16, 4, NULL, CONTROLLED, BOTH},
  {KIND_PATH, FIELD (roi_mask), "roi-mask", "Region of interest mask",
      "Path of a PNG, PBM, PGM or PPM file, which is read at the start: where it is black or "
      "transparent, frames have no foreground. A mask of another size is scaled to the frames",
      0, 0, 0, NULL, READY, BOTH},
  {KIND_ENUM, FIELD (connectivity), "connectivity", "Connectivity",
      "The pixels that are neighbours of each other",
      0, 0, CCL_CONNECTIVITY_8, connectivity_get_type, CONTROLLED, BOTH},
  {KIND_ENUM, FIELD (algorithm), "algorithm", "Algorithm",
      "The labelling algorithm; the output does not depend on it",
      0, 0, ALGORITHM_AUTO, cpu_algorithm_get_type, PLAYING, GST_CCL_BACKEND_CPU},
  {KIND_ENUM, FIELD (algorithm), "algorithm", "Algorithm",
      "The labelling algorithm; the output does not depend on it",
      0, 0, ALGORITHM_AUTO, gpu_algorithm_get_type, PLAYING, GST_CCL_BACKEND_GPU},
  {KIND_UINT, FIELD (n_threads), "n-threads", "Number of threads",
      "The largest number of threads for labelling and for the background model "
      "(0 = as many as useful)",
      0, G_MAXINT, 0, NULL, READY, GST_CCL_BACKEND_CPU},
  {KIND_INT, FIELD (cuda_device_id), "cuda-device-id", "CUDA device ID",
      "The number of the GPU; frames in the memory of another one are copied (-1 = that which "
      "holds the frames, or else that of cuda-device-choice)",
      -1, G_MAXINT, -1, NULL, READY, GST_CCL_BACKEND_GPU},
  {KIND_ENUM, FIELD (cuda_device_choice), "cuda-device-choice", "CUDA device choice",
      "The GPU for frames in system memory where cuda-device-id is -1",
      0, 0, GST_CCL_DEVICE_CHOICE_SHARED, device_choice_get_type, READY, GST_CCL_BACKEND_GPU},
  {KIND_UINT, FIELD (min_area), "min-area", "Minimum area",
      "Components of fewer pixels become background",
      0, G_MAXUINT, 1, NULL, CONTROLLED, BOTH},
  {KIND_UINT, FIELD (max_area), "max-area", "Maximum area",
      "Components of more pixels become background (0 = no limit)",
      0, G_MAXUINT, 0, NULL, CONTROLLED, BOTH},
  {KIND_UINT, FIELD (max_components), "max-components", "Maximum components",
      "The largest number of rows of the component table. The table of a frame with more "
      "components has the first ones and is marked as truncated",
      1, CCL_MAX_PIXELS, 4096, NULL, PLAYING, BOTH},
  {KIND_FLAGS, FIELD (meta), "meta", "Metadata",
      "The kinds of metadata that the element attaches to a frame",
      0, 0, GST_CCL_META_FLAG_CCL, gst_ccl_meta_flags_get_type, PLAYING, BOTH},
  {KIND_BOOLEAN, FIELD (attach_labels), "attach-labels", "Attach labels",
      "Attach the label map to the GstCclMeta",
      0, 0, FALSE, NULL, PLAYING, BOTH},
  {KIND_BOOLEAN, FIELD (attach_mask), "attach-mask", "Attach mask",
      "Attach the foreground mask to the GstCclMeta",
      0, 0, FALSE, NULL, PLAYING, BOTH},
  {KIND_BOOLEAN, FIELD (post_messages), "post-messages", "Post messages",
      "Post an element message with the components of each frame",
      0, 0, FALSE, NULL, PLAYING, BOTH},
  {KIND_BOOLEAN, FIELD (post_motion), "post-motion", "Post motion",
      "Post an element message motion-begin after min-frames consecutive frames with components, and "
      "motion-end after quiet-time without components",
      0, 0, FALSE, NULL, PLAYING, BOTH},
  {KIND_UINT, FIELD (min_frames), "min-frames", "Minimum frames",
      "The number of consecutive frames with components after which motion begins",
      1, G_MAXINT, 3, NULL, PLAYING, BOTH},
  {KIND_DOUBLE, FIELD (quiet_time), "quiet-time", "Quiet time",
      "The time in seconds without components after which motion ends",
      0, G_MAXINT, 5, NULL, PLAYING, BOTH},
  {KIND_STATS, 0, "stats", "Statistics",
      "Counts since the start: labelled frames, their components, and frames that were dropped "
      "because they were late; mean and 99th percentile of the labelling time in nanoseconds",
      0, 0, 0, NULL, 0, BOTH},
};
/* clang-format on */

/* The type of a value that gst_ccl_settings_get() fills in. */
static GType
value_type (const Property *p)
{
  switch (p->kind) {
  case KIND_BOOLEAN:
    return G_TYPE_BOOLEAN;
  case KIND_UINT:
    return G_TYPE_UINT;
  case KIND_INT:
    return G_TYPE_INT;
  case KIND_DOUBLE:
    return G_TYPE_DOUBLE;
  case KIND_ENUM:
  case KIND_FLAGS:
    return p->get_type ();
  case KIND_PATH:
    return G_TYPE_STRING;
  case KIND_STATS:
    return GST_TYPE_STRUCTURE;
  }
  g_return_val_if_reached (G_TYPE_INVALID);
}

static GParamSpec *
make_spec (const Property *p)
{
  const GParamFlags flags = p->flags | G_PARAM_STATIC_STRINGS |
                            (p->kind == KIND_STATS ? G_PARAM_READABLE : G_PARAM_READWRITE);

  switch (p->kind) {
  case KIND_BOOLEAN:
    return g_param_spec_boolean (p->name, p->nick, p->blurb, p->initial != 0, flags);
  case KIND_UINT:
    return g_param_spec_uint (
        p->name, p->nick, p->blurb, (guint)p->minimum, (guint)p->maximum, (guint)p->initial, flags);
  case KIND_INT:
    return g_param_spec_int (
        p->name, p->nick, p->blurb, (gint)p->minimum, (gint)p->maximum, (gint)p->initial, flags);
  case KIND_DOUBLE:
    return g_param_spec_double (
        p->name, p->nick, p->blurb, p->minimum, p->maximum, p->initial, flags);
  case KIND_ENUM:
    return g_param_spec_enum (p->name, p->nick, p->blurb, p->get_type (), (gint)p->initial, flags);
  case KIND_FLAGS:
    return g_param_spec_flags (
        p->name, p->nick, p->blurb, p->get_type (), (guint)p->initial, flags);
  case KIND_PATH:
    return g_param_spec_string (p->name, p->nick, p->blurb, NULL, flags);
  case KIND_STATS:
    return g_param_spec_boxed (p->name, p->nick, p->blurb, GST_TYPE_STRUCTURE, flags);
  }
  g_return_val_if_reached (NULL);
}

void
gst_ccl_properties_install (GObjectClass *object_class, GstCclBackend backend)
{
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    const Property *p = &properties[i];

    if (!(p->backends & backend))
      continue;
    g_object_class_install_property (object_class, i + 1, make_spec (p));
    if (p->get_type)
      gst_type_mark_as_plugin_api (p->get_type (), 0);
  }
}

void
gst_ccl_settings_init (GstCclSettings *settings)
{
  for (const Property *p = properties; p < properties + G_N_ELEMENTS (properties); p++) {
    gpointer field = G_STRUCT_MEMBER_P (settings, p->offset);

    switch (p->kind) {
    case KIND_BOOLEAN:
    case KIND_INT:
    case KIND_ENUM:
      *(gint *)field = (gint)p->initial;
      break;
    case KIND_UINT:
    case KIND_FLAGS:
      *(guint *)field = (guint)p->initial;
      break;
    case KIND_DOUBLE:
      *(gdouble *)field = p->initial;
      break;
    case KIND_PATH:
      *(gchar **)field = NULL;
      break;
    case KIND_STATS:
      break;
    }
  }
}

void
gst_ccl_settings_clear (GstCclSettings *settings)
{
  g_clear_pointer (&settings->roi_mask, g_free);
}

void
gst_ccl_settings_set (GstCclSettings *settings, guint id, const GValue *value)
{
  const Property *p = &properties[id - 1];
  gpointer field = G_STRUCT_MEMBER_P (settings, p->offset);

  switch (p->kind) {
  case KIND_BOOLEAN:
    *(gboolean *)field = g_value_get_boolean (value);
    break;
  case KIND_UINT:
    *(guint *)field = g_value_get_uint (value);
    break;
  case KIND_INT:
    *(gint *)field = g_value_get_int (value);
    break;
  case KIND_DOUBLE:
    *(gdouble *)field = g_value_get_double (value);
    break;
  case KIND_ENUM:
    *(gint *)field = g_value_get_enum (value);
    break;
  case KIND_FLAGS:
    *(guint *)field = g_value_get_flags (value);
    break;
  case KIND_PATH:
    g_free (*(gchar **)field);
    *(gchar **)field = g_value_dup_string (value);
    break;
  case KIND_STATS:
    break;
  }
}

gboolean
gst_ccl_settings_get (const GstCclSettings *settings, guint id, GValue *value)
{
  const Property *p = &properties[id - 1];
  gconstpointer field = G_STRUCT_MEMBER_P (settings, p->offset);

  switch (p->kind) {
  case KIND_BOOLEAN:
    g_value_set_boolean (value, *(const gboolean *)field);
    return TRUE;
  case KIND_UINT:
    g_value_set_uint (value, *(const guint *)field);
    return TRUE;
  case KIND_INT:
    g_value_set_int (value, *(const gint *)field);
    return TRUE;
  case KIND_DOUBLE:
    g_value_set_double (value, *(const gdouble *)field);
    return TRUE;
  case KIND_ENUM:
    g_value_set_enum (value, *(const gint *)field);
    return TRUE;
  case KIND_FLAGS:
    g_value_set_flags (value, *(const guint *)field);
    return TRUE;
  case KIND_PATH:
    g_value_set_string (value, *(gchar *const *)field);
    return TRUE;
  case KIND_STATS:
    break;
  }
  return FALSE;
}

CclOptions
gst_ccl_settings_get_options (const GstCclSettings *settings)
{
  return (CclOptions){
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
  };
}

/* Fields of foreground and labelling, which come first in GstCclSettings, but no paths. */
static gboolean
determines_result (const Property *p)
{
  return p->kind != KIND_STATS && p->kind != KIND_PATH && p->offset <= FIELD (max_components);
}

GstStructure *
gst_ccl_settings_describe (const GstCclSettings *settings, GstCclBackend backend)
{
  GstStructure *description =
      gst_structure_new_empty (backend == GST_CCL_BACKEND_CPU ? "ccl" : "cudaccl");

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    const Property *p = &properties[i];
    GValue value = G_VALUE_INIT;

    if (!determines_result (p) || !(p->backends & backend))
      continue;
    g_value_init (&value, value_type (p));
    gst_ccl_settings_get (settings, i + 1, &value);
    if (p->kind == KIND_ENUM) {
      GEnumClass *klass = g_type_class_ref (G_VALUE_TYPE (&value));
      const gchar *nick = g_enum_get_value (klass, g_value_get_enum (&value))->value_nick;
      gst_structure_set (description, p->name, G_TYPE_STRING, nick, NULL);
      g_type_class_unref (klass);
    } else {
      gst_structure_set_value (description, p->name, &value);
    }
    g_value_unset (&value);
  }
  return description;
}

gboolean
gst_ccl_settings_give_same_result (const GstCclSettings *a, const GstCclSettings *b)
{
  for (const Property *p = properties; p < properties + G_N_ELEMENTS (properties); p++)
    if (determines_result (p) &&
        memcmp (G_STRUCT_MEMBER_P (a, p->offset), G_STRUCT_MEMBER_P (b, p->offset),
            p->kind == KIND_DOUBLE ? sizeof (gdouble) : sizeof (gint)))
      return FALSE;
  return TRUE;
}

const gchar *
gst_ccl_settings_get_algorithm (const GstCclSettings *settings, GstCclBackend backend)
{
  const GEnumValue *value =
      backend == GST_CCL_BACKEND_CPU ? cpu_algorithm_values : gpu_algorithm_values;

  for (; value->value_nick; value++)
    if (value->value == settings->algorithm && value->value != ALGORITHM_AUTO)
      return value->value_nick;
  return NULL;
}
