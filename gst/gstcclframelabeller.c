/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclframelabeller.h"

#include "gstcclattach.h"
#include "gstcclerror.h"

GST_DEBUG_CATEGORY_STATIC (frame_labeller_debug);
#define GST_CAT_DEFAULT frame_labeller_debug

static void
drop_pool (GstBufferPool **pool)
{
  if (*pool)
    gst_buffer_pool_set_active (*pool, FALSE);
  gst_clear_object (pool);
}

void
gst_ccl_frame_labeller_forget (GstCclFrameLabeller *self)
{
  gst_ccl_foreground_stage_forget (&self->foreground);
  ccl_labeller_free (&self->labeller);
  for (guint kind = 0; kind < GST_CCL_N_MAPS; kind++)
    drop_pool (&self->map_pools[kind]);
  drop_pool (&self->segmentation_pool);
  g_clear_pointer (&self->description, gst_ccl_labeller_unref);
}

/* The largest number of components that a frame can have: a table needs no more rows. */
static guint
most_components (const GstVideoInfo *info, gint connectivity)
{
  guint64 width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);

  if (connectivity == CCL_CONNECTIVITY_8)
    return (guint)(((width + 1) / 2) * ((height + 1) / 2));
  return (guint)((width * height + 1) / 2);
}

void
gst_ccl_frame_labeller_init_log (void)
{
  GST_DEBUG_CATEGORY_INIT (
      frame_labeller_debug, "cclframelabeller", 0, "labelling of frames in ccl and cudaccl");
}

/* Makes a labeller if there is none for these settings. With a foreground mask, it reads the mask
 * instead of the frames. */
static gboolean
prepare_labeller (
    GstCclFrameLabeller *self, GstCclBase *base, const GstCclSettings *settings, CclError *error)
{
  GstCclBaseClass *klass = GST_CCL_BASE_GET_CLASS (base);
  const GstVideoInfo *info = gst_ccl_base_get_info (base);
  CclPlan plan = {
      .width = GST_VIDEO_INFO_WIDTH (info),
      .height = GST_VIDEO_INFO_HEIGHT (info),
      .connectivity = (CclConnectivity)settings->connectivity,
      .max_components =
          MIN (settings->max_components, most_components (info, settings->connectivity)),
      .algorithm = gst_ccl_settings_get_algorithm (settings, klass->backend),
      .n_threads = settings->n_threads,
      .format =
          self->foreground.foreground ? CCL_PIXEL_FORMAT_8 : gst_ccl_planes_pixel_format (info),
  };

  if (self->format != plan.format || self->planned.connectivity != settings->connectivity ||
      self->planned.max_components != settings->max_components ||
      self->planned.algorithm != settings->algorithm)
    ccl_labeller_free (&self->labeller);
  if (self->labeller)
    return TRUE;

  self->labeller = klass->plan (base, &plan, error);
  self->planned = *settings;
  self->format = plan.format;
  if (self->labeller)
    GST_INFO_OBJECT (base, "labelling %u×%u frames with algorithm %s", plan.width, plan.height,
        ccl_labeller_algorithm (self->labeller));
  return self->labeller != NULL;
}

/* Takes an unused map from its pool. */
static gboolean
acquire_map (GstCclFrameLabeller *self, GstCclBase *base, GstCclMapKind kind, GstCclMap *map,
    CclError *error)
{
  GstCclBaseClass *klass = GST_CCL_BASE_GET_CLASS (base);
  GstBufferPool **pool = &self->map_pools[kind];
  const GstVideoInfo *info = gst_ccl_base_get_info (base);

  if (!*pool)
    *pool = klass->new_map_pool (base, kind);
  if (!*pool || gst_buffer_pool_acquire_buffer (*pool, &map->buffer, NULL) != GST_FLOW_OK) {
    gst_ccl_error_set (error, CCL_ERROR_NO_MEMORY, "No %s for a %s of %d×%d pixels",
        klass->map_memory, kind == GST_CCL_MAP_LABELS ? "label map" : "foreground mask",
        GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
    return FALSE;
  }
  klass->locate_map (base, kind, map);
  return TRUE;
}

/* Makes labeller and foreground for a frame, and the maps that the settings ask for. */
static gboolean
prepare (GstCclFrameLabeller *self, GstCclBase *base, const GstCclSettings *settings,
    GstBuffer *buffer, GstCclMap maps[GST_CCL_N_MAPS], CclError *error)
{
  GstCclBaseClass *klass = GST_CCL_BASE_GET_CLASS (base);

  if (klass->prepare && !klass->prepare (base, buffer, error))
    return FALSE;
  if (!gst_ccl_foreground_stage_prepare (&self->foreground, base, settings, error) ||
      !prepare_labeller (self, base, settings, error))
    return FALSE;
  if (settings->attach_labels &&
      !acquire_map (self, base, GST_CCL_MAP_LABELS, &maps[GST_CCL_MAP_LABELS], error))
    return FALSE;
  return !self->foreground.foreground ||
         acquire_map (self, base, GST_CCL_MAP_MASK, &maps[GST_CCL_MAP_MASK], error);
}

/* Labels a frame whose memory is mapped. The data of a map that is not made is NULL. */
static gboolean
label (GstCclFrameLabeller *self, GstCclBase *base, const GstCclSettings *settings, CclFrame frame,
    const GstCclMap maps[GST_CCL_N_MAPS], gpointer const data[GST_CCL_N_MAPS], CclTable *table,
    CclSceneChange *scene_change, CclError *error)
{
  GstCclBaseClass *klass = GST_CCL_BASE_GET_CLASS (base);
  CclForeground *foreground = self->foreground.foreground;
  CclMask mask = {data[GST_CCL_MAP_MASK], maps[GST_CCL_MAP_MASK].stride};
  CclLabels labels = {data[GST_CCL_MAP_LABELS], maps[GST_CCL_MAP_LABELS].stride};
  CclOptions options = gst_ccl_settings_get_options (settings);
  gboolean is_labelled;

  if (foreground) {
    CclForegroundOptions foreground_options = gst_ccl_settings_get_foreground_options (settings);

    if (klass->connect)
      klass->connect (base, foreground, self->labeller);
    if (ccl_foreground_run (foreground, &frame, &foreground_options, &mask, error) != CCL_OK)
      return FALSE;
    /* The labeller reads the mask instead of the frame. */
    frame = (CclFrame){mask.data, mask.stride, maps[GST_CCL_MAP_MASK].location};
    options.threshold = CCL_MASK_SHADOW;
    options.invert = FALSE;
  }
  is_labelled = ccl_labeller_run (self->labeller, &frame, &options, labels.data ? &labels : NULL,
                    table, error) == CCL_OK;
  /* The labeller has waited for the mask, unless it failed; then this waits. */
  if (foreground)
    ccl_foreground_wait (foreground, NULL);
  *scene_change = foreground ? ccl_foreground_get_scene_change (foreground) : CCL_SCENE_UNCHANGED;
  return is_labelled;
}

/* Maps the memory of a frame and of its maps, and labels the frame. */
static gboolean
map_and_label (GstCclFrameLabeller *self, GstCclBase *base, const GstCclSettings *settings,
    GstBuffer *buffer, GstCclLabelledFrame *result, CclError *error)
{
  GstCclBaseClass *klass = GST_CCL_BASE_GET_CLASS (base);
  const GstVideoInfo *info = gst_ccl_base_get_info (base);
  GstMapInfo map_infos[GST_CCL_N_MAPS];
  gpointer data[GST_CCL_N_MAPS] = {NULL};
  gboolean done = TRUE;
  GstCclMappedPlanes mapped;
  GstCclPlanes planes;
  CclFrame frame;

  gst_ccl_planes_init (&planes, info);
  if (klass->locate)
    klass->locate (base, buffer, self->labeller, &planes);
  if (!gst_ccl_planes_map (
          &planes, info, buffer, self->foreground.has_chroma, &mapped, &frame, error))
    return FALSE;
  for (guint kind = 0; kind < GST_CCL_N_MAPS && done; kind++) {
    GstCclMap *map = &result->maps[kind];

    if (!map->buffer)
      continue;
    done = gst_buffer_map (map->buffer, &map_infos[kind], map->map_flags);
    if (done)
      data[kind] = map_infos[kind].data + map->offset;
    else
      gst_ccl_error_set (
          error, CCL_ERROR_DEVICE, "The memory of a label map or foreground mask cannot be mapped");
  }

  if (done) {
    const GstClockTime start = gst_util_get_timestamp ();
    done = label (self, base, settings, frame, result->maps, data, &result->table,
        &result->scene_change, error);
    result->time = gst_util_get_timestamp () - start;
  }

  for (guint kind = 0; kind < GST_CCL_N_MAPS; kind++)
    if (data[kind])
      gst_buffer_unmap (result->maps[kind].buffer, &map_infos[kind]);
  gst_ccl_planes_unmap (&mapped);
  return done;
}

gboolean
gst_ccl_frame_labeller_run (GstCclFrameLabeller *self, GstCclBase *base,
    const GstCclSettings *settings, GstBuffer *buffer, GstCclLabelledFrame *result, CclError *error)
{
  *result = (GstCclLabelledFrame){{0}};
  return prepare (self, base, settings, buffer, result->maps, error) &&
         map_and_label (self, base, settings, buffer, result, error);
}

/* Describes the element and its settings, once for all frames with the same settings. */
static void
update_description (GstCclFrameLabeller *self, GstCclBase *base, const GstCclSettings *settings)
{
  GstStructure *description;
  gchar *name;

  if (self->description && gst_ccl_settings_give_same_result (&self->described, settings))
    return;
  g_clear_pointer (&self->description, gst_ccl_labeller_unref);
  description = gst_ccl_settings_describe (settings, GST_CCL_BASE_GET_CLASS (base)->backend);
  name = gst_object_get_name (GST_OBJECT_CAST (base));
  self->description = gst_ccl_labeller_new (name, description);
  self->described = *settings;
  g_free (name);
  gst_structure_free (description);
}

void
gst_ccl_frame_labeller_attach (GstCclFrameLabeller *self, GstCclBase *base,
    const GstCclSettings *settings, GstBuffer *buffer, const GstCclLabelledFrame *result)
{
  const GstVideoInfo *info = gst_ccl_base_get_info (base);
  const GstCclMap *labels = &result->maps[GST_CCL_MAP_LABELS];
  const GstCclMap *mask = &result->maps[GST_CCL_MAP_MASK];
  GstCclAttachment attached_labels = {labels->buffer, labels->stride};
  GstCclAttachment attached_mask = {NULL};

  if (settings->attach_mask)
    attached_mask = (GstCclAttachment){mask->buffer, mask->stride};
  update_description (self, base, settings);
  gst_ccl_attach (buffer, settings->meta, self->description, GST_VIDEO_INFO_WIDTH (info),
      GST_VIDEO_INFO_HEIGHT (info), &result->table, &attached_labels, &attached_mask,
      &self->segmentation_pool);
}

void
gst_ccl_labelled_frame_clear (GstCclLabelledFrame *result)
{
  for (guint kind = 0; kind < GST_CCL_N_MAPS; kind++)
    gst_clear_buffer (&result->maps[kind].buffer);
}
