/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclframelabeller.h"
#include "core/base/divide-up.h"

#include "gstcclattach.h"
#include "gstcclpicture.h"
#include "gstcclsampler.h"
#include "labelling/pixels/gstcclunpack.h"
#include "shared/gstcclerror.h"
#include "shared/gstccli18n.h"

GST_DEBUG_CATEGORY_STATIC (frame_labeller_debug);
#define GST_CAT_DEFAULT frame_labeller_debug

static void
drop_pool (GstBufferPool **pool)
{
  if (*pool)
    gst_buffer_pool_set_active (*pool, FALSE);
  gst_clear_object (pool);
}

static void
free_labeller (gpointer data)
{
  CclLabeller *labeller = data;

  ccl_labeller_free (&labeller);
}

void
gst_ccl_frame_labeller_init (GstCclFrameLabeller *self)
{
  *self = (GstCclFrameLabeller){
      .labellers = g_ptr_array_new_with_free_func (free_labeller),
      .scale = 1,
      .rows = g_array_new (FALSE, FALSE, sizeof (CclComponent)),
  };
  gst_video_info_init (&self->info);
}

void
gst_ccl_frame_labeller_describe (
    GstCclFrameLabeller *self, const GstVideoInfo *frames, GstVideoInfo *read)
{
  drop_pool (&self->unpacked_pool);
  self->packed = *read = *frames;
  self->is_packed = gst_ccl_unpack_describe (frames, read);
}

void
gst_ccl_frame_labeller_clear (GstCclFrameLabeller *self)
{
  gst_ccl_frame_labeller_release (self);
  g_clear_pointer (&self->labellers, g_ptr_array_unref);
  g_clear_pointer (&self->rows, g_array_unref);
}

void
gst_ccl_frame_labeller_release (GstCclFrameLabeller *self)
{
  gst_ccl_foreground_stage_release (&self->foreground);
  g_ptr_array_set_size (self->labellers, 0);
  for (guint kind = 0; kind < GST_CCL_N_MAPS; kind++)
    drop_pool (&self->map_pools[kind]);
  drop_pool (&self->segmentation_pool);
  drop_pool (&self->unpacked_pool);
  gst_ccl_contour_finder_release (&self->contour_finder);
  gst_ccl_measurer_release (&self->measurer);
  g_clear_pointer (&self->description, gst_ccl_labeller_unref);
  g_clear_pointer (&self->site, gst_ccl_site_unref);
}

/* The largest number of components that a frame can have: a table needs no more rows. */
static guint
most_components (const GstVideoInfo *info, gint connectivity)
{
  guint64 width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);

  if (connectivity == CUDACCL_CONNECTIVITY_8)
    return (guint)(divide_up (width, 2) * divide_up (height, 2));
  return (guint)divide_up (width * height, 2);
}

void
gst_ccl_frame_labeller_init_log (void)
{
  GST_DEBUG_CATEGORY_INIT (
      frame_labeller_debug, "cclframelabeller", 0, "labelling of frames in ccl and cudaccl");
}

/* Each pixel of a mask of the background model's size stands for so many × so many pixels of the
 * frame. If nothing of the frame's size is asked for, such a mask is labelled, which has the same
 * components. */
static guint
choose_scale (const GstCclFrameLabeller *self, const GstCclSettings *settings)
{
  const guint width = (guint)GST_VIDEO_INFO_WIDTH (&self->info);
  const guint height = (guint)GST_VIDEO_INFO_HEIGHT (&self->info);
  const guint scale = ccl_foreground_get_reduction (self->foreground.foreground);
  const guint max_area = gst_ccl_settings_get_options (settings).max_area;

  if (gst_ccl_foreground_stage_is_masked (&self->foreground, settings) || settings->attach_labels ||
      settings->attach_mask || settings->attach_contours != GST_CCL_ATTACH_CONTOURS_NONE ||
      settings->attach_columns)
    return 1;
  return width % scale || height % scale || (max_area > 0 && max_area < scale * scale) ||
                 (settings->attach_sample && gst_ccl_sample_step (width, height) % scale)
             ? 1
             : scale;
}

/* Makes a labeller if all are in use. With a foreground mask, it reads the mask instead of the
 * frames. */
static gboolean
prepare_labeller (GstCclFrameLabeller *self, const GstCclOwner *owner,
    const GstCclSettings *settings, CclError *error)
{
  const GstCclMethods *methods = owner->methods;
  const GstVideoInfo *info = &self->info;
  const guint scale = choose_scale (self, settings);
  CclLabellerPlan plan = {
      .width = (guint)GST_VIDEO_INFO_WIDTH (info) / scale,
      .height = (guint)GST_VIDEO_INFO_HEIGHT (info) / scale,
      .connectivity = (CclConnectivity)settings->connectivity,
      .max_components =
          MIN (settings->max_components, most_components (info, settings->connectivity)),
      .algorithm = gst_ccl_settings_get_algorithm (settings, methods->backend),
      .n_threads = settings->n_threads,
      .format =
          self->foreground.foreground ? CUDACCL_PIXEL_FORMAT_8 : gst_ccl_planes_pixel_format (info),
      .columns = gst_ccl_measurer_plan (settings, info),
  };
  CclLabeller *labeller;

  if (!gst_ccl_measurer_check (settings, info, error))
    return FALSE;
  /* Settings are the same for all frames that are queued at once. */
  if (self->format != plan.format || self->scale != scale || self->columns != plan.columns ||
      self->planned.connectivity != settings->connectivity ||
      self->planned.max_components != settings->max_components ||
      self->planned.algorithm != settings->algorithm)
    g_ptr_array_set_size (self->labellers, 0);
  if (self->labellers->len > self->n_queued)
    return TRUE;

  labeller = methods->plan (owner->element, self->site, &plan, error);
  if (!labeller)
    return FALSE;
  g_ptr_array_add (self->labellers, labeller);
  self->planned = *settings;
  self->format = plan.format;
  self->columns = plan.columns;
  self->scale = scale;
  GST_INFO_OBJECT (owner->element, "labelling %u×%u frames with algorithm %s", plan.width,
      plan.height, ccl_labeller_algorithm (labeller));
  return TRUE;
}

static const gchar *const map_names[GST_CCL_N_MAPS] = {
    [GST_CCL_MAP_LABELS] = N_ ("label map"),
    [GST_CCL_MAP_MASK] = N_ ("foreground mask"),
    [GST_CCL_MAP_SAMPLE] = N_ ("sample of the foreground"),
    [GST_CCL_MAP_PICTURE] = N_ ("sample of the picture"),
    [GST_CCL_MAP_LUMA] = N_ ("luma plane"),
};

/* Takes an unused map from its pool. */
static gboolean
acquire_map (GstCclFrameLabeller *self, const GstCclOwner *owner, GstCclMapKind kind,
    GstCclMap *map, CclError *error)
{
  const GstCclMethods *methods = owner->methods;
  GstBufferPool **pool = &self->map_pools[kind];
  const GstVideoInfo *info = &self->info;

  if (!*pool)
    *pool = methods->new_map_pool (owner->element, self->site, info, kind);
  if (!*pool || gst_buffer_pool_acquire_buffer (*pool, &map->buffer, NULL) != GST_FLOW_OK) {
    gst_ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "No %s for a %s of %d×%d pixels",
        _ (methods->map_memory), _ (map_names[kind]), GST_VIDEO_INFO_WIDTH (info),
        GST_VIDEO_INFO_HEIGHT (info));
    return FALSE;
  }
  methods->locate_map (owner->element, info, kind, map);
  return TRUE;
}

/* Whether the mask, in system memory and of reduced size, is the sample of a frame. */
static gboolean
shares_mask (const GstCclFrameLabeller *self, const GstCclOwner *owner)
{
  return self->scale > 1 && owner->methods->backend == GST_CCL_BACKEND_CPU;
}

/* Frames without a model are masks, mostly, whose objects have the same colour. */
static gboolean
wants_picture (const GstCclFrameLabeller *self, const GstCclSettings *settings)
{
  return settings->attach_sample && self->foreground.foreground;
}

/* Makes labeller and foreground for a frame, and the maps that the settings ask for. */
static gboolean
prepare (GstCclFrameLabeller *self, const GstCclOwner *owner, const GstCclSettings *settings,
    GstCclMap maps[GST_CCL_N_MAPS], CclError *error)
{
  if (!gst_ccl_foreground_stage_prepare (
          &self->foreground, owner, self->site, &self->info, settings, error) ||
      !prepare_labeller (self, owner, settings, error) ||
      !gst_ccl_contour_finder_prepare (
          &self->contour_finder, owner, self->site, &self->info, settings, error))
    return FALSE;
  if ((settings->attach_labels || settings->attach_contours != GST_CCL_ATTACH_CONTOURS_NONE ||
          gst_ccl_measurer_needs_labels (settings, &self->info)) &&
      !acquire_map (self, owner, GST_CCL_MAP_LABELS, &maps[GST_CCL_MAP_LABELS], error))
    return FALSE;
  if (settings->attach_sample && !shares_mask (self, owner) &&
      !acquire_map (self, owner, GST_CCL_MAP_SAMPLE, &maps[GST_CCL_MAP_SAMPLE], error))
    return FALSE;
  if (wants_picture (self, settings) &&
      !acquire_map (self, owner, GST_CCL_MAP_PICTURE, &maps[GST_CCL_MAP_PICTURE], error))
    return FALSE;
  return !self->foreground.foreground ||
         acquire_map (self, owner, GST_CCL_MAP_MASK, &maps[GST_CCL_MAP_MASK], error);
}

/* The luma that a labeller measures is where the pixels are that it labels. */
static gboolean
needs_luma_map (const GstCclFrameLabeller *self, const GstCclLabelledFrame *frame)
{
  return self->columns & CUDACCL_COLUMN_INTENSITY && self->foreground.foreground &&
         frame->layout.location != frame->maps[GST_CCL_MAP_MASK].location;
}

/* The luma plane of a frame, to be measured; if there is a map for it, queues the copy there. */
static gboolean
locate_luma (GstCclFrameLabeller *self, const GstCclOwner *owner, const CclFrame *pixels,
    const GstCclLabelledFrame *frame, CclIntensity *luma, CclError *error)
{
  const GstVideoInfo *info = &self->info;
  const CclPixelFormat format = gst_ccl_planes_pixel_format (info);
  const GstCclMap *map = &frame->maps[GST_CCL_MAP_LUMA];
  const GstCclRowCopy copy = {
      .from = *pixels,
      .row_size = (gsize)GST_VIDEO_INFO_WIDTH (info) * gst_ccl_sample_pixel_size (format),
      .to_stride = map->stride,
      .n_rows = (guint)GST_VIDEO_INFO_HEIGHT (info),
      .to = frame->data[GST_CCL_MAP_LUMA],
  };

  *luma = (CclIntensity){pixels->data, pixels->stride, format};
  if (!map->buffer)
    return TRUE;
  *luma = (CclIntensity){copy.to, copy.to_stride, format};
  return owner->methods->copy_rows (owner->element, self->site, frame->labeller, &copy, error);
}

/* The options for a mask of which a pixel stands for scale × scale of the frame. */
static CclLabellerOptions
of_mask (CclLabellerOptions options, guint scale)
{
  options.threshold = CUDACCL_MASK_SHADOW;
  options.invert = FALSE;
  options.min_area = options.min_area / (scale * scale) + (options.min_area % (scale * scale) > 0);
  options.max_area /= scale * scale;
  return options;
}

/* Queues the work on a frame whose memory is mapped. */
static gboolean
queue_work (GstCclFrameLabeller *self, const GstCclOwner *owner, const GstCclSettings *settings,
    CclFrame pixels, GstCclLabelledFrame *frame, CclError *error)
{
  const GstCclMethods *methods = owner->methods;
  CclForeground *foreground = self->foreground.foreground;
  const GstCclMap *maps = frame->maps;
  const guint scale = self->scale;
  CclMask mask = {frame->data[GST_CCL_MAP_MASK], maps[GST_CCL_MAP_MASK].stride / scale};
  CclLabels labels = {frame->data[GST_CCL_MAP_LABELS], maps[GST_CCL_MAP_LABELS].stride};
  CclLabellerOptions options = gst_ccl_settings_get_options (settings);
  gpointer sample = frame->data[GST_CCL_MAP_SAMPLE];
  gboolean has_sample = !sample;
  gboolean at_once = FALSE; /* mask and labels */
  CclIntensity luma = {NULL};

  /* No pixel is greater than a threshold beyond the format. */
  options.threshold = MIN (options.threshold, gst_ccl_planes_pixel_max (&self->info));

  if (self->columns & CUDACCL_COLUMN_INTENSITY &&
      !locate_luma (self, owner, &pixels, frame, &luma, error))
    return FALSE;
  if (wants_picture (self, settings) &&
      !gst_ccl_picture_queue (owner, self->site, frame->labeller, &self->info, &pixels,
          frame->data[GST_CCL_MAP_PICTURE], &frame->sample.picture, error))
    return FALSE;
  if (foreground) {
    CclForegroundOptions foreground_options = gst_ccl_settings_get_foreground_options (settings);

    foreground_options.threshold = options.threshold;
    foreground_options.reduced_mask = scale > 1;
    foreground_options.frame_duration = self->frame_duration;
    if (methods->connect)
      methods->connect (owner->element, foreground, frame->labeller);
    if (settings->attach_sample && shares_mask (self, owner))
      gst_ccl_sampler_share (
          &self->info, scale, maps[GST_CCL_MAP_MASK].buffer, mask.stride, &frame->sample);
    has_sample = has_sample || gst_ccl_sampler_take_bits (
                                   owner, foreground, &self->info, scale, sample, &frame->sample);
    at_once = methods->queue_with_mask && has_sample && !luma.data;
    options = of_mask (options, scale);
    if ((at_once ? methods->queue_with_mask (frame->labeller, foreground, &pixels,
                       &foreground_options, &mask, &options, labels.data ? &labels : NULL, error)
                 : ccl_foreground_queue (foreground, &pixels, &foreground_options, &mask, error)) !=
        CUDACCL_OK) {
      if (methods->copy_bits)
        methods->copy_bits (owner->element, foreground, NULL);
      ccl_foreground_wait (foreground, NULL);
      return FALSE;
    }
    if (at_once)
      return TRUE;
    /* The labeller reads the mask instead of the frame. */
    pixels = (CclFrame){mask.data, mask.stride, maps[GST_CCL_MAP_MASK].location};
  }
  pixels.intensity = luma;
  if ((has_sample || gst_ccl_sampler_queue (owner, self->site, frame->labeller, &self->info,
                         &pixels, self->format, scale, &options, sample, &frame->sample, error)) &&
      ccl_labeller_queue (
          frame->labeller, &pixels, &options, labels.data ? &labels : NULL, error) == CUDACCL_OK)
    return TRUE;
  if (foreground)
    ccl_foreground_wait (foreground, NULL);
  return FALSE;
}

/* Maps the memory of the maps that are asked for. */
static gboolean
map_maps (GstCclLabelledFrame *frame, CclError *error)
{
  for (guint kind = 0; kind < GST_CCL_N_MAPS; kind++) {
    const GstCclMap *map = &frame->maps[kind];

    if (!map->buffer)
      continue;
    if (!gst_buffer_map (map->buffer, &frame->map_infos[kind], map->map_flags)) {
      gst_ccl_error_set (error, CUDACCL_ERROR_DEVICE,
          "The memory of a label map or foreground mask cannot be mapped");
      return FALSE;
    }
    frame->data[kind] = frame->map_infos[kind].data + map->offset;
  }
  return TRUE;
}

static void
unmap (GstCclLabelledFrame *frame)
{
  for (guint kind = 0; kind < GST_CCL_N_MAPS; kind++) {
    if (frame->data[kind])
      gst_buffer_unmap (frame->maps[kind].buffer, &frame->map_infos[kind]);
    frame->data[kind] = NULL;
  }
  gst_ccl_planes_unmap (&frame->planes);
}

/* The buffer whose pixels are read: the frame, or what it was unpacked to. NULL after an error. */
static GstBuffer *
get_pixels (GstCclFrameLabeller *self, const GstCclSettings *settings, GstBuffer *buffer,
    GstCclLabelledFrame *frame, CclError *error)
{
  const gboolean with_chroma = self->foreground.has_chroma || settings->attach_columns;

  if (!self->is_packed)
    return buffer;
  frame->unpacked =
      gst_ccl_unpack (&self->unpacked_pool, &self->packed, &self->info, buffer, with_chroma, error);
  return frame->unpacked;
}

/* Maps the memory of a frame and of its maps, and queues the work. */
static gboolean
map_and_queue (GstCclFrameLabeller *self, const GstCclOwner *owner, const GstCclSettings *settings,
    GstBuffer *buffer, GstCclLabelledFrame *frame, CclError *error)
{
  const GstCclMethods *methods = owner->methods;
  const gboolean has_chroma = self->foreground.has_chroma;
  const GstVideoInfo *info = &self->info;
  GstCclPlanes planes;
  CclFrame pixels;

  gst_ccl_planes_init (&planes, info);
  buffer = get_pixels (self, settings, buffer, frame, error);
  if (!buffer)
    return FALSE;
  if (methods->locate && !methods->locate (owner->element, self->site, buffer, info, has_chroma,
                             frame->labeller, &planes, error))
    return FALSE;
  frame->layout = planes;
  if (!gst_ccl_planes_map (&planes, info, buffer, has_chroma, &frame->planes, &pixels, error) ||
      (needs_luma_map (self, frame) &&
          !acquire_map (self, owner, GST_CCL_MAP_LUMA, &frame->maps[GST_CCL_MAP_LUMA], error)) ||
      !map_maps (frame, error))
    return FALSE;
  frame->start = gst_util_get_timestamp ();
  return queue_work (self, owner, settings, pixels, frame, error);
}

gboolean
gst_ccl_frame_labeller_choose_site (GstCclFrameLabeller *self, const GstCclOwner *owner,
    GstBuffer *buffer, GstCclSite **site, CclError *error)
{
  const GstCclMethods *methods = owner->methods;

  *site = NULL;
  if (!methods->choose_site)
    return TRUE;
  *site = methods->choose_site (owner->element, self->site,
      gst_ccl_foreground_stage_has_model (&self->foreground), buffer, error);
  return *site != NULL;
}

gboolean
gst_ccl_frame_labeller_can_queue (const GstCclFrameLabeller *self, const GstCclSite *site)
{
  return self->n_queued == 0 || (!self->foreground.foreground && site == self->site);
}

/* What was made at the present site cannot be used at another one. */
static void
move (GstCclFrameLabeller *self, const GstCclOwner *owner, GstCclSite *site)
{
  if (site == self->site)
    return;
  gst_ccl_foreground_stage_warn_of_move (&self->foreground, owner->element);
  gst_ccl_frame_labeller_release (self);
  self->site = site;
}

gboolean
gst_ccl_frame_labeller_queue (GstCclFrameLabeller *self, const GstCclOwner *owner, GstCclSite *site,
    const GstCclSettings *settings, GstBuffer *buffer, GstCclLabelledFrame *frame, CclError *error)
{
  *frame = (GstCclLabelledFrame){0};
  move (self, owner, site);
  if (!prepare (self, owner, settings, frame->maps, error))
    return FALSE;
  frame->labeller = g_ptr_array_index (self->labellers, self->n_queued);
  if (!map_and_queue (self, owner, settings, buffer, frame, error))
    return FALSE;
  self->n_queued++;
  return TRUE;
}

/* Replaces the table by one in the frame's coordinates. */
static void
enlarge_table (GstCclFrameLabeller *self, CclTable *table)
{
  g_array_set_size (self->rows, 0);
  g_array_append_vals (self->rows, table->rows, table->n_rows);
  for (guint i = 0; i < table->n_rows; i++)
    ccl_component_enlarge (&g_array_index (self->rows, CclComponent, i), self->scale);
  table->rows = (const CclComponent *)self->rows->data;
}

/* Finds the contours where the label map is. They are queued before the labels are waited for, so
 * that one wait is enough for both. */
static void
find_contours_at_site (
    GstCclFrameLabeller *self, const GstCclSettings *settings, GstCclLabelledFrame *frame)
{
  if (self->contour_finder.is_of_site)
    frame->contours = gst_ccl_contour_finder_run_behind (&self->contour_finder, settings,
        frame->labeller, frame->data[GST_CCL_MAP_LABELS], frame->maps[GST_CCL_MAP_LABELS].stride,
        &frame->contours_error);
}

gboolean
gst_ccl_frame_labeller_wait (GstCclFrameLabeller *self, const GstCclOwner *owner,
    const GstCclSettings *settings, GstCclLabelledFrame *frame, CclError *error)
{
  CclForeground *foreground = self->foreground.foreground;
  gboolean is_labelled;

  find_contours_at_site (self, settings, frame);
  is_labelled = ccl_labeller_wait (frame->labeller, &frame->table, error) == CUDACCL_OK;
  self->n_queued--;
  if (is_labelled && self->scale > 1)
    enlarge_table (self, &frame->table);
  /* The labeller has waited for the mask, unless it failed; then this waits. */
  if (foreground) {
    if (is_labelled && owner->methods->finish)
      owner->methods->finish (owner->element, foreground);
    ccl_foreground_wait (foreground, NULL);
    frame->scene.size = sizeof frame->scene;
    ccl_foreground_get_scene (foreground, &frame->scene, NULL);
    frame->has_changes = ccl_foreground_method_has_scene (self->foreground.method);
  }
  unmap (frame);
  return is_labelled;
}

/* Describes the element and its settings, once for all frames with the same settings. */
static void
update_description (
    GstCclFrameLabeller *self, const GstCclOwner *owner, const GstCclSettings *settings)
{
  g_autoptr (GstStructure) description = NULL;
  g_autofree gchar *name = NULL;

  if (self->description && gst_ccl_settings_give_same_result (&self->described, settings))
    return;
  g_clear_pointer (&self->description, gst_ccl_labeller_unref);
  description = gst_ccl_settings_describe (settings, owner->methods->backend);
  name = gst_object_get_name (GST_OBJECT_CAST (owner->element));
  self->description = gst_ccl_labeller_new_with_id (name, owner->id, description);
  self->described = *settings;
}

/* Adds the contours to the metadata that was attached just now, and finds them if they were not
 * found at the site. */
static gboolean
attach_contours (GstCclFrameLabeller *self, const GstCclSettings *settings, GstBuffer *buffer,
    GstCclLabelledFrame *frame, CclError *error)
{
  if (!self->contour_finder.is_of_site)
    frame->contours = gst_ccl_contour_finder_run (
        &self->contour_finder, settings, &frame->maps[GST_CCL_MAP_LABELS], error);
  else if (!frame->contours)
    *error = frame->contours_error;
  if (!frame->contours)
    return FALSE;
  gst_ccl_meta_set_contours (gst_buffer_get_ccl_meta (buffer), frame->contours);
  return TRUE;
}

/* Adds the columns to the metadata that was attached just now. */
static gboolean
attach_columns (GstCclFrameLabeller *self, const GstCclSettings *settings, GstBuffer *buffer,
    const GstCclLabelledFrame *frame, CclError *error)
{
  g_autoptr (GstCclColumns) columns = gst_ccl_measurer_run (&self->measurer, &self->info, settings,
      frame->unpacked ? frame->unpacked : buffer, &frame->layout, &frame->table,
      &frame->maps[GST_CCL_MAP_LABELS], error);

  if (columns)
    gst_ccl_meta_set_columns (gst_buffer_get_ccl_meta (buffer), columns);
  return columns != NULL;
}

gboolean
gst_ccl_frame_labeller_attach (GstCclFrameLabeller *self, const GstCclOwner *owner,
    const GstCclSettings *settings, GstBuffer *buffer, GstCclLabelledFrame *frame, CclError *error)
{
  const GstVideoInfo *info = &self->info;
  const GstCclMap *labels = &frame->maps[GST_CCL_MAP_LABELS];
  const GstCclMap *mask = &frame->maps[GST_CCL_MAP_MASK];
  GstCclAttachment attached_labels = {NULL};
  GstCclAttachment attached_mask = {NULL};

  if (settings->attach_labels)
    attached_labels = (GstCclAttachment){labels->buffer, labels->stride};
  if (settings->attach_mask)
    attached_mask = (GstCclAttachment){mask->buffer, mask->stride};
  update_description (self, owner, settings);
  gst_ccl_attach (buffer, settings->meta, self->description, GST_VIDEO_INFO_WIDTH (info),
      GST_VIDEO_INFO_HEIGHT (info), &frame->table, &attached_labels, &attached_mask,
      &self->segmentation_pool);
  if (settings->attach_sample) {
    GstCclSample sample = frame->sample;

    if (!sample.rows)
      sample.rows = frame->maps[GST_CCL_MAP_SAMPLE].buffer;
    sample.picture.buffer = frame->maps[GST_CCL_MAP_PICTURE].buffer;
    sample.connectivity = (CclConnectivity)settings->connectivity;
    gst_ccl_sample_attach (buffer, self->description, &sample);
  }
  if (settings->attach_columns && !attach_columns (self, settings, buffer, frame, error))
    return FALSE;
  return settings->attach_contours == GST_CCL_ATTACH_CONTOURS_NONE ||
         attach_contours (self, settings, buffer, frame, error);
}

void
gst_ccl_labelled_frame_clear (GstCclLabelledFrame *frame)
{
  unmap (frame);
  for (guint kind = 0; kind < GST_CCL_N_MAPS; kind++)
    gst_clear_buffer (&frame->maps[kind].buffer);
  gst_clear_buffer (&frame->unpacked);
  g_clear_pointer (&frame->contours, gst_ccl_contours_unref);
}
