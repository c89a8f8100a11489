/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pipeline of a camera: uridecodebin3, then the analysis elements
 *
 *     queue ! [deinterlace !] [videoflip !] videoconvert ! ccl or cudaccl !
 *     ccltrack ! ccljson ! appsink */
#include <gst/app/gstappsink.h>
#include <string.h>

#include "backlog.h"
#include "camera-state.h"
#include "watch/camera/stream/damage.h"
#include "watch/camera/stream/decimation.h"
#include "watch/camera/stream/decoder.h"
#include "watch/camera/stream/frame-pool.h"
#include "watch/camera/stream/sockets.h"
#include "watch/camera/stream/settings.h"
#include "watch/system/config-values.h"

#define CUDA_CONTEXT_TYPE "gst.cuda.context"
#define GL_DISPLAY_TYPE "gst.gl.GLDisplay"
#define MAX_WAITING 3 /* decoded frames */
#define WARM_UP                                                                                    \
  2.0 /* seconds after connecting without an alarm, unless ccl.warm-up says otherwise */
#define STREAM_LOCK_TIME G_TIME_SPAN_SECOND
#define STREAM_LOCK_INTERVAL (10 * G_TIME_SPAN_MILLISECOND)

static GstClockTime
running_time_on_pad (GstPad *pad, GstClockTime time)
{
  GstClockTimeDiff result = watch_running_time_on_pad (pad, time);

  return result >= 0 ? (GstClockTime)result : GST_CLOCK_TIME_NONE;
}

/* The analysis elements. */

/* Frames enter the analysis: notes their time of arrival where no decoder did, and skips frames
 * that are damaged, too many or too late. */
static GstPadProbeReturn
on_decoded (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  WatchCamera *camera = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  guint n_waiting;

  if (watch_damage_has_picture (buffer)) {
    watch_camera_frame_skipped (camera);
    return GST_PAD_PROBE_DROP;
  }
  g_object_get (camera->analysis.queue, "current-level-buffers", &n_waiting, NULL);
  watch_camera_set_waiting (camera, n_waiting);
  if (!g_atomic_int_get (&camera->atomic.is_decimated) &&
      watch_is_above_rate (&camera->decoding.next_time, camera_config (camera)->max_fps,
          running_time_on_pad (pad, GST_BUFFER_PTS (buffer)))) {
    watch_camera_frame_skipped (camera);
    return GST_PAD_PROBE_DROP;
  }
  if (n_waiting >= MAX_WAITING && watch_backlog_is_late (camera, buffer)) {
    watch_camera_frame_late (camera);
    return GST_PAD_PROBE_DROP;
  }
  if (!GST_CLOCK_TIME_IS_VALID (gst_ccl_utc_get_arrival (buffer))) {
    buffer = gst_buffer_make_writable (buffer);
    gst_ccl_utc_mark_arrival (buffer);
    GST_PAD_PROBE_INFO_DATA (info) = buffer;
  }
  return GST_PAD_PROBE_OK;
}

/* A file that is played at its own speed begins with its first frame, not when the pipeline was
 * started: with many cameras, seconds pass until the decoder is there, and the file would be played
 * faster to make up for them. */
static void
set_time_of_first_frame (WatchCamera *camera, GstClockTime running_time)
{
  g_autoptr (GstClock) clock = gst_element_get_clock (camera->analysis.sink);
  GstClockTimeDiff late = 0;

  if (clock && GST_CLOCK_TIME_IS_VALID (running_time))
    late = GST_CLOCK_DIFF (running_time + gst_element_get_base_time (camera->analysis.sink),
        gst_clock_get_time (clock));
  g_object_set (camera->analysis.sink, "ts-offset", MAX (late, 0), NULL);
}

static gboolean
is_stopping (WatchCamera *camera)
{
  return g_atomic_int_get (&camera->atomic.cancelled) != 0;
}

/* While the pipeline stops, frames that are still on their way are dropped in front of the tracker,
 * and the end of its tracks does not reach the sink, which might wait for its time. */
static GstPadProbeReturn
drop_when_stopping (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const gboolean is_buffer = (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) != 0;

  return is_stopping (data) &&
                 (is_buffer || GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS)
             ? GST_PAD_PROBE_DROP
             : GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_components (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  watch_camera_note_foreground (data, GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

/* Labelled frames, before ccljson makes their lines. */
static GstPadProbeReturn
on_labelled (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  WatchCamera *camera = data;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
    g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
    GstClockTime running_time = running_time_on_pad (pad, GST_BUFFER_PTS (buffer));

    if (camera_config (camera)->pace && watch_camera_is_first_frame (camera))
      set_time_of_first_frame (camera, running_time);
    watch_camera_frame (camera, buffer, caps, running_time);
  } else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS) {
    watch_camera_end_motion (camera);
  }
  return GST_PAD_PROBE_OK;
}

static GstFlowReturn
on_line (GstAppSink *appsink, gpointer data)
{
  WatchCamera *camera = data;
  g_autoptr (GstSample) sample = gst_app_sink_pull_sample (appsink);
  GstBuffer *buffer = sample ? gst_sample_get_buffer (sample) : NULL;
  GstMapInfo map;

  const gboolean is_frame = buffer && GST_BUFFER_OFFSET_IS_VALID (buffer);

  if (buffer && !(is_frame && is_stopping (camera)) &&
      gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    watch_camera_line (camera, (const gchar *)map.data, map.size, is_frame,
        gst_segment_to_running_time (
            gst_sample_get_segment (sample), GST_FORMAT_TIME, GST_BUFFER_PTS (buffer)));
    gst_buffer_unmap (buffer, &map);
  }
  return GST_FLOW_OK;
}

/* The queue is full. If it is leaky, it drops its oldest frame. */
static void
on_overrun (GstElement *queue, gpointer data)
{
  gint leaky;

  g_object_get (queue, "leaky", &leaky, NULL);
  if (leaky)
    watch_camera_frame_late (data);
}

static GstPadProbeReturn
on_query (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  if (GST_QUERY_TYPE (GST_PAD_PROBE_INFO_QUERY (info)) == GST_QUERY_ALLOCATION)
    watch_frame_pool_offer (GST_PAD_PROBE_INFO_QUERY (info));
  return GST_PAD_PROBE_OK;
}

static GstElement *
add_element (GstElement *bin, const gchar *factory, GstElement **previous, GError **error)
{
  GstElement *element = gst_element_factory_make (factory, NULL);

  if (!element) {
    if (error && !*error)
      watch_fail (error, "GStreamer does not find the element %s", factory);
    return NULL;
  }
  gst_bin_add (GST_BIN (bin), element);
  if (*previous)
    gst_element_link (*previous, element);
  *previous = element;
  return element;
}

static void
add_probe (GstElement *element, GstPadProbeType type, GstPadProbeCallback callback, gpointer data)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");

  if (pad)
    gst_pad_add_probe (pad, type, callback, data, NULL);
}

void
watch_pipeline_change_analysis (WatchCamera *camera, const WatchCameraConfig *config)
{
  const WatchCameraConfig *before = camera->analysis.config;
  GstElement *labeller = camera->analysis.labeller;
  gdouble quiet_time;

  watch_settings_change (before, config, "ccl", labeller);
  if (!camera->is_file && !g_hash_table_contains (config->properties, "ccl.warm-up") &&
      (!before || g_hash_table_contains (before->properties, "ccl.warm-up")))
    g_object_set (labeller, "warm-up", WARM_UP, NULL);
  /* The labeller reports motion, whatever the configuration says. */
  g_object_set (labeller, "post-motion", TRUE, NULL);
  g_object_get (labeller, "quiet-time", &quiet_time, NULL);
  g_atomic_int_set (&camera->atomic.quiet_time, (gint)MIN (quiet_time * 1000, G_MAXINT));
  if (camera->analysis.track)
    watch_settings_change (before, config, "ccltrack", camera->analysis.track);
  camera->analysis.config = config;
}

void
watch_pipeline_attach_mask (WatchCamera *camera, gboolean is_wanted)
{
  const gchar *own = g_hash_table_lookup (camera->analysis.config->properties, "ccl.attach-mask");

  gst_util_set_object_arg (G_OBJECT (camera->analysis.labeller), "attach-mask",
      is_wanted ? "true"
      : own     ? own
                : "false");
}

static void
configure_analysis (WatchCamera *camera, GstElement *queue, GstElement *labeller, GstElement *track,
    GstElement *json, GstElement *sink)
{
  GstAppSinkCallbacks callbacks = {.new_sample = on_line};

  g_object_set (queue, "max-size-buffers", MAX_WAITING, "max-size-bytes", 0, "max-size-time",
      (guint64)0, NULL);
  g_signal_connect (queue, "overrun", G_CALLBACK (on_overrun), camera);
  if (strcmp (camera->hub->labeller, "cudaccl") == 0) {
    g_object_set (labeller, "cuda-device-id", camera->hub->gpu, NULL);
    gst_util_set_object_arg (G_OBJECT (labeller), "cuda-device-choice", "least-used");
  }
  g_object_set (json, "source", camera->name, "utc", TRUE, NULL);
  g_object_set (sink, "sync", camera_config (camera)->pace, "async", FALSE, "qos", FALSE, NULL);
  gst_app_sink_set_callbacks (GST_APP_SINK (sink), &callbacks, camera, NULL);
  camera->analysis.queue = queue;
  camera->analysis.labeller = labeller;
  camera->analysis.sink = sink;
  camera->analysis.track = track;
  camera->analysis.config = NULL;
  watch_pipeline_change_analysis (camera, camera_config (camera));
  add_probe (queue, GST_PAD_PROBE_TYPE_BUFFER, on_decoded, camera);
  if (track)
    add_probe (track, GST_PAD_PROBE_TYPE_BUFFER, drop_when_stopping, camera);
  add_probe (track ? track : json, GST_PAD_PROBE_TYPE_BUFFER, on_components, camera);
  add_probe (sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, drop_when_stopping, camera);
  add_probe (
      json, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_labelled, camera);
  if (strcmp (camera->hub->labeller, "ccl") == 0) /* cudaccl offers page-locked memory */
    add_probe (json, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, on_query, NULL);
}

/* Adds what the configuration wants done to the pictures; FALSE if an element is missing. One field
 * of each frame is taken, so that frames stay as many. */
static gboolean
add_corrections (
    const WatchCameraConfig *config, GstElement *bin, GstElement **previous, GError **error)
{
  GstElement *element;

  if (config->deinterlace != WATCH_DEINTERLACE_NEVER) {
    if (!add_element (bin, "videoconvert", previous, error)) /* it takes fewer formats */
      return FALSE;
    element = add_element (bin, "deinterlace", previous, error);
    if (!element)
      return FALSE;
    gst_util_set_object_arg (G_OBJECT (element), "mode",
        config->deinterlace == WATCH_DEINTERLACE_ALWAYS ? "interlaced" : "auto");
    gst_util_set_object_arg (G_OBJECT (element), "fields", "top");
    gst_util_set_object_arg (G_OBJECT (element), "method", "linear");
  }
  if (config->rotate) {
    element = add_element (bin, "videoflip", previous, error);
    if (!element)
      return FALSE;
    gst_util_set_object_arg (G_OBJECT (element), "video-direction", config->rotate);
  }
  return TRUE;
}

GstElement *
watch_pipeline_new_analysis (WatchCamera *camera, GError **error)
{
  g_autoptr (GstElement) bin = gst_object_ref_sink (gst_bin_new ("analysis"));
  gboolean has_tracks = camera_config (camera)->results != WATCH_RESULTS_COMPONENTS;
  GstElement *previous = NULL;
  GstElement *queue = add_element (bin, "queue", &previous, error);
  const gboolean is_corrected = add_corrections (camera_config (camera), bin, &previous, error);
  GstElement *convert = add_element (bin, "videoconvert", &previous, error);
  GstElement *labeller = add_element (bin, camera->hub->labeller, &previous, error);
  GstElement *track = has_tracks ? add_element (bin, "ccltrack", &previous, error) : NULL;
  const gboolean has_pictures = has_tracks && camera_config (camera)->object_pictures;
  GstElement *snapshot = has_pictures ? add_element (bin, "cclsnapshot", &previous, error) : NULL;
  GstElement *json = add_element (bin, "ccljson", &previous, error);
  GstElement *sink = add_element (bin, "appsink", &previous, error);
  g_autoptr (GstPad) pad = NULL;

  if (!queue || !is_corrected || !convert || !labeller || (has_tracks && !track) ||
      (has_pictures && !snapshot) || !json || !sink)
    return NULL;
  configure_analysis (camera, queue, labeller, track, json, sink);
  pad = gst_element_get_static_pad (queue, "sink");
  gst_element_add_pad (bin, gst_ghost_pad_new ("sink", pad));
  return g_steal_pointer (&bin);
}

/* The source. */

static void
on_source_setup (GstElement *decodebin, GstElement *source, gpointer data)
{
  watch_settings_apply_to_source (camera_config ((WatchCamera *)data), source);
  watch_sockets_add_source (data, source);
}

/* Only the first video stream is decoded. */
static gint
on_select_stream (
    GstElement *decodebin, GstStreamCollection *collection, GstStream *stream, gpointer data)
{
  for (guint i = 0; i < gst_stream_collection_get_size (collection); i++) {
    GstStream *other = gst_stream_collection_get_stream (collection, i);

    if (gst_stream_get_stream_type (other) & GST_STREAM_TYPE_VIDEO)
      return g_strcmp0 (gst_stream_get_stream_id (other), gst_stream_get_stream_id (stream)) == 0;
  }
  return FALSE;
}

/* The number of a CUDA context's GPU; -1 if it does not say. */
static gint
get_gpu_of_context (GstContext *context)
{
  guint gpu;

  return gst_structure_get_uint (gst_context_get_structure (context), "cuda-device-id", &gpu)
             ? (gint)gpu
             : -1;
}

/* The GPU that the labeller has chosen; -1 if it labels on the CPU. */
static gint
get_gpu (WatchCamera *camera)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (camera->analysis.elements, "sink");
  g_autoptr (GstQuery) query = gst_query_new_context (CUDA_CONTEXT_TYPE);
  GstContext *context = NULL;

  if (gst_pad_query (pad, query))
    gst_query_parse_context (query, &context);
  return context ? get_gpu_of_context (context) : -1;
}

static void
on_pad_added (GstElement *decodebin, GstPad *pad, gpointer data)
{
  WatchCamera *camera = data;
  const gint gpu = get_gpu (camera);
  g_autoptr (GstCaps) caps = gst_pad_query_caps (pad, NULL);
  g_autoptr (GstPad) sink = gst_element_get_static_pad (camera->analysis.elements, "sink");

  if (!gst_caps_is_empty (caps) && !gst_caps_is_any (caps) &&
      g_str_has_prefix (gst_structure_get_name (gst_caps_get_structure (caps, 0)), "video/") &&
      !gst_pad_is_linked (sink) && GST_PAD_LINK_FAILED (gst_pad_link (pad, sink)))
    GST_ELEMENT_ERROR (decodebin, STREAM, FORMAT, ("The video's format is not supported."), (NULL));
  g_mutex_lock (&camera->lock);
  camera->locked.status.gpu = gpu;
  g_mutex_unlock (&camera->lock);
}

/* decodebin3 asks a decoder whether it accepts the caps, and takes the next one if it does not. */
static GstPadProbeReturn
refuse_caps (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);

  if (GST_QUERY_TYPE (query) != GST_QUERY_ACCEPT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_query_set_accept_caps_result (query, FALSE);
  return GST_PAD_PROBE_HANDLED;
}

/* Whether a GPU has a decoder of the same kind. Decoders of the first GPU are called nvh264dec and
 * so on, those of the second nvh264device1dec. */
static gboolean
has_decoder_like (GstElementFactory *factory, gint gpu)
{
  const gchar *name = GST_OBJECT_NAME (factory);
  const gchar *end = strstr (name, "device") ? strstr (name, "device") : g_strrstr (name, "dec");
  g_autofree gchar *stem = g_strndup (name, end ? (gsize)(end - name) : strlen (name));
  g_autofree gchar *other =
      gpu == 0 ? g_strdup_printf ("%sdec", stem) : g_strdup_printf ("%sdevice%ddec", stem, gpu);
  g_autoptr (GstElementFactory) found = gst_element_factory_find (other);

  return found && found != factory;
}

/* Each GPU has decoders of its own. The one of the labeller's GPU is taken. */
static void
check_gpu_of_decoder (WatchCamera *camera, GstElement *decoder)
{
  const gint gpu = get_gpu (camera);
  guint decoder_gpu;

  if (gpu < 0 || !g_object_class_find_property (G_OBJECT_GET_CLASS (decoder), "cuda-device-id"))
    return;
  g_object_get (decoder, "cuda-device-id", &decoder_gpu, NULL);
  if (decoder_gpu != (guint)gpu && has_decoder_like (gst_element_get_factory (decoder), gpu))
    add_probe (decoder, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, refuse_caps, NULL);
}

/* Encoded frames, as they go to the decoder. */
static GstPadProbeReturn
on_encoded (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  WatchCamera *camera = data;
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  g_autoptr (GstElement) decoder = gst_pad_get_parent_element (pad);
  GstClockTimeDiff running_time;
  gboolean take;

  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  take = watch_damage_take (camera, decoder, buffer);
  take = watch_backlog_take (camera, buffer) && take;
  watch_camera_data (camera);
  watch_camera_note_key_frame (camera, buffer);
  if (decoder)
    watch_decoder_note_running (camera, decoder);
  /* While the pipeline stops, frames may be missing between those that arrive, so none is handed
   * on. */
  if (caps && !is_stopping (camera)) {
    running_time = watch_running_time_on_pad (pad, GST_BUFFER_DTS_OR_PTS (buffer));
    watch_camera_analysed (camera, buffer, caps, running_time);
    if (!camera_config (camera)->record_uri)
      watch_camera_encoded (camera, buffer, caps, running_time);
  }
  return take ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

/* Data on their way to the decoder: if no frame follows, they are garbage. Sound does not count. */
static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  if (watch_backlog_is_media (pad, "audio"))
    return GST_PAD_PROBE_REMOVE;
  watch_camera_data (data);
  return GST_PAD_PROBE_OK;
}

static void
on_deep_element_added (GstBin *pipeline, GstBin *parent, GstElement *element, gpointer data)
{
  WatchCamera *camera = data;
  GstElementFactory *factory = gst_element_get_factory (element);

  if (!factory)
    return;
  if (strcmp (GST_OBJECT_NAME (factory), "rtpjitterbuffer") == 0)
    watch_backlog_add_source (camera, element);
  watch_settings_check_receiver (camera_config (camera)->uri, element);
  if (gst_element_factory_list_is_type (
          factory, GST_ELEMENT_FACTORY_TYPE_DEPAYLOADER | GST_ELEMENT_FACTORY_TYPE_DEMUXER))
    add_probe (
        element, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, on_data, camera);
  if (!gst_element_factory_list_is_type (factory, GST_ELEMENT_FACTORY_TYPE_DECODER |
                                                      GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO |
                                                      GST_ELEMENT_FACTORY_TYPE_MEDIA_IMAGE))
    return;
  /* The threads of a decoder delay each frame; many cameras keep all processors busy anyway. */
  if (camera->is_live)
    watch_settings_default (element, "max-threads", "1");
  watch_settings_default (element, "output-corrupt", "false"); /* of libav's decoders */
  watch_settings_change (NULL, camera_config (camera), "decoder", element);
  add_probe (element, GST_PAD_PROBE_TYPE_BUFFER, on_encoded, camera);
  watch_decimation_add (camera, element);
  watch_decoder_add (camera, element);
  check_gpu_of_decoder (camera, element);
}

/* Whether one of this type, and of this GPU if it is of one, is shared. */
static gboolean
has_context_like (WatchHub *hub, GstContext *context)
{
  for (guint i = 0; i < hub->contexts->len; i++) {
    GstContext *other = hub->contexts->pdata[i];

    if (gst_context_has_context_type (other, gst_context_get_context_type (context)) &&
        get_gpu_of_context (other) == get_gpu_of_context (context))
      return TRUE;
  }
  return FALSE;
}

/* All pipelines share one CUDA context per GPU, and one GL display, which decoders of the GPU make
 * with a thread of its own although nothing is drawn: the first element that makes one gives it to
 * the others. Elements take no context of a GPU other than their own. */
static void
share_context (WatchHub *hub, GstMessage *message)
{
  const gchar *type = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_NEED_CONTEXT) {
    gst_message_parse_context_type (message, &type);
    g_mutex_lock (&hub->lock);
    for (guint i = 0; i < hub->contexts->len; i++)
      if (gst_context_has_context_type (hub->contexts->pdata[i], type))
        gst_element_set_context (GST_ELEMENT (GST_MESSAGE_SRC (message)), hub->contexts->pdata[i]);
    g_mutex_unlock (&hub->lock);
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_HAVE_CONTEXT) {
    g_autoptr (GstContext) context = NULL;

    gst_message_parse_have_context (message, &context);
    g_mutex_lock (&hub->lock);
    if ((gst_context_has_context_type (context, CUDA_CONTEXT_TYPE) ||
            gst_context_has_context_type (context, GL_DISPLAY_TYPE)) &&
        !has_context_like (hub, context))
      g_ptr_array_add (hub->contexts, gst_context_ref (context));
    g_mutex_unlock (&hub->lock);
  }
}

/* In the thread of the element that posts the message. The camera's thread is not woken for what it
 * does not read: tracks post some messages for most frames. */
static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  WatchCamera *camera = data;
  const GstStructure *structure = gst_message_get_structure (message);

  watch_sockets_note_thread (camera);
  share_context (camera->hub, message);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT && structure) {
    if (gst_structure_has_name (structure, "motion-begin"))
      camera->delivery.has_moving_components = TRUE;
    else if (gst_structure_has_name (structure, "motion-end"))
      camera->delivery.has_moving_components = FALSE;
    else if (gst_structure_has_name (structure, "scene-change"))
      watch_camera_scene_change (camera, structure);
    else if (gst_structure_has_name (structure, "ccl-snapshot"))
      watch_camera_picture (camera, structure);
  }
  if (GST_MESSAGE_TYPE (message) & (GST_MESSAGE_ERROR | GST_MESSAGE_EOS | GST_MESSAGE_WARNING))
    return GST_BUS_PASS;
  gst_message_unref (message);
  return GST_BUS_DROP;
}

GstElement *
watch_pipeline_new (WatchCamera *camera, const gchar *uri)
{
  GstElement *pipeline = gst_pipeline_new (camera->name);
  GstElement *decodebin = gst_element_factory_make ("uridecodebin3", NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  g_signal_connect (pipeline, "deep-element-added", G_CALLBACK (on_deep_element_added), camera);
  gst_bus_set_sync_handler (bus, on_message, camera, NULL);
  g_object_set (decodebin, "uri", uri, NULL);
  /* A camera does not wait: where the machine is too slow, the oldest frame is skipped. The
   * backlog has a better rule for some sources. */
  g_object_set (
      camera->analysis.queue, "leaky", camera->is_file ? NOT_LEAKY : LEAKY_DOWNSTREAM, NULL);
  g_signal_connect (decodebin, "source-setup", G_CALLBACK (on_source_setup), camera);
  g_signal_connect (decodebin, "select-stream", G_CALLBACK (on_select_stream), camera);
  g_signal_connect (decodebin, "pad-added", G_CALLBACK (on_pad_added), camera);
  gst_bin_add_many (GST_BIN (pipeline), decodebin, camera->analysis.elements, NULL);
  return pipeline;
}

/* Tracks end with their stream, whose end a camera that is lost does not send. A streaming thread
 * that stays in the tracker or behind it is not waited for long. */
static void
end_tracks (WatchCamera *camera)
{
  const gint64 until = g_get_monotonic_time () + STREAM_LOCK_TIME;
  g_autoptr (GstPad) pad =
      camera->analysis.track ? gst_element_get_static_pad (camera->analysis.track, "sink") : NULL;
  gboolean is_free = FALSE;

  /* A sink that does not play would block the thread until it does. */
  if (!pad || GST_STATE (camera->analysis.sink) != GST_STATE_PLAYING)
    return;
  while (!(is_free = GST_PAD_STREAM_TRYLOCK (pad)) && g_get_monotonic_time () < until)
    g_usleep (STREAM_LOCK_INTERVAL);
  if (is_free) {
    gst_pad_send_event (pad, gst_event_new_eos ());
    GST_PAD_STREAM_UNLOCK (pad);
  }
}

void
watch_pipeline_free (WatchCamera *camera, GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  g_atomic_int_or (&camera->atomic.cancelled, WATCH_PIPELINE_STOPS);
  end_tracks (camera);
  /* A source that has not played yet may wait for an answer that never ends. */
  if (watch_camera_is_first_frame (camera))
    watch_sockets_shut_down (camera);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  watch_sockets_end (camera);
  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  gst_bus_remove_watch (bus);
  gst_bin_remove (GST_BIN (pipeline), camera->analysis.elements);
  gst_object_unref (pipeline);
  g_atomic_int_and (&camera->atomic.cancelled, ~WATCH_PIPELINE_STOPS);
}
