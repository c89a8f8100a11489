/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Feeds masks in the memory of an NVIDIA GPU to cudaccl, without a copy, and prints their
 * components as JSON. The masks show a moving white rectangle; an application's kernels write its
 * own masks.
 *
 * Build: cc -DGST_USE_UNSTABLE_API -o cuda-masks cuda-masks.c -I/usr/local/cuda/include \
 *          $(pkg-config --cflags --libs gstreamer-app-1.0 gstreamer-ccl-1.0 gstreamer-cuda-1.0) \
 *          -L/usr/local/cuda/lib64/stubs -lcuda
 * Usage: cuda-masks [FRAMES] */
#include <cuda.h>
#include <gst/app/gstappsrc.h>
#include <gst/ccl/ccl.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudautils.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 320
#define HEIGHT 240
#define N_MASKS 4

typedef struct {
  CUdeviceptr pixels;
  size_t stride;
  GAsyncQueue *free_masks;
} Mask;

/* Called from any thread when the pipeline has released a mask: it can be drawn again. */
static void
give_back (gpointer data)
{
  Mask *mask = data;

  g_async_queue_push (mask->free_masks, mask);
}

/* The mask must be completely written before cudaccl gets it. */
static gboolean
draw (Mask *mask, guint frame)
{
  guint x = 2 * frame % (WIDTH - 40), y = frame % (HEIGHT - 30);

  return cuMemsetD2D8 (mask->pixels, mask->stride, 0, WIDTH, HEIGHT) == CUDA_SUCCESS &&
         cuMemsetD2D8 (mask->pixels + y * mask->stride + x, mask->stride, 255, 40, 30) ==
             CUDA_SUCCESS &&
         cuCtxSynchronize () == CUDA_SUCCESS;
}

static gboolean
push_masks (GstCudaContext *context, GstAppSrc *source, GAsyncQueue *free_masks, guint n_frames)
{
  for (guint i = 0; i < n_frames; i++) {
    /* Waits for a free mask, so that masks are not produced faster than they are labelled. */
    Mask *mask = g_async_queue_timeout_pop (free_masks, 5 * G_USEC_PER_SEC);
    GstBuffer *buffer;
    gboolean drawn;

    if (!mask)
      return FALSE;
    gst_cuda_context_push (context);
    drawn = draw (mask, i);
    gst_cuda_context_pop (NULL);
    if (!drawn) {
      give_back (mask);
      return FALSE;
    }
    buffer = gst_ccl_cuda_buffer_new_gray8_wrapped (
        context, mask->pixels, mask->stride, WIDTH, HEIGHT, mask, give_back, NULL);
    GST_BUFFER_PTS (buffer) = i * GST_SECOND / 25;
    GST_BUFFER_DURATION (buffer) = GST_SECOND / 25;
    if (gst_app_src_push_buffer (source, buffer) != GST_FLOW_OK)
      return FALSE;
  }
  return gst_app_src_end_of_stream (source) == GST_FLOW_OK;
}

/* Waits for the end of the stream; returns 0 if there was no error. */
static int
wait_for_end (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  int status = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS ? 0 : 1;

  if (status) {
    GError *error;
    gst_message_parse_error (message, &error, NULL);
    fprintf (stderr, "cuda-masks: %s\n", error->message);
    g_error_free (error);
  }
  gst_message_unref (message);
  gst_object_unref (bus);
  return status;
}

int
main (int argc, char **argv)
{
  guint n_frames = argc > 1 ? (guint)atoi (argv[1]) : 100;
  GAsyncQueue *free_masks = g_async_queue_new ();
  Mask masks[N_MASKS] = {{0}};
  GstElement *pipeline, *source;
  GstCudaContext *context;
  GstContext *shared;
  int status = 1;

  gst_init (&argc, &argv);
  if (!gst_cuda_load_library () || !(context = gst_cuda_context_new (0))) {
    fprintf (stderr, "cuda-masks: there is no CUDA device\n");
    return 1;
  }
  pipeline = gst_parse_launch ("appsrc name=source format=time "
                               "caps=video/x-raw(memory:CUDAMemory),format=GRAY8,width=320,"
                               "height=240,framerate=25/1 ! cudaccl ! ccljson ! fdsink sync=false",
      NULL);
  if (!pipeline) {
    fprintf (stderr, "cuda-masks: GStreamer does not find cudaccl\n");
    return 1;
  }
  /* Makes the elements use the CUDA context of the masks. */
  shared = gst_context_new_cuda_context (context);
  gst_element_set_context (pipeline, shared);
  gst_context_unref (shared);

  gst_cuda_context_push (context);
  for (guint i = 0; i < N_MASKS; i++) {
    masks[i].free_masks = free_masks;
    if (cuMemAllocPitch (&masks[i].pixels, &masks[i].stride, WIDTH, HEIGHT, 4) == CUDA_SUCCESS)
      give_back (&masks[i]);
  }
  gst_cuda_context_pop (NULL);

  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  if (push_masks (context, GST_APP_SRC (source), free_masks, n_frames))
    status = wait_for_end (pipeline);
  else
    fprintf (stderr, "cuda-masks: the masks could not be drawn or are not taken\n");
  gst_object_unref (source);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);

  /* The pipeline is freed, so it has released every mask. */
  gst_cuda_context_push (context);
  for (guint i = 0; i < N_MASKS; i++)
    cuMemFree (masks[i].pixels);
  gst_cuda_context_pop (NULL);
  gst_object_unref (context);
  g_async_queue_unref (free_masks);
  return status;
}
