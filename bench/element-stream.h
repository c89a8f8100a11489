/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements between a pad that pushes frames and a fakesink, for programs that measure elements. */
#pragma once

#include <gst/gst.h>

typedef struct ElementStream {
  GstElement *pipeline; /* its fakesink has the name "sink" */
  GstPad *source;
} ElementStream;

/* Ends the program with a message in one line. */
G_GNUC_PRINTF (1, 2) G_NORETURN void end_program (const char *format, ...);

/* A pipeline from its text; ends the program if there is no such element or property. */
GstElement *parse_pipeline (const gchar *text);

/* A CUDA context (GstCudaContext) of a device if the elements begin with cudaccl, else NULL; the
 * caps get the feature of CUDA memory. Ends the program if there is no such device. */
gpointer element_stream_open_cuda (const gchar *elements, guint device, GstCaps *caps);

/* Starts elements; frames of these caps may then be pushed. cuda_contexts are those that the
 * elements share with other streams, at most one for each device, ended by NULL. Without them, each
 * pipeline creates one of its own, which takes time and memory of the GPU; a GPU does not run work
 * of several contexts at once. */
ElementStream element_stream_start (
    const gchar *elements, GstCaps *caps, gpointer const *cuda_contexts);

void element_stream_stop (ElementStream *stream);
