/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backlog.h"

/* A stream without key frames, or with very few, is decoded after this time as it comes. */
#define MAX_SKIP_TIME (30 * G_TIME_SPAN_SECOND)
/* A share of the limit: a frame younger than that is not late, and decoding goes on with a key
 * frame younger than that. */
#define FRESH 0.25

static gint64
arrival_of (GstBuffer *buffer)
{
  const GstClockTime time = gst_ccl_utc_get_arrival (buffer);

  return GST_CLOCK_TIME_IS_VALID (time) ? (gint64)(time / GST_USECOND) : g_get_monotonic_time ();
}

/* The packets of one stream. */
typedef struct {
  WatchCamera *camera;
  gboolean has_marker; /* the last packet of a frame has the marker of RTP */
  gboolean has_time;
  guint32 time; /* RTP time of the packet before; all packets of a frame have the same */
} Packets;

/* Marks the last packet of each frame, with which the frame is complete: a slow network makes no
 * frame old. If the sender sets no markers, it marks the first one. A frame gets the marks of all
 * its packets. */
static gboolean
mark_arrival (GstBuffer **packet, guint index, gpointer data)
{
  Packets *packets = data;
  guint8 header[8];
  gboolean is_last, is_first;

  if (gst_buffer_extract (*packet, 0, header, sizeof header) != sizeof header)
    return TRUE;
  is_last = (header[1] & 0x80) != 0;
  is_first = !packets->has_time || GST_READ_UINT32_BE (header + 4) != packets->time;
  packets->time = GST_READ_UINT32_BE (header + 4);
  packets->has_time = TRUE;
  packets->has_marker = packets->has_marker || is_last;
  if (packets->has_marker ? !is_last : !is_first)
    return TRUE;
  *packet = gst_buffer_make_writable (*packet);
  gst_ccl_utc_mark_arrival (*packet);
  return TRUE;
}

gboolean
watch_backlog_is_media (GstPad *pad, const gchar *media)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  const GstStructure *structure = caps ? gst_caps_get_structure (caps, 0) : NULL;

  return structure && g_strcmp0 (gst_structure_get_string (structure, "media"), media) == 0;
}

/* When the first packets of a connection arrive, none waits, so the queue counts as emptied at that
 * time. */
static void
note_packets (WatchCamera *camera)
{
  WatchBacklog *backlog = &camera->locked.backlog;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&camera->lock);

  backlog->arrival = g_get_monotonic_time ();
  if (backlog->taken == 0)
    backlog->taken = backlog->arrival;
}

static GstPadProbeReturn
on_packets (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Packets *packets = data;

  if (!watch_backlog_is_media (pad, "video"))
    return GST_PAD_PROBE_REMOVE;
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = gst_buffer_list_make_writable (GST_PAD_PROBE_INFO_BUFFER_LIST (info));

    gst_buffer_list_foreach (list, mark_arrival, packets);
    GST_PAD_PROBE_INFO_DATA (info) = list;
  } else {
    GstBuffer *packet = GST_PAD_PROBE_INFO_BUFFER (info);

    mark_arrival (&packet, 0, packets);
    GST_PAD_PROBE_INFO_DATA (info) = packet;
  }
  note_packets (packets->camera);
  return GST_PAD_PROBE_OK;
}

void
watch_backlog_add_source (WatchCamera *camera, GstElement *jitter_buffer)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (jitter_buffer, "sink");
  Packets *packets = g_new0 (Packets, 1);

  packets->camera = camera;
  g_object_set (camera->analysis.queue, "leaky", NOT_LEAKY, NULL);
  g_mutex_lock (&camera->lock);
  camera->locked.backlog.has_source = TRUE;
  g_mutex_unlock (&camera->lock);
  gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, on_packets, packets, g_free);
}

/* Tells the hub the camera's present share of late frames, or that it has none. Returns the share
 * minus the mean of all cameras. */
static gdouble
set_share (WatchCamera *camera, gdouble share)
{
  WatchHub *hub = camera->hub;
  const gdouble former = camera->locked.backlog.share;
  gdouble difference;

  g_mutex_lock (&hub->lock);
  hub->late_shares += MAX (share, 0) - MAX (former, 0);
  hub->n_late_shares += (share >= 0) - (former >= 0);
  difference = hub->n_late_shares > 0 ? share - hub->late_shares / hub->n_late_shares : 0;
  g_mutex_unlock (&hub->lock);
  camera->locked.backlog.share = share;
  return difference;
}

/* With the lock: the age at which the camera begins to skip frames. The more of its frames were
 * skipped compared with other cameras, the longer it waits. */
static gdouble
limit_of_age (WatchCamera *camera, gint64 now)
{
  WatchBacklog *backlog = &camera->locked.backlog;

  if (now - backlog->share_time > G_TIME_SPAN_SECOND) {
    backlog->preference = set_share (camera, watch_camera_get_late_share (camera));
    backlog->share_time = now;
  }
  return camera_config (camera)->max_delay * CLAMP (0.75 + 2 * backlog->preference, 0.1, 1);
}

/* With the lock: whether the frame of that age in seconds is to be skipped. */
static gboolean
is_skipped (WatchCamera *camera, gdouble age, gint64 now, gboolean is_key_frame)
{
  WatchBacklog *backlog = &camera->locked.backlog;

  if (!backlog->is_skipping && age > limit_of_age (camera, now)) {
    backlog->is_skipping = TRUE;
    backlog->skip_time = now;
  } else if (backlog->is_skipping && age <= camera_config (camera)->max_delay * FRESH &&
             (is_key_frame || now - backlog->skip_time > MAX_SKIP_TIME)) {
    backlog->is_skipping = FALSE;
  }
  return backlog->is_skipping;
}

/* Files wait for the decoder. The first frame of a connection is decoded in any case. */
static gboolean
may_skip (WatchCamera *camera)
{
  return camera_config (camera)->max_delay > 0 && !camera->is_file && camera->locked.play_time > 0;
}

gboolean
watch_backlog_take (WatchCamera *camera, GstBuffer *frame)
{
  const gboolean is_key_frame = !GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_DELTA_UNIT);
  const gint64 now = g_get_monotonic_time (), arrival = arrival_of (frame);
  gboolean was_skipping, skip;

  if (!GST_CLOCK_TIME_IS_VALID (gst_ccl_utc_get_arrival (frame)))
    gst_ccl_utc_mark_arrival (frame);
  g_mutex_lock (&camera->lock);
  camera->locked.backlog.arrival = MAX (camera->locked.backlog.arrival, arrival);
  camera->locked.backlog.taken = arrival;
  was_skipping = camera->locked.backlog.is_skipping;
  skip = may_skip (camera) && is_skipped (camera, (now - arrival) / 1e6, now, is_key_frame);
  if (skip)
    camera->locked.active_time = now; /* it is not silent */
  g_mutex_unlock (&camera->lock);
  if (skip)
    watch_camera_frame_late (camera);
  else if (was_skipping)
    GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DISCONT);
  return !skip;
}

gboolean
watch_backlog_is_late (WatchCamera *camera, GstBuffer *frame)
{
  const gdouble limit = camera_config (camera)->max_delay,
                age = (g_get_monotonic_time () - arrival_of (frame)) / 1e6;
  gboolean has_source;

  g_mutex_lock (&camera->lock);
  has_source = camera->locked.backlog.has_source;
  g_mutex_unlock (&camera->lock);
  return has_source && limit > 0 && age > FRESH * limit;
}

void
watch_backlog_end (WatchCamera *camera)
{
  g_mutex_lock (&camera->lock);
  if (camera->locked.backlog.share >= 0)
    set_share (camera, -1);
  camera->locked.backlog = (WatchBacklog){.share = -1};
  g_mutex_unlock (&camera->lock);
}
