/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclforeground.h"

enum {
  PROP_FOREGROUND = 100,
  PROP_HISTORY,
  PROP_VAR_THRESHOLD,
  PROP_LEARNING_RATE,
  PROP_MIXTURES,
  PROP_DENOISE,
  PROP_ATTACH_MASK,
};

#define DEFAULT_FOREGROUND CCL_FOREGROUND_THRESHOLD
#define DEFAULT_DENOISE CCL_DENOISE_NONE
#define DEFAULT_ATTACH_MASK FALSE
/* Those of OpenCV's BackgroundSubtractorMOG2. */
#define DEFAULT_HISTORY 500
#define DEFAULT_VAR_THRESHOLD 16.0
#define DEFAULT_LEARNING_RATE -1.0
#define DEFAULT_MIXTURES 5

#define PROPERTY_FLAGS (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

#define GST_TYPE_CCL_FOREGROUND (gst_ccl_foreground_get_type ())

static GType
gst_ccl_foreground_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
      {CCL_FOREGROUND_THRESHOLD, "Pixels greater than the property threshold", "threshold"},
      {CCL_FOREGROUND_OTSU,
          "Pixels greater than a threshold chosen for each frame by Otsu's method", "otsu"},
      {CCL_FOREGROUND_MOG2, "Pixels that a model of the background does not explain", "mog2"},
      {0, NULL, NULL},
  };

  if (g_once_init_enter (&type)) {
    GType registered = g_enum_register_static ("GstCclForeground", values);
    g_once_init_leave (&type, registered);
  }
  return type;
}

#define GST_TYPE_CCL_DENOISE (gst_ccl_denoise_get_type ())

static GType
gst_ccl_denoise_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
      {CCL_DENOISE_NONE, "The mask as it is", "none"},
      {CCL_DENOISE_MEDIAN_3, "What most of 3×3 pixels are", "median-3x3"},
      {CCL_DENOISE_MEDIAN_5, "What most of 5×5 pixels are", "median-5x5"},
      {CCL_DENOISE_OPENING_3, "Erosion, then dilation, by 3×3 pixels", "opening-3x3"},
      {CCL_DENOISE_OPENING_5, "Erosion, then dilation, by 5×5 pixels", "opening-5x5"},
      {0, NULL, NULL},
  };

  if (g_once_init_enter (&type)) {
    GType registered = g_enum_register_static ("GstCclDenoise", values);
    g_once_init_leave (&type, registered);
  }
  return type;
}

void
gst_ccl_foreground_install_properties (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, PROP_FOREGROUND,
      g_param_spec_enum ("foreground", "Foreground", "What makes a pixel foreground",
          GST_TYPE_CCL_FOREGROUND, DEFAULT_FOREGROUND, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_HISTORY,
      g_param_spec_uint ("history", "History",
          "How many frames the model of the background remembers (foreground=mog2)", 1, G_MAXINT,
          DEFAULT_HISTORY, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_VAR_THRESHOLD,
      g_param_spec_double ("var-threshold", "Variance threshold",
          "Squared distance from the background, in its variances, above which a pixel is "
          "foreground (foreground=mog2)",
          G_MINFLOAT, G_MAXFLOAT, DEFAULT_VAR_THRESHOLD, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_LEARNING_RATE,
      g_param_spec_double ("learning-rate", "Learning rate",
          "How far a frame moves the model of the background: 0 = not at all, 1 = to that frame, "
          "negative = by the history (foreground=mog2)",
          -1.0, 1.0, DEFAULT_LEARNING_RATE, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_MIXTURES,
      g_param_spec_uint ("mixtures", "Mixtures",
          "How many Gaussians may model a pixel of the background (foreground=mog2)", 1, 5,
          DEFAULT_MIXTURES, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_DENOISE,
      g_param_spec_enum ("denoise", "Denoise", "What takes specks off the mask before labelling",
          GST_TYPE_CCL_DENOISE, DEFAULT_DENOISE, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_ATTACH_MASK,
      g_param_spec_boolean ("attach-mask", "Attach mask",
          "Attach the mask that was labelled to the GstCclMeta", DEFAULT_ATTACH_MASK,
          PROPERTY_FLAGS));

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_FOREGROUND, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_DENOISE, 0);
}

void
gst_ccl_foreground_settings_init (GstCclForegroundSettings *settings)
{
  *settings = (GstCclForegroundSettings){
      .method = DEFAULT_FOREGROUND,
      .options =
          {
              .denoise = DEFAULT_DENOISE,
              .history = DEFAULT_HISTORY,
              .var_threshold = DEFAULT_VAR_THRESHOLD,
              .learning_rate = DEFAULT_LEARNING_RATE,
              .mixtures = DEFAULT_MIXTURES,
          },
      .attach_mask = DEFAULT_ATTACH_MASK,
  };
}

gboolean
gst_ccl_foreground_set_property (GstCclForegroundSettings *settings, guint id, const GValue *value)
{
  switch (id) {
  case PROP_FOREGROUND:
    settings->method = g_value_get_enum (value);
    return TRUE;
  case PROP_HISTORY:
    settings->options.history = g_value_get_uint (value);
    return TRUE;
  case PROP_VAR_THRESHOLD:
    settings->options.var_threshold = (gfloat)g_value_get_double (value);
    return TRUE;
  case PROP_LEARNING_RATE:
    settings->options.learning_rate = g_value_get_double (value);
    return TRUE;
  case PROP_MIXTURES:
    settings->options.mixtures = g_value_get_uint (value);
    return TRUE;
  case PROP_DENOISE:
    settings->options.denoise = g_value_get_enum (value);
    return TRUE;
  case PROP_ATTACH_MASK:
    settings->attach_mask = g_value_get_boolean (value);
    return TRUE;
  default:
    return FALSE;
  }
}

gboolean
gst_ccl_foreground_get_property (const GstCclForegroundSettings *settings, guint id, GValue *value)
{
  switch (id) {
  case PROP_FOREGROUND:
    g_value_set_enum (value, settings->method);
    return TRUE;
  case PROP_HISTORY:
    g_value_set_uint (value, settings->options.history);
    return TRUE;
  case PROP_VAR_THRESHOLD:
    g_value_set_double (value, (gdouble)settings->options.var_threshold);
    return TRUE;
  case PROP_LEARNING_RATE:
    g_value_set_double (value, settings->options.learning_rate);
    return TRUE;
  case PROP_MIXTURES:
    g_value_set_uint (value, settings->options.mixtures);
    return TRUE;
  case PROP_DENOISE:
    g_value_set_enum (value, settings->options.denoise);
    return TRUE;
  case PROP_ATTACH_MASK:
    g_value_set_boolean (value, settings->attach_mask);
    return TRUE;
  default:
    return FALSE;
  }
}

gboolean
gst_ccl_foreground_needs_mask (const GstCclForegroundSettings *settings, gboolean has_roi_mask)
{
  return settings->method != CCL_FOREGROUND_THRESHOLD ||
         settings->options.denoise != CCL_DENOISE_NONE || settings->attach_mask || has_roi_mask;
}
