/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclstream.h"

#include "labelling/frame/gstcclattach.h"
#include "shared/gstcclframe.h"
#include "shared/gstccli18n.h"

GST_DEBUG_CATEGORY_STATIC (stream_debug);
#define GST_CAT_DEFAULT stream_debug

enum { LEAST_CHANGED = 3, CHANGED_SHARE = 50 };

void
gst_ccl_stream_init_log (void)
{
  GST_DEBUG_CATEGORY_INIT (stream_debug, "cclstream", 0, "streams of ccl and cudaccl");
}

void
gst_ccl_stream_init (GstCclStream *stream, const GstCclOwner *owner, gint number)
{
  stream->owner = owner;
  stream->number = number;
  stream->caps = NULL;
  gst_ccl_frame_clock_init (&stream->clock);
  gst_ccl_stream_reset_motion (stream);
  gst_segment_init (&stream->segment, GST_FORMAT_UNDEFINED);
  gst_ccl_frame_labeller_init (&stream->labeller);
}

void
gst_ccl_stream_clear (GstCclStream *stream)
{
  gst_ccl_frame_labeller_clear (&stream->labeller);
  gst_clear_caps (&stream->caps);
}

void
gst_ccl_stream_release (GstCclStream *stream)
{
  gst_ccl_frame_labeller_release (&stream->labeller);
}

void
gst_ccl_stream_reset_model (GstCclStream *stream)
{
  ccl_foreground_reset (stream->labeller.foreground.foreground);
}

void
gst_ccl_stream_reset_motion (GstCclStream *stream)
{
  stream->motion = (GstCclMotion){FALSE};
  gst_ccl_frame_clock_reset (&stream->clock);
}

void
gst_ccl_stream_advance (GstCclStream *stream, GstBuffer *buffer)
{
  GstCclFrameClock *clock = &stream->clock;
  GstClockTime elapsed;
  const gdouble n_frames =
      gst_ccl_frame_clock_advance (clock, &stream->segment, GST_BUFFER_PTS (buffer), &elapsed);

  /* The time stamps of a network jitter, and the foreground must not depend on that. */
  stream->labeller.frame_duration =
      clock->is_constant ? (GstClockTime)(n_frames * GST_SECOND / clock->frame_rate) : elapsed;
}

/* Reads the caps of frames, which must be raw video. Posts an error if no frame can have them. */
static gboolean
read_caps (GstElement *element, const GstCaps *caps, GstVideoInfo *info)
{
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  gint width = 0, height = 0;

  gst_structure_get_int (structure, "width", &width);
  gst_structure_get_int (structure, "height", &height);
  if ((gint64)width * height > CUDACCL_MAX_PIXELS) {
    GST_ELEMENT_ERROR (element, STREAM, FORMAT,
        (_ ("A frame of %d×%d pixels is too large: at most %d pixels can be labelled"), width,
            height, CUDACCL_MAX_PIXELS),
        (NULL));
    return FALSE;
  }
  if (!gst_video_info_from_caps (info, caps)) {
    GST_ERROR_OBJECT (element, "invalid caps %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  return TRUE;
}

/* The background model does not depend on any other field of the caps. */
static void
set_info (GstCclStream *stream, const GstVideoInfo *info)
{
  const GstVideoInfo *current = &stream->labeller.info;

  if (GST_VIDEO_INFO_WIDTH (current) != GST_VIDEO_INFO_WIDTH (info) ||
      GST_VIDEO_INFO_HEIGHT (current) != GST_VIDEO_INFO_HEIGHT (info)) {
    GST_DEBUG_OBJECT (stream->owner->element, "new frame size %d×%d", GST_VIDEO_INFO_WIDTH (info),
        GST_VIDEO_INFO_HEIGHT (info));
    gst_ccl_stream_release (stream);
  } else if (GST_VIDEO_INFO_FORMAT (current) != GST_VIDEO_INFO_FORMAT (info)) {
    GST_DEBUG_OBJECT (stream->owner->element, "new format");
    gst_ccl_stream_reset_model (stream);
  }
  stream->labeller.info = *info;
}

gboolean
gst_ccl_stream_set_caps (GstCclStream *stream, const GstCaps *caps)
{
  GstVideoInfo info, read;

  if (!read_caps (stream->owner->element, caps, &info))
    return FALSE;
  gst_ccl_frame_labeller_describe (&stream->labeller, &info, &read);
  set_info (stream, &read);
  gst_ccl_frame_clock_set_caps (&stream->clock, caps);
  return TRUE;
}

/* Posts a message about a stream. With batches it has the number of the stream. */
static void
post_structure (const GstCclStream *stream, GstStructure *structure)
{
  if (stream->number >= 0)
    gst_structure_set (structure, "stream", G_TYPE_UINT, (guint)stream->number, NULL);
  gst_element_post_message (stream->owner->element,
      gst_message_new_element (GST_OBJECT_CAST (stream->owner->element), structure));
}

static void
post_motion (const GstCclStream *stream, const gchar *event, GstClockTime time, guint n_components)
{
  GstStructure *structure = gst_ccl_moment_structure (event, time, &stream->segment);

  GST_DEBUG_OBJECT (stream->owner->element, "%s at %" GST_TIME_FORMAT, event, GST_TIME_ARGS (time));
  gst_structure_set (structure, "count", G_TYPE_UINT, n_components, NULL);
  post_structure (stream, structure);
}

/* Each motion-begin has its motion-end, also where the property was set to false in between. */
static void
stop_motion (GstCclStream *stream)
{
  if (gst_ccl_motion_end (&stream->motion))
    post_motion (stream, "motion-end", stream->motion.last, 0);
  stream->motion = (GstCclMotion){FALSE};
}

static void
post_scene_change (const GstCclStream *stream, const CclScene *scene, GstClockTime time)
{
  const gchar *kind = ccl_scene_change_name (scene->change);
  GstStructure *structure = gst_ccl_moment_structure ("scene-change", time, &stream->segment);

  GST_INFO_OBJECT (
      stream->owner->element, "scene change (%s) at %" GST_TIME_FORMAT, kind, GST_TIME_ARGS (time));
  gst_structure_set (structure, "kind", G_TYPE_STRING, kind, NULL);
  if (scene->has_displacement)
    gst_structure_set (structure, "dx", G_TYPE_INT, scene->dx, "dy", G_TYPE_INT, scene->dy, NULL);
  post_structure (stream, structure);
}

/* Whether the components of a frame move or change: with foreground=codebook at least so many of
 * their pixels have, and one in so many. */
static gboolean
moves (const GstCclLabelledFrame *frame)
{
  const CclScene *scene = &frame->scene;

  return !frame->has_changes ||
         (scene->n_changed >= LEAST_CHANGED &&
             (guint64)scene->n_changed * CHANGED_SHARE >= scene->n_foreground);
}

void
gst_ccl_stream_post_messages (GstCclStream *stream, GstBuffer *buffer,
    const GstCclSettings *settings, const GstCclLabelledFrame *frame)
{
  const CclTable *table = &frame->table;
  GstElementFactory *factory = gst_element_get_factory (stream->owner->element);
  const GstClockTime quiet_time = (GstClockTime)(settings->quiet_time * GST_SECOND);
  const gchar *motion;

  if (frame->scene.change != CUDACCL_SCENE_UNCHANGED)
    post_scene_change (stream, &frame->scene, GST_BUFFER_PTS (buffer));
  if (settings->post_messages)
    post_structure (
        stream, gst_ccl_message_structure (
                    factory ? GST_OBJECT_NAME (factory) : GST_OBJECT_NAME (stream->owner->element),
                    buffer, &stream->segment, table));
  if (!settings->post_motion) {
    stop_motion (stream);
    return;
  }
  motion = gst_ccl_motion_frame (&stream->motion, GST_BUFFER_PTS (buffer), table->n_components,
      moves (frame), settings->min_frames, quiet_time, gst_ccl_is_reversed (&stream->segment));
  if (motion)
    post_motion (stream, motion, GST_BUFFER_PTS (buffer), table->n_components);
}

void
gst_ccl_stream_end_motion (GstCclStream *stream)
{
  stop_motion (stream);
  gst_ccl_frame_clock_reset (&stream->clock);
}

void
gst_ccl_stream_restart (GstCclStream *stream)
{
  gst_ccl_stream_end_motion (stream);
  gst_ccl_stream_reset_model (stream);
}
