/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames that are drawn in the source of a test, and checks of labelled frames. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

/* A mask as text: rows end in '\n', '#' is 255, '.' is 0, a digit d is 25 × d. */
typedef const char *Drawing;

guint drawing_width (Drawing drawing);
guint drawing_height (Drawing drawing);

/* Writes the drawing's pixels; bytes between the rows are not written. */
void draw (Drawing drawing, guint8 *pixels, gsize stride);

/* Caps of system memory frames of that size. */
GstCaps *frame_caps (const char *format, guint width, guint height);

/* A GRAY8 frame of the drawing's size, laid out as the caps say. */
GstBuffer *gray8_frame (Drawing drawing);

/* A frame of any format: the luma is the drawing, all other bytes are 255. */
GstBuffer *luma_frame (const char *format, Drawing drawing);

/* An expected component; all fields are compared exactly. */
typedef struct {
  guint32 area, x, y, width, height;
  gdouble cx, cy;
} Expected;

/* Fails the test unless the buffer has a GstCclMeta with exactly these components, labelled from
 * 1, of N in all. */
void assert_components_of (
    GstBuffer *buffer, guint n_components, const Expected *expected, guint n_rows);

#define assert_components(buffer, ...)                                                             \
  do {                                                                                             \
    const Expected expected_[] = {__VA_ARGS__};                                                    \
    assert_components_of (buffer, G_N_ELEMENTS (expected_), expected_, G_N_ELEMENTS (expected_));  \
  } while (0)

/* Fails the test unless the buffer has a GstCclMeta with this number of components. */
void assert_count (GstBuffer *buffer, guint n_components);

/* Fails the test unless the buffer has a GstCclMeta with this label map, rows without padding. */
void assert_labels (GstBuffer *buffer, const guint32 *expected, guint width, guint height);

/* Fails the test unless the next error on the bus is of that domain and code, and its text has
 * that part (NULL: any text). */
void assert_error (GstBus *bus, GQuark domain, gint code, const char *part);

/* Fails the test unless the next warning on the bus is of that domain and code, and its text has
 * that part; with a part of NULL, unless there is no warning. */
void assert_warning (GstBus *bus, GQuark domain, gint code, const char *part);

/* Contours of these rows, with the coordinates of their points in turn. */
GstCclContours *new_contours (GstCclContourKind kind, const GstCclContour *rows, guint n_contours,
    const gfloat *points, guint n_points);

/* Fails the test unless both frames have contours, and the same ones. what: for the message. */
void assert_same_contours (GstBuffer *expected, GstBuffer *found, const char *what);
