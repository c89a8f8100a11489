/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pool that ccl-watch offers to decoders. */
#include <gst/video/gstvideopool.h>
#include <gst/video/video.h>

#include "watch/camera/stream/frame-pool.h"

static GstQuery *
query_of (const gchar *caps_text)
{
  GstCaps *caps = gst_caps_from_string (caps_text);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  watch_frame_pool_offer (query);
  gst_caps_unref (caps);
  return query;
}

static void
test_other_frames_get_no_pool (void)
{
  static const gchar *caps[] = {
      "video/x-raw(memory:CUDAMemory),format=NV12,width=320,height=240,framerate=25/1",
      "video/x-raw,format=I420,width=3840,height=2160,framerate=25/1",
  };

  for (guint i = 0; i < G_N_ELEMENTS (caps); i++) {
    GstQuery *query = query_of (caps[i]);

    g_assert_cmpuint (gst_query_get_n_allocation_pools (query), ==, 0);
    gst_query_unref (query);
  }
}

/* As avdec_h264 uses it: a padded frame, which it keeps mapped for writing. */
static GstBuffer *
acquire (GstBufferPool *pool, GstCaps *caps, guint size)
{
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstVideoAlignment alignment;
  GstBuffer *frame = NULL;

  gst_video_alignment_reset (&alignment);
  alignment.padding_bottom = 8;
  gst_buffer_pool_config_set_params (config, caps, size, 0, 0);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
  gst_buffer_pool_config_set_video_alignment (config, &alignment);
  g_assert_true (gst_buffer_pool_set_config (pool, config));
  g_assert_true (gst_buffer_pool_set_active (pool, TRUE));
  g_assert_cmpint (gst_buffer_pool_acquire_buffer (pool, &frame, NULL), ==, GST_FLOW_OK);
  return frame;
}

static void
test_frames_share_pixels_with_the_decoder (void)
{
  const gchar *caps_text = "video/x-raw,format=I420,width=1920,height=1080,framerate=25/1";
  GstCaps *caps = gst_caps_from_string (caps_text);
  GstQuery *query = query_of (caps_text);
  GstVideoFrame of_decoder, of_analysis;
  GstBufferPool *pool;
  GstBuffer *frame;
  GstVideoInfo info;
  guint size;

  g_assert_cmpuint (gst_query_get_n_allocation_pools (query), ==, 1);
  gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, NULL, NULL);
  frame = acquire (pool, caps, size);
  g_assert_true (gst_video_info_from_caps (&info, caps));
  g_assert_true (gst_video_frame_map (&of_decoder, &info, frame, GST_MAP_READWRITE));
  ((guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&of_decoder, 0))[0] = 77;
  g_assert_false (gst_buffer_is_writable (frame));
  frame = gst_buffer_make_writable (frame);
  g_assert_true (gst_video_frame_map (&of_analysis, &info, frame, GST_MAP_READ));
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (&info); i++)
    g_assert_true (GST_VIDEO_FRAME_PLANE_DATA (&of_analysis, i) ==
                   GST_VIDEO_FRAME_PLANE_DATA (&of_decoder, i));
  gst_video_frame_unmap (&of_analysis);
  gst_video_frame_unmap (&of_decoder);
  gst_buffer_unref (frame);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  gst_query_unref (query);
  gst_caps_unref (caps);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/frame-pool/other-frames-get-no-pool", test_other_frames_get_no_pool);
  g_test_add_func ("/frame-pool/frames-share-pixels-with-the-decoder",
      test_frames_share_pixels_with_the_decoder);
  return g_test_run ();
}
