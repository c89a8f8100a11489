/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclsample.h"

#include <gst/video/video.h>

#define MAX_PIXELS 250000

typedef struct {
  GstMeta meta;
  GstCclLabeller *labeller;
  GstCclSample sample;
} SampleMeta;

static const GstMetaInfo *get_info (void);

static SampleMeta *
add_meta (GstBuffer *buffer, GstCclLabeller *labeller, const GstCclSample *sample)
{
  SampleMeta *self = (SampleMeta *)gst_buffer_add_meta (buffer, get_info (), NULL);

  self->labeller = gst_ccl_labeller_ref (labeller);
  self->sample = *sample;
  gst_buffer_ref (sample->rows);
  if (sample->picture.buffer)
    gst_buffer_ref (sample->picture.buffer);
  return self;
}

static gboolean
init_meta (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  SampleMeta *self = (SampleMeta *)meta;

  self->labeller = NULL;
  self->sample = (GstCclSample){0};
  return TRUE;
}

static void
free_meta (GstMeta *meta, GstBuffer *buffer)
{
  SampleMeta *self = (SampleMeta *)meta;

  g_clear_pointer (&self->labeller, gst_ccl_labeller_unref);
  gst_clear_buffer (&self->sample.rows);
  gst_clear_buffer (&self->sample.picture.buffer);
}

/* Elements that convert colours ask for scaling, too. */
static gboolean
keeps_size (const GstVideoMetaTransform *scale)
{
  return GST_VIDEO_INFO_WIDTH (scale->in_info) == GST_VIDEO_INFO_WIDTH (scale->out_info) &&
         GST_VIDEO_INFO_HEIGHT (scale->in_info) == GST_VIDEO_INFO_HEIGHT (scale->out_info);
}

/* A frame that was scaled or cropped has no sample; its components are tracked by their boxes. */
static gboolean
transform_meta (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data)
{
  const SampleMeta *self = (SampleMeta *)meta;
  const gboolean is_whole = GST_META_TRANSFORM_IS_COPY (type)
                                ? !data || !((GstMetaTransformCopy *)data)->region
                            : GST_VIDEO_META_TRANSFORM_IS_SCALE (type) ? keeps_size (data)
                                                                       : FALSE;

  if (is_whole)
    add_meta (dest, self->labeller, &self->sample);
  return is_whole;
}

/* Registers the metadata. The tags are those of GstCclMeta. */
static const GstMetaInfo *
get_info (void)
{
  static const gchar *tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
      GST_META_TAG_VIDEO_ORIENTATION_STR, NULL};
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter ((GstMetaInfo **)&info)) {
    const GType api = gst_meta_api_type_register ("GstCclSampleMetaAPI", tags);
    const GstMetaInfo *registered = gst_meta_register (
        api, "GstCclSampleMeta", sizeof (SampleMeta), init_meta, free_meta, transform_meta);
    g_once_init_leave ((GstMetaInfo **)&info, (GstMetaInfo *)registered);
  }
  return info;
}

static SampleMeta *
find (GstBuffer *buffer, guint64 labeller)
{
  gpointer state = NULL;
  SampleMeta *self;

  while ((self = (SampleMeta *)gst_buffer_iterate_meta_filtered (buffer, &state, get_info ()->api)))
    if (gst_ccl_labeller_get_id (self->labeller) == labeller)
      return self;
  return NULL;
}

guint
gst_ccl_sample_step (guint frame_width, guint frame_height)
{
  guint step = 1;

  while ((guint64)gst_ccl_sampled (frame_width, step) * gst_ccl_sampled (frame_height, step) >
         MAX_PIXELS)
    step *= 2;
  return step;
}

void
gst_ccl_sample_attach (GstBuffer *buffer, GstCclLabeller *labeller, const GstCclSample *sample)
{
  add_meta (buffer, labeller, sample);
}

const GstCclSample *
gst_ccl_sample_find (GstBuffer *buffer, const GstCclMeta *meta)
{
  g_autoptr (GstCclLabeller) labeller = gst_ccl_meta_get_labeller (meta);
  SampleMeta *self = labeller ? find (buffer, gst_ccl_labeller_get_id (labeller)) : NULL;

  if (!self || self->sample.frame_width != gst_ccl_meta_get_frame_width (meta) ||
      self->sample.frame_height != gst_ccl_meta_get_frame_height (meta))
    return NULL;
  return &self->sample;
}

void
gst_ccl_sample_remove (GstBuffer *buffer, guint64 labeller)
{
  SampleMeta *self = find (buffer, labeller);

  if (self)
    gst_buffer_remove_meta (buffer, &self->meta);
}
