/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclbase.h"

#include <time.h>

#include "gstcclattach.h"
#include "gstcclforeground.h"
#include "gstcclmotion.h"
#include "gstcclstats.h"
#include "image.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_base_debug);
#define GST_CAT_DEFAULT gst_ccl_base_debug

enum {
  PROP_0,
  PROP_CONNECTIVITY,
  PROP_THRESHOLD,
  PROP_INVERT,
  PROP_MIN_AREA,
  PROP_MAX_AREA,
  PROP_MAX_COMPONENTS,
  PROP_ATTACH_LABELS,
  PROP_META,
  PROP_POST_MESSAGES,
  PROP_STATS,
  PROP_ALGORITHM,
  PROP_ROI_MASK,
  PROP_POST_MOTION,
  PROP_QUIET_TIME,
  /* and those of gstcclforeground.h */
};

enum { SIGNAL_RESET, N_SIGNALS };
static guint signals[N_SIGNALS];

#define DEFAULT_CONNECTIVITY CCL_CONNECTIVITY_8
#define DEFAULT_THRESHOLD 0
#define DEFAULT_INVERT FALSE
#define DEFAULT_MIN_AREA 1
#define DEFAULT_MAX_AREA 0
#define DEFAULT_MAX_COMPONENTS 4096
#define DEFAULT_ATTACH_LABELS FALSE
#define DEFAULT_META GST_CCL_META_FLAG_CCL
#define DEFAULT_POST_MESSAGES FALSE
#define DEFAULT_ALGORITHM 0
#define DEFAULT_ROI_MASK NULL
#define DEFAULT_POST_MOTION FALSE
#define DEFAULT_QUIET_TIME 5.0

#define PROPERTY_FLAGS (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

/* The properties. A frame is labelled with the values they have when it arrives. */
typedef struct {
  CclConnectivity connectivity;
  guint max_components;
  gint algorithm; /* value of the class's enumeration */
  CclOptions options;
  gboolean attach_labels;
  GstCclMetaFlags meta;
  gboolean post_messages;
  GstCclForegroundSettings foreground;
  gboolean post_motion;
  gdouble quiet_time; /* seconds */
} GstCclSettings;

typedef struct {
  /* Guarded by the object lock. */
  GstCclSettings settings;
  gchar *roi_mask; /* a path */
  GstCclStats stats;
  gboolean reset; /* before the next frame, the model of the background is to be forgotten */

  /* Of the streaming thread. */
  GstVideoInfo info;
  CclLabeller *labeller;
  GstCclSettings planned; /* the settings the labeller was planned with */
  CclImage *roi_image;    /* the image at roi_mask; set before the first frame */
  CclForeground *foreground;
  CclForegroundMethod foreground_method;
  GstBufferPool *map_pools[GST_CCL_N_MAPS];
  GstBufferPool *segmentation_pool; /* of label maps for analytics metadata */
  GstCclMotion motion;
} GstCclBasePrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstCclBase, gst_ccl_base, GST_TYPE_BASE_TRANSFORM,
    G_ADD_PRIVATE (GstCclBase)
        GST_DEBUG_CATEGORY_INIT (gst_ccl_base_debug, "ccl", 0, "connected components labelling"))

#define PRIVATE(base) ((GstCclBasePrivate *)gst_ccl_base_get_instance_private (base))

#define GST_TYPE_CCL_CONNECTIVITY (gst_ccl_connectivity_get_type ())

static GType
gst_ccl_connectivity_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
      {CCL_CONNECTIVITY_4, "Pixels that share an edge", "4"},
      {CCL_CONNECTIVITY_8, "Pixels that share an edge or a corner", "8"},
      {0, NULL, NULL},
  };

  if (g_once_init_enter (&type)) {
    GType registered = g_enum_register_static ("GstCclConnectivity", values);
    g_once_init_leave (&type, registered);
  }
  return type;
}

static void G_GNUC_PRINTF (3, 4)
    set_error (CclError *error, CclStatus status, const gchar *format, ...)
{
  va_list arguments;

  error->status = status;
  va_start (arguments, format);
  g_vsnprintf (error->message, sizeof error->message, format, arguments);
  va_end (arguments);
}

/* The name for the plan; NULL for "auto". */
static const gchar *
algorithm_name (GstCclBase *base, gint algorithm)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (base), "algorithm");
  GEnumValue *value;

  if (algorithm == DEFAULT_ALGORITHM)
    return NULL;
  value = g_enum_get_value (G_PARAM_SPEC_ENUM (pspec)->enum_class, algorithm);
  return value->value_nick;
}

static void
gst_ccl_base_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCclBasePrivate *priv = PRIVATE (GST_CCL_BASE (object));
  GstCclSettings *settings = &priv->settings;

  GST_OBJECT_LOCK (object);
  switch (id) {
  case PROP_CONNECTIVITY:
    settings->connectivity = g_value_get_enum (value);
    break;
  case PROP_THRESHOLD:
    settings->options.threshold = g_value_get_uint (value);
    break;
  case PROP_INVERT:
    settings->options.invert = g_value_get_boolean (value);
    break;
  case PROP_MIN_AREA:
    settings->options.min_area = g_value_get_uint (value);
    break;
  case PROP_MAX_AREA:
    settings->options.max_area = g_value_get_uint (value);
    break;
  case PROP_MAX_COMPONENTS:
    settings->max_components = g_value_get_uint (value);
    break;
  case PROP_ATTACH_LABELS:
    settings->attach_labels = g_value_get_boolean (value);
    break;
  case PROP_META:
    settings->meta = g_value_get_flags (value);
    break;
  case PROP_POST_MESSAGES:
    settings->post_messages = g_value_get_boolean (value);
    break;
  case PROP_ALGORITHM:
    settings->algorithm = g_value_get_enum (value);
    break;
  case PROP_ROI_MASK:
    g_free (priv->roi_mask);
    priv->roi_mask = g_value_dup_string (value);
    break;
  case PROP_POST_MOTION:
    settings->post_motion = g_value_get_boolean (value);
    break;
  case PROP_QUIET_TIME:
    settings->quiet_time = g_value_get_double (value);
    break;
  default:
    if (!gst_ccl_foreground_set_property (&settings->foreground, id, value))
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (object);
}

static void
gst_ccl_base_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCclBasePrivate *priv = PRIVATE (GST_CCL_BASE (object));
  GstCclSettings *settings = &priv->settings;

  GST_OBJECT_LOCK (object);
  switch (id) {
  case PROP_CONNECTIVITY:
    g_value_set_enum (value, settings->connectivity);
    break;
  case PROP_THRESHOLD:
    g_value_set_uint (value, settings->options.threshold);
    break;
  case PROP_INVERT:
    g_value_set_boolean (value, settings->options.invert);
    break;
  case PROP_MIN_AREA:
    g_value_set_uint (value, settings->options.min_area);
    break;
  case PROP_MAX_AREA:
    g_value_set_uint (value, settings->options.max_area);
    break;
  case PROP_MAX_COMPONENTS:
    g_value_set_uint (value, settings->max_components);
    break;
  case PROP_ATTACH_LABELS:
    g_value_set_boolean (value, settings->attach_labels);
    break;
  case PROP_META:
    g_value_set_flags (value, settings->meta);
    break;
  case PROP_POST_MESSAGES:
    g_value_set_boolean (value, settings->post_messages);
    break;
  case PROP_STATS:
    g_value_take_boxed (value, gst_ccl_stats_to_structure (&priv->stats));
    break;
  case PROP_ALGORITHM:
    g_value_set_enum (value, settings->algorithm);
    break;
  case PROP_ROI_MASK:
    g_value_set_string (value, priv->roi_mask);
    break;
  case PROP_POST_MOTION:
    g_value_set_boolean (value, settings->post_motion);
    break;
  case PROP_QUIET_TIME:
    g_value_set_double (value, settings->quiet_time);
    break;
  default:
    if (!gst_ccl_foreground_get_property (&settings->foreground, id, value))
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (object);
}

void
gst_ccl_base_class_install_algorithms (
    GstCclBaseClass *klass, const gchar *type_name, const char *const *names)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  guint n = g_strv_length ((gchar **)names);
  /* Registered types are never unregistered, so their values must live on. */
  GEnumValue *values = g_new0 (GEnumValue, n + 2);
  GType type;

  values[0] = (GEnumValue){0, "The fastest one that offers the connectivity", "auto"};
  for (guint i = 0; i < n; i++)
    values[i + 1] = (GEnumValue){(gint)i + 1, names[i], names[i]};
  type = g_enum_register_static (type_name, values);

  /* A class with properties needs accessors of its own, GObject does not inherit them. */
  if (!object_class->set_property)
    object_class->set_property = gst_ccl_base_set_property;
  if (!object_class->get_property)
    object_class->get_property = gst_ccl_base_get_property;
  g_object_class_install_property (object_class, PROP_ALGORITHM,
      g_param_spec_enum ("algorithm", "Algorithm",
          "How to label; the result is the same with every algorithm", type, DEFAULT_ALGORITHM,
          PROPERTY_FLAGS));
  gst_type_mark_as_plugin_api (type, 0);
}

void
gst_ccl_base_post_error (GstCclBase *base, const CclError *error)
{
  switch (error->status) {
  case CCL_ERROR_NOT_FOUND:
    GST_ELEMENT_ERROR (base, RESOURCE, NOT_FOUND, ("%s", error->message), (NULL));
    break;
  case CCL_ERROR_NO_MEMORY:
    GST_ELEMENT_ERROR (base, RESOURCE, NO_SPACE_LEFT, ("%s", error->message), (NULL));
    break;
  case CCL_ERROR_UNSUPPORTED:
    GST_ELEMENT_ERROR (base, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
    break;
  case CCL_ERROR_ARGUMENT:
    GST_ELEMENT_ERROR (base, STREAM, FORMAT, ("%s", error->message), (NULL));
    break;
  default:
    GST_ELEMENT_ERROR (base, RESOURCE, FAILED, ("%s", error->message), (NULL));
    break;
  }
}

const GstVideoInfo *
gst_ccl_base_get_info (GstCclBase *base)
{
  return &PRIVATE (base)->info;
}

static void
drop_pool (GstBufferPool **pool)
{
  if (*pool)
    gst_buffer_pool_set_active (*pool, FALSE);
  gst_clear_object (pool);
}

void
gst_ccl_base_forget_plans (GstCclBase *base)
{
  GstCclBasePrivate *priv = PRIVATE (base);

  ccl_foreground_free (&priv->foreground);
  ccl_labeller_free (&priv->labeller);
  for (guint kind = 0; kind < GST_CCL_N_MAPS; kind++)
    drop_pool (&priv->map_pools[kind]);
  drop_pool (&priv->segmentation_pool);
}

/* Reads the region of interest mask that the property roi-mask names, if any. */
static gboolean
read_roi_mask (GstCclBase *base)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  GError *error = NULL;
  gchar *path;

  GST_OBJECT_LOCK (base);
  path = g_strdup (priv->roi_mask);
  GST_OBJECT_UNLOCK (base);
  if (!path)
    return TRUE;

  priv->roi_image = ccl_image_read (path, &error);
  g_free (path);
  if (!priv->roi_image) {
    GST_ELEMENT_ERROR (
        base, RESOURCE, OPEN_READ, ("The roi-mask cannot be read: %s", error->message), (NULL));
    g_error_free (error);
    return FALSE;
  }
  return TRUE;
}

static gboolean
gst_ccl_base_start (GstBaseTransform *trans)
{
  GstCclBase *base = GST_CCL_BASE (trans);
  GstCclBasePrivate *priv = PRIVATE (base);

  GST_OBJECT_LOCK (trans);
  gst_ccl_stats_reset (&priv->stats);
  priv->reset = FALSE;
  GST_OBJECT_UNLOCK (trans);
  priv->motion = (GstCclMotion){FALSE};
  return read_roi_mask (base);
}

static gboolean
gst_ccl_base_stop (GstBaseTransform *trans)
{
  GstCclBase *base = GST_CCL_BASE (trans);

  gst_ccl_base_forget_plans (base);
  g_clear_pointer (&PRIVATE (base)->roi_image, ccl_image_free);
  return TRUE;
}

/* Any thread may ask for it; the streaming thread does it. */
static void
gst_ccl_base_reset (GstCclBase *base)
{
  GST_OBJECT_LOCK (base);
  PRIVATE (base)->reset = TRUE;
  GST_OBJECT_UNLOCK (base);
}

static gboolean
gst_ccl_base_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclBase *base = GST_CCL_BASE (trans);
  GstVideoInfo *current = &PRIVATE (base)->info;
  const CclImage *roi_mask = PRIVATE (base)->roi_image;
  GstStructure *structure = gst_caps_get_structure (incaps, 0);
  GstVideoInfo info;
  gint width = 0, height = 0;

  gst_structure_get_int (structure, "width", &width);
  gst_structure_get_int (structure, "height", &height);
  if ((gint64)width * height > CCL_MAX_PIXELS) {
    GST_ELEMENT_ERROR (base, STREAM, FORMAT,
        ("A frame of %d×%d pixels is too large: at most %d pixels can be labelled", width, height,
            CCL_MAX_PIXELS),
        (NULL));
    return FALSE;
  }
  if (!gst_video_info_from_caps (&info, incaps)) {
    GST_ERROR_OBJECT (base, "invalid caps %" GST_PTR_FORMAT, incaps);
    return FALSE;
  }

  if (roi_mask && (roi_mask->width != (guint)width || roi_mask->height != (guint)height)) {
    GST_ELEMENT_ERROR (base, RESOURCE, SETTINGS,
        ("The roi-mask has %u×%u pixels, the frames have %d×%d", roi_mask->width, roi_mask->height,
            width, height),
        (NULL));
    return FALSE;
  }

  if (GST_VIDEO_INFO_WIDTH (current) != width || GST_VIDEO_INFO_HEIGHT (current) != height)
    gst_ccl_base_forget_plans (base);
  else if (!gst_video_info_is_equal (current, &info))
    gst_ccl_base_reset (base);
  *current = info;
  return TRUE;
}

static void
post_motion (GstCclBase *base, const gchar *what, GstClockTime time, guint n_components)
{
  GstStructure *structure =
      gst_ccl_moment_structure (what, time, &GST_BASE_TRANSFORM_CAST (base)->segment);

  gst_structure_set (structure, "count", G_TYPE_UINT, n_components, NULL);
  gst_element_post_message (
      GST_ELEMENT_CAST (base), gst_message_new_element (GST_OBJECT_CAST (base), structure));
}

static gboolean
gst_ccl_base_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclBase *base = GST_CCL_BASE (trans);
  GstCclBasePrivate *priv = PRIVATE (base);
  gboolean posts_motion;

  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_FLUSH_STOP:
    /* What comes next need not look like what went before. */
    gst_ccl_base_reset (base);
    priv->motion = (GstCclMotion){FALSE};
    break;
  case GST_EVENT_EOS:
    GST_OBJECT_LOCK (base);
    posts_motion = priv->settings.post_motion;
    GST_OBJECT_UNLOCK (base);
    if (posts_motion && gst_ccl_motion_end (&priv->motion))
      post_motion (base, "motion-end", priv->motion.last, 0);
    break;
  default:
    break;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_base_parent_class)->sink_event (trans, event);
}

static gboolean
gst_ccl_base_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  /* Frames are passed on, so what downstream proposes is the best for upstream. */
  GST_BASE_TRANSFORM_CLASS (gst_ccl_base_parent_class)
      ->propose_allocation (trans, decide_query, query);
  if (!gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL))
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static GstFlowReturn
gst_ccl_base_submit_input_buffer (GstBaseTransform *trans, gboolean is_discont, GstBuffer *input)
{
  GstFlowReturn ret = GST_BASE_TRANSFORM_CLASS (gst_ccl_base_parent_class)
                          ->submit_input_buffer (trans, is_discont, input);

  if (ret == GST_BASE_TRANSFORM_FLOW_DROPPED) {
    GST_OBJECT_LOCK (trans);
    PRIVATE (GST_CCL_BASE (trans))->stats.dropped++;
    GST_OBJECT_UNLOCK (trans);
  }
  return ret;
}

/* No frame can have more components, so no table needs more rows. */
static guint
most_components (const GstVideoInfo *info, CclConnectivity connectivity)
{
  guint64 width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);

  if (connectivity == CCL_CONNECTIVITY_8)
    return (guint)(((width + 1) / 2) * ((height + 1) / 2));
  return (guint)((width * height + 1) / 2);
}

static gboolean
ensure_labeller (GstCclBase *base, const GstCclSettings *settings, CclError *error)
{
  GstCclBasePrivate *priv = PRIVATE (base);

  if (priv->labeller && (priv->planned.connectivity != settings->connectivity ||
                            priv->planned.max_components != settings->max_components ||
                            priv->planned.algorithm != settings->algorithm))
    ccl_labeller_free (&priv->labeller);

  if (!priv->labeller) {
    CclPlan plan = {
        .width = GST_VIDEO_INFO_WIDTH (&priv->info),
        .height = GST_VIDEO_INFO_HEIGHT (&priv->info),
        .connectivity = settings->connectivity,
        .max_components =
            MIN (settings->max_components, most_components (&priv->info, settings->connectivity)),
        .algorithm = algorithm_name (base, settings->algorithm),
    };
    priv->labeller = GST_CCL_BASE_GET_CLASS (base)->plan (base, &plan, error);
    if (!priv->labeller)
      return FALSE;
    priv->planned = *settings;
    GST_INFO_OBJECT (base, "labelling %u×%u frames with algorithm %s", plan.width, plan.height,
        ccl_labeller_algorithm (priv->labeller));
  }
  return TRUE;
}

/* Readies the foreground of a frame that needs one. It lives as long as what it is planned with
 * stays the same, for the sake of its model of the background. */
static gboolean
ensure_foreground (GstCclBase *base, const GstCclSettings *settings, CclError *error)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  gboolean reset;

  GST_OBJECT_LOCK (base);
  reset = priv->reset;
  priv->reset = FALSE;
  GST_OBJECT_UNLOCK (base);
  if (reset)
    ccl_foreground_reset (priv->foreground);

  if (!gst_ccl_foreground_needs_mask (&settings->foreground, priv->roi_image != NULL) ||
      (priv->foreground && priv->foreground_method != settings->foreground.method))
    ccl_foreground_free (&priv->foreground);
  else if (priv->foreground)
    return TRUE;

  if (gst_ccl_foreground_needs_mask (&settings->foreground, priv->roi_image != NULL)) {
    CclFrame roi_mask;
    CclForegroundPlan plan = {
        .width = GST_VIDEO_INFO_WIDTH (&priv->info),
        .height = GST_VIDEO_INFO_HEIGHT (&priv->info),
        .method = settings->foreground.method,
    };
    if (priv->roi_image) {
      roi_mask = (CclFrame){priv->roi_image->pixels, priv->roi_image->width, CCL_LOCATION_HOST};
      plan.roi_mask = &roi_mask;
    }
    priv->foreground_method = plan.method;
    priv->foreground = GST_CCL_BASE_GET_CLASS (base)->plan_foreground (base, &plan, error);
    return priv->foreground != NULL;
  }
  return TRUE;
}

/* Gets an unused map from its pool; the caller unrefs its buffer. */
static gboolean
acquire_map (GstCclBase *base, GstCclMapKind kind, GstCclMap *map, CclError *error)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  GstCclBaseClass *klass = GST_CCL_BASE_GET_CLASS (base);
  GstBufferPool **pool = &priv->map_pools[kind];

  if (!*pool)
    *pool = klass->new_map_pool (base, kind);
  if (!*pool || gst_buffer_pool_acquire_buffer (*pool, &map->buffer, NULL) != GST_FLOW_OK) {
    set_error (error, CCL_ERROR_NO_MEMORY, "No %s for a %s of %d×%d pixels", klass->map_memory,
        kind == GST_CCL_MAP_LABELS ? "label map" : "mask", GST_VIDEO_INFO_WIDTH (&priv->info),
        GST_VIDEO_INFO_HEIGHT (&priv->info));
    return FALSE;
  }
  klass->locate_map (base, kind, map);
  return TRUE;
}

/* Maps the luma of a frame. Nothing outside the buffer is ever read: what the caps, a
 * GstVideoMeta and the size of the buffer say must fit together. */
static gboolean
map_luma (GstCclBase *base, GstBuffer *buffer, GstMapInfo *map, CclFrame *frame, CclError *error)
{
  const GstVideoInfo *info = &PRIVATE (base)->info;
  const guint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  GstCclBaseClass *klass = GST_CCL_BASE_GET_CLASS (base);
  GstCclLuma luma = {
      .offset = GST_VIDEO_INFO_PLANE_OFFSET (info, 0),
      .stride = GST_VIDEO_INFO_PLANE_STRIDE (info, 0),
      .width = width,
      .height = height,
      .map_flags = GST_MAP_READ,
      .location = CCL_LOCATION_HOST,
  };
  guint first_memory, n_memories;
  gsize length, skip;

  if (klass->locate)
    klass->locate (base, buffer, PRIVATE (base)->labeller, &luma);
  if (meta) {
    luma.offset = meta->offset[0];
    luma.stride = meta->stride[0];
    luma.width = meta->width;
    luma.height = meta->height;
  }

  if (luma.width < width || luma.height < height) {
    set_error (error, CCL_ERROR_ARGUMENT, "The frame has %u×%u pixels where its caps say %u×%u",
        luma.width, luma.height, width, height);
    return FALSE;
  }
  if (luma.stride < 0 || (guint)luma.stride < width) {
    set_error (error, CCL_ERROR_ARGUMENT,
        "The frame's stride of %d bytes is too small for rows of %u pixels", luma.stride, width);
    return FALSE;
  }
  length = (gsize)luma.stride * (height - 1) + width;
  if (luma.offset > gst_buffer_get_size (buffer) ||
      length > gst_buffer_get_size (buffer) - luma.offset) {
    set_error (error, CCL_ERROR_ARGUMENT,
        "The frame is smaller than its caps say: %u×%u pixels with a stride of %d bytes from "
        "byte %" G_GSIZE_FORMAT " on do not fit in %" G_GSIZE_FORMAT " bytes",
        width, height, luma.stride, luma.offset, gst_buffer_get_size (buffer));
    return FALSE;
  }

  if (!gst_buffer_find_memory (buffer, luma.offset, length, &first_memory, &n_memories, &skip)) {
    set_error (error, CCL_ERROR_ARGUMENT, "The frame's memory ends before its pixels");
    return FALSE;
  }
  /* Mapping several memories as one would merge them in system memory. */
  if (luma.location == CCL_LOCATION_DEVICE && n_memories != 1) {
    set_error (
        error, CCL_ERROR_ARGUMENT, "The frame's luma is spread over %u memories", n_memories);
    return FALSE;
  }
  if (!gst_buffer_map_range (buffer, first_memory, (gint)n_memories, map, luma.map_flags)) {
    set_error (error, CCL_ERROR_DEVICE, "The frame's memory cannot be mapped for reading");
    return FALSE;
  }
  frame->data = map->data + skip;
  frame->stride = (gsize)luma.stride;
  frame->location = luma.location;
  return TRUE;
}

static guint64
now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (guint64)now.tv_sec * 1000000000u + (guint64)now.tv_nsec;
}

/* Makes the frame's mask and has the labeller read that instead of the frame. */
static gboolean
segment_frame (GstCclBase *base, const GstCclSettings *settings, const CclMask *mask,
    CclLocation location, CclFrame *frame, CclOptions *options, CclError *error)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  GstCclBaseClass *klass = GST_CCL_BASE_GET_CLASS (base);
  CclForegroundOptions foreground_options = settings->foreground.options;

  foreground_options.threshold = options->threshold;
  foreground_options.invert = options->invert;
  if (klass->connect)
    klass->connect (base, priv->foreground, priv->labeller);
  if (ccl_foreground_run (priv->foreground, frame, &foreground_options, mask, error) != CCL_OK)
    return FALSE;

  *frame = (CclFrame){mask->data, mask->stride, location};
  options->threshold = 0;
  options->invert = FALSE;
  return TRUE;
}

/* Labels a frame, by way of a mask if there is memory for one. The maps are NULL where none is
 * wanted. */
static gboolean
label_frame (GstCclBase *base, GstBuffer *buffer, const GstCclSettings *settings,
    GstCclMap maps[GST_CCL_N_MAPS], CclTable *table, guint64 *label_time, CclError *error)
{
  GstCclBasePrivate *priv = PRIVATE (base);
  GstMapInfo luma_map, map_infos[GST_CCL_N_MAPS];
  gpointer data[GST_CCL_N_MAPS] = {NULL};
  CclOptions options = settings->options;
  CclFrame frame;
  gboolean done = TRUE;

  if (!map_luma (base, buffer, &luma_map, &frame, error))
    return FALSE;
  for (guint kind = 0; kind < GST_CCL_N_MAPS && done; kind++) {
    if (!maps[kind].buffer)
      continue;
    done = gst_buffer_map (maps[kind].buffer, &map_infos[kind], maps[kind].map_flags);
    if (done)
      data[kind] = map_infos[kind].data + maps[kind].offset;
    else
      set_error (error, CCL_ERROR_DEVICE, "The memory of a label map or mask cannot be mapped");
  }

  if (done) {
    GstCclMap *labels_map = &maps[GST_CCL_MAP_LABELS], *mask_map = &maps[GST_CCL_MAP_MASK];
    CclLabels labels = {data[GST_CCL_MAP_LABELS], labels_map->stride};
    CclMask mask = {data[GST_CCL_MAP_MASK], mask_map->stride};

    *label_time = now_ns ();
    if (mask.data)
      done = segment_frame (base, settings, &mask, mask_map->location, &frame, &options, error);
    done = done && ccl_labeller_run (priv->labeller, &frame, &options, labels.data ? &labels : NULL,
                       table, error) == CCL_OK;
    *label_time = now_ns () - *label_time;
    /* A labeller that failed may not have waited for the mask. */
    if (!done)
      ccl_foreground_wait (priv->foreground, NULL);
  }

  for (guint kind = 0; kind < GST_CCL_N_MAPS; kind++)
    if (data[kind])
      gst_buffer_unmap (maps[kind].buffer, &map_infos[kind]);
  gst_buffer_unmap (buffer, &luma_map);
  return done;
}

static void
post_message (GstCclBase *base, GstBuffer *buffer, const CclTable *table)
{
  GstElementFactory *factory = gst_element_get_factory (GST_ELEMENT_CAST (base));
  const gchar *name = factory ? GST_OBJECT_NAME (factory) : GST_OBJECT_NAME (base);
  GstStructure *structure =
      gst_ccl_message_structure (name, buffer, &GST_BASE_TRANSFORM_CAST (base)->segment, table);

  gst_element_post_message (
      GST_ELEMENT_CAST (base), gst_message_new_element (GST_OBJECT_CAST (base), structure));
}

static void
attach (GstCclBase *base, GstBuffer *buffer, const GstCclSettings *settings,
    const GstCclMap maps[GST_CCL_N_MAPS], const CclTable *table)
{
  const GstVideoInfo *info = &PRIVATE (base)->info;
  const GstCclMap *labels = &maps[GST_CCL_MAP_LABELS], *mask = &maps[GST_CCL_MAP_MASK];
  GstCclAttachment attached_labels = {labels->buffer, labels->stride};
  GstCclAttachment attached_mask = {NULL};

  if (settings->foreground.attach_mask)
    attached_mask = (GstCclAttachment){mask->buffer, mask->stride};
  gst_ccl_attach (buffer, settings->meta, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
      table, &attached_labels, &attached_mask, &PRIVATE (base)->segmentation_pool);
}

static void
clear_maps (GstCclMap maps[GST_CCL_N_MAPS])
{
  for (guint kind = 0; kind < GST_CCL_N_MAPS; kind++)
    gst_clear_buffer (&maps[kind].buffer);
}

static void
follow_motion (
    GstCclBase *base, GstClockTime time, guint n_components, const GstCclSettings *settings)
{
  GstClockTime quiet_time = (GstClockTime)(settings->quiet_time * GST_SECOND);
  const gchar *what =
      gst_ccl_motion_frame (&PRIVATE (base)->motion, time, n_components, quiet_time);

  if (what && settings->post_motion)
    post_motion (base, what, time, n_components);
}

static GstFlowReturn
gst_ccl_base_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCclBase *base = GST_CCL_BASE (trans);
  GstCclBasePrivate *priv = PRIVATE (base);
  GstCclBaseClass *klass = GST_CCL_BASE_GET_CLASS (base);
  GstCclMap maps[GST_CCL_N_MAPS] = {{NULL}};
  GstCclSettings settings;
  CclTable table;
  CclError error;
  guint64 label_time;

  /* A gap without content has no pixels to label; a gap with content is a frame. */
  if (gst_buffer_get_size (buffer) == 0 && GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP)) {
    GST_DEBUG_OBJECT (base, "passing on an empty gap buffer");
    return GST_FLOW_OK;
  }

  GST_OBJECT_LOCK (base);
  settings = priv->settings;
  GST_OBJECT_UNLOCK (base);

  if (klass->prepare && !klass->prepare (base, buffer, &error))
    goto failed;
  /* A map that no metadata would carry need not be made. */
  if (!(settings.meta & GST_CCL_META_FLAGS_WITH_LABELS))
    settings.attach_labels = FALSE;
  if (!(settings.meta & GST_CCL_META_FLAG_CCL))
    settings.foreground.attach_mask = FALSE;
  if (!ensure_labeller (base, &settings, &error) || !ensure_foreground (base, &settings, &error))
    goto failed;
  if (settings.attach_labels &&
      !acquire_map (base, GST_CCL_MAP_LABELS, &maps[GST_CCL_MAP_LABELS], &error))
    goto failed;
  if (priv->foreground && !acquire_map (base, GST_CCL_MAP_MASK, &maps[GST_CCL_MAP_MASK], &error))
    goto failed;
  if (!label_frame (base, buffer, &settings, maps, &table, &label_time, &error))
    goto failed;

  attach (base, buffer, &settings, maps, &table);
  clear_maps (maps);

  GST_OBJECT_LOCK (base);
  gst_ccl_stats_add_frame (&priv->stats, table.n_components, label_time);
  GST_OBJECT_UNLOCK (base);

  if (settings.post_messages)
    post_message (base, buffer, &table);
  follow_motion (base, GST_BUFFER_PTS (buffer), table.n_components, &settings);
  return GST_FLOW_OK;

  /* ERRORS */
failed:
  clear_maps (maps);
  gst_ccl_base_post_error (base, &error);
  return GST_FLOW_ERROR;
}

static void
install_properties (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, PROP_CONNECTIVITY,
      g_param_spec_enum ("connectivity", "Connectivity",
          "Which neighbours of a pixel belong to its component", GST_TYPE_CCL_CONNECTIVITY,
          DEFAULT_CONNECTIVITY, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_THRESHOLD,
      g_param_spec_uint ("threshold", "Threshold",
          "A pixel is foreground when its value is greater than this", 0, 255, DEFAULT_THRESHOLD,
          PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_INVERT,
      g_param_spec_boolean ("invert", "Invert",
          "Swap foreground and background, so that values up to the threshold are foreground",
          DEFAULT_INVERT, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_MIN_AREA,
      g_param_spec_uint ("min-area", "Minimum area",
          "Components of fewer pixels count as background", 0, G_MAXUINT, DEFAULT_MIN_AREA,
          PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_MAX_AREA,
      g_param_spec_uint ("max-area", "Maximum area",
          "Components of more pixels count as background (0 = no limit)", 0, G_MAXUINT,
          DEFAULT_MAX_AREA, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_MAX_COMPONENTS,
      g_param_spec_uint ("max-components", "Maximum components",
          "How many components of a frame are described; of a frame that has more, the first ones "
          "in label order, with a mark that the table is truncated",
          1, CCL_MAX_PIXELS, DEFAULT_MAX_COMPONENTS, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_ATTACH_LABELS,
      g_param_spec_boolean ("attach-labels", "Attach labels",
          "Attach the label map to the GstCclMeta", DEFAULT_ATTACH_LABELS, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_META,
      g_param_spec_flags ("meta", "Metadata", "Which kinds of metadata a labelled frame carries",
          GST_TYPE_CCL_META_FLAGS, DEFAULT_META, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_POST_MESSAGES,
      g_param_spec_boolean ("post-messages", "Post messages",
          "Post an element message with the components of each frame", DEFAULT_POST_MESSAGES,
          PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_ROI_MASK,
      g_param_spec_string ("roi-mask", "Region of interest mask",
          "A grey PNG or PGM file of the frames' size, read at the start: where it is black, "
          "there is only background",
          DEFAULT_ROI_MASK, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (object_class, PROP_POST_MOTION,
      g_param_spec_boolean ("post-motion", "Post motion",
          "Post an element message motion-begin when components appear and motion-end when there "
          "were none for quiet-time",
          DEFAULT_POST_MOTION, PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_QUIET_TIME,
      g_param_spec_double ("quiet-time", "Quiet time",
          "How many seconds without components end motion", 0.0, G_MAXINT, DEFAULT_QUIET_TIME,
          PROPERTY_FLAGS));
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Since the start: labelled frames, their components, frames dropped because they were "
          "late, mean and 99th percentile of the time labelling a frame took in nanoseconds",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_ccl_base_finalize (GObject *object)
{
  g_free (PRIVATE (GST_CCL_BASE (object))->roi_mask);
  G_OBJECT_CLASS (gst_ccl_base_parent_class)->finalize (object);
}

static void
gst_ccl_base_class_init (GstCclBaseClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->set_property = gst_ccl_base_set_property;
  object_class->get_property = gst_ccl_base_get_property;
  object_class->finalize = gst_ccl_base_finalize;
  install_properties (object_class);
  gst_ccl_foreground_install_properties (object_class);

  /**
   * GstCclBase::reset:
   *
   * Action signal: the model of the background (foreground=mog2) is forgotten; the next
   * frame begins a new one. Any thread may emit it.
   */
  signals[SIGNAL_RESET] = g_signal_new_class_handler ("reset", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (gst_ccl_base_reset), NULL, NULL, NULL,
      G_TYPE_NONE, 0);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_base_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_base_stop);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_base_set_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_base_sink_event);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_base_propose_allocation);
  trans_class->submit_input_buffer = GST_DEBUG_FUNCPTR (gst_ccl_base_submit_input_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_ccl_base_transform_ip);

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_BASE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_CONNECTIVITY, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_META_FLAGS, 0);
}

static void
gst_ccl_base_init (GstCclBase *base)
{
  GstCclSettings *settings = &PRIVATE (base)->settings;

  settings->connectivity = DEFAULT_CONNECTIVITY;
  settings->max_components = DEFAULT_MAX_COMPONENTS;
  settings->algorithm = DEFAULT_ALGORITHM;
  settings->options.threshold = DEFAULT_THRESHOLD;
  settings->options.invert = DEFAULT_INVERT;
  settings->options.min_area = DEFAULT_MIN_AREA;
  settings->options.max_area = DEFAULT_MAX_AREA;
  settings->attach_labels = DEFAULT_ATTACH_LABELS;
  settings->meta = DEFAULT_META;
  settings->post_messages = DEFAULT_POST_MESSAGES;
  gst_ccl_foreground_settings_init (&settings->foreground);
  settings->post_motion = DEFAULT_POST_MOTION;
  settings->quiet_time = DEFAULT_QUIET_TIME;
  gst_video_info_init (&PRIVATE (base)->info);

  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (base), TRUE);
}
