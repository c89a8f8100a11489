/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decimation.h"

#define GST_USE_UNSTABLE_API /* of the codec parsers; the functions here are the same since 1.6 */
#include <gst/codecparsers/gsth264parser.h>
#include <gst/codecparsers/gsth265parser.h>

#include "watch/system/log.h"

/* Frames are counted for this time, then the level is chosen for as long. Cameras send a key frame
 * every one to ten seconds. */
#define WINDOW (10 * GST_SECOND)
/* More frames than needed must remain: the rate of a camera is not exact. */
#define MARGIN 1.1

/* The frames that are decoded. */
typedef enum {
  LEVEL_ALL,
  LEVEL_REFERENCES, /* those that others refer to */
  LEVEL_KEYS,
  N_LEVELS
} Level;

static const gchar *const level_names[] = {
    "all frames", "the frames that others refer to", "key frames alone"};

typedef struct {
  WatchCamera *camera;
  GstH264NalParser *h264; /* one of them, or none: every frame may be referred to */
  GstH265Parser *h265;
  guint length_bytes;  /* of the length before each unit; 0: units have start codes */
  guint highest_layer; /* of H.265: the greatest temporal layer so far */
  Level level;
  gboolean waits_for_key; /* frames that others refer to were dropped */
  GstClockTime window;    /* begin */
  guint counts[N_LEVELS]; /* frames of the window that each level decodes */
  GstClockTime next_key;  /* PTS before which key frames are too many */
} Decimation;

gboolean
watch_is_above_rate (GstClockTime *next, gdouble max_fps, GstClockTime time)
{
  GstClockTime interval;

  if (max_fps <= 0 || !GST_CLOCK_TIME_IS_VALID (time))
    return FALSE;
  interval = GST_SECOND / max_fps;
  if (time < *next && *next - time <= interval)
    return TRUE;
  /* The mean rate is kept, unless the stream had a gap or began again. */
  *next += interval;
  if (*next < time || *next - time > interval)
    *next = time + interval - interval / 8;
  return FALSE;
}

static void
decimation_free (gpointer data)
{
  Decimation *self = data;

  g_clear_pointer (&self->h264, gst_h264_nal_parser_free);
  g_clear_pointer (&self->h265, gst_h265_parser_free);
  g_free (self);
}

/* The bytes of the lengths of units, from the header of a stream in a file. */
static guint
get_length_bytes (const GstStructure *structure, gsize place)
{
  const GValue *value = gst_structure_get_value (structure, "codec_data");
  GstBuffer *header = value ? gst_value_get_buffer (value) : NULL;
  guint8 byte;

  return header && gst_buffer_extract (header, place, &byte, 1) == 1 ? (byte & 3) + 1 : 0;
}

static void
set_caps (Decimation *self, const GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const gchar *format = gst_structure_get_string (structure, "stream-format");
  const gboolean has_lengths = format && strcmp (format, "byte-stream") != 0;

  g_clear_pointer (&self->h264, gst_h264_nal_parser_free);
  g_clear_pointer (&self->h265, gst_h265_parser_free);
  self->length_bytes = 0;
  if (gst_structure_has_name (structure, "video/x-h264")) {
    self->h264 = gst_h264_nal_parser_new ();
    self->length_bytes = has_lengths ? get_length_bytes (structure, 4) : 0;
  } else if (gst_structure_has_name (structure, "video/x-h265")) {
    self->h265 = gst_h265_parser_new ();
    self->length_bytes = has_lengths ? get_length_bytes (structure, 21) : 0;
  }
}

/* Whether other frames of H.264 may refer to this one: TRUE, too, if that cannot be found out. */
static gboolean
is_h264_reference (Decimation *self, const GstMapInfo *map)
{
  GstH264NalUnit unit = {0};

  for (gsize offset = 0; offset < map->size; offset = unit.offset + unit.size) {
    const GstH264ParserResult result =
        self->length_bytes > 0 ? gst_h264_parser_identify_nalu_avc (self->h264, map->data, offset,
                                     map->size, self->length_bytes, &unit)
                               : gst_h264_parser_identify_nalu_unchecked (
                                     self->h264, map->data, offset, map->size, &unit);

    if (result != GST_H264_PARSER_OK)
      return TRUE;
    if (unit.type >= GST_H264_NAL_SLICE && unit.type <= GST_H264_NAL_SLICE_IDR)
      return unit.ref_idc != 0;
  }
  return TRUE;
}

/* The same of H.265: units of even types below 16 are not referred to within their temporal layer,
 * and so by none if it is the highest one. */
static gboolean
is_h265_reference (Decimation *self, const GstMapInfo *map)
{
  GstH265NalUnit unit = {0};

  for (gsize offset = 0; offset < map->size; offset = unit.offset + unit.size) {
    const GstH265ParserResult result =
        self->length_bytes > 0 ? gst_h265_parser_identify_nalu_hevc (self->h265, map->data, offset,
                                     map->size, self->length_bytes, &unit)
                               : gst_h265_parser_identify_nalu_unchecked (
                                     self->h265, map->data, offset, map->size, &unit);

    if (result != GST_H265_PARSER_OK)
      return TRUE;
    if (unit.type > GST_H265_NAL_SLICE_CRA_NUT)
      continue;
    self->highest_layer = MAX (self->highest_layer, unit.temporal_id_plus1);
    return unit.type % 2 == 1 || unit.type >= GST_H265_NAL_SLICE_BLA_W_LP ||
           unit.temporal_id_plus1 < self->highest_layer;
  }
  return TRUE;
}

/* The highest level that decodes the frame. */
static Level
level_of (Decimation *self, GstBuffer *frame)
{
  GstMapInfo map;
  gboolean is_reference = TRUE;

  if (!GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_DELTA_UNIT))
    return LEVEL_KEYS;
  if ((self->h264 || self->h265) && gst_buffer_map (frame, &map, GST_MAP_READ)) {
    is_reference = self->h264 ? is_h264_reference (self, &map) : is_h265_reference (self, &map);
    gst_buffer_unmap (frame, &map);
  }
  return is_reference ? LEVEL_REFERENCES : LEVEL_ALL;
}

/* At the end of each window, the highest level that leaves enough frames. */
static void
choose_level (Decimation *self, GstClockTime time)
{
  Level level = LEVEL_ALL;

  if (GST_CLOCK_TIME_IS_VALID (self->window) && time >= self->window &&
      time - self->window < WINDOW)
    return;
  if (GST_CLOCK_TIME_IS_VALID (self->window) && time >= self->window) {
    const gdouble seconds = (gdouble)(time - self->window) / GST_SECOND;
    const gdouble needed = seconds * camera_config (self->camera)->max_fps * MARGIN;

    if (self->counts[LEVEL_KEYS] >= needed)
      level = LEVEL_KEYS;
    else if (self->counts[LEVEL_REFERENCES] >= needed &&
             self->counts[LEVEL_REFERENCES] < self->counts[LEVEL_ALL])
      level = LEVEL_REFERENCES;
    if (level != self->level)
      watch_log_info (
          "camera %s: %s are decoded, for max-fps", self->camera->name, level_names[level]);
    self->waits_for_key |= self->level == LEVEL_KEYS && level != LEVEL_KEYS;
    self->level = level;
    g_atomic_int_set (&self->camera->atomic.is_decimated, level == LEVEL_KEYS);
  }
  self->window = time;
  memset (self->counts, 0, sizeof self->counts);
}

/* Whether the frame is to be decoded. */
static gboolean
take (Decimation *self, GstBuffer *frame, GstClockTime time)
{
  const Level level = level_of (self, frame);

  for (Level other = LEVEL_ALL; other <= level; other++)
    self->counts[other]++;
  if (level == LEVEL_KEYS)
    self->waits_for_key = FALSE;
  if (level < self->level || self->waits_for_key)
    return FALSE;
  /* A key frame needs no other one. */
  return self->level < LEVEL_KEYS ||
         !watch_is_above_rate (&self->next_key, camera_config (self->camera)->max_fps, time);
}

static GstPadProbeReturn
on_encoded (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Decimation *self = data;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer *frame = GST_PAD_PROBE_INFO_BUFFER (info);
    const GstClockTime time = GST_BUFFER_PTS (frame);

    if (!GST_CLOCK_TIME_IS_VALID (time))
      return GST_PAD_PROBE_OK;
    choose_level (self, GST_BUFFER_DTS_OR_PTS (frame));
    if (take (self, frame, time))
      return GST_PAD_PROBE_OK;
    watch_camera_frame_skipped (self->camera);
    return GST_PAD_PROBE_DROP;
  }
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_CAPS) {
    GstCaps *caps;

    gst_event_parse_caps (GST_PAD_PROBE_INFO_EVENT (info), &caps);
    set_caps (self, caps);
  }
  return GST_PAD_PROBE_OK;
}

void
watch_decimation_add (WatchCamera *camera, GstElement *decoder)
{
  g_autoptr (GstPad) pad =
      camera_config (camera)->max_fps > 0 ? gst_element_get_static_pad (decoder, "sink") : NULL;
  Decimation *self;

  if (!pad)
    return;
  self = g_new0 (Decimation, 1);
  self->camera = camera;
  self->window = GST_CLOCK_TIME_NONE;
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      on_encoded, self, decimation_free);
}
