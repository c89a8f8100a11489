/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures that wait to be encoded: a thread makes JPEG of them, writes the file, and posts the
 * message. */
#pragma once

#include <gst/gst.h>

typedef struct _GstCclPictures GstCclPictures;

/* Pictures of an element, which outlives them. */
GstCclPictures *gst_ccl_pictures_new (GstElement *element);

/* Waits for all pictures. */
void gst_ccl_pictures_free (GstCclPictures *self);

/* Encodes a picture later.
 * sample: a raw frame, taken; about: the message's content, taken
 * number, location: of the file, as gst_ccl_location_format() takes them; NULL: none
 * posts: whether the message is posted, with the picture as its field `image` */
void gst_ccl_pictures_push (GstCclPictures *self, GstSample *sample, GstStructure *about,
    guint64 number, const gchar *location, gboolean posts);

/* Waits until all are encoded and written. */
void gst_ccl_pictures_wait (GstCclPictures *self);

/* Bytes of the raw frames that wait. */
gsize gst_ccl_pictures_get_waiting (GstCclPictures *self);

/* Whether an error was posted: the stream ends behind its message. */
gboolean gst_ccl_pictures_have_failed (GstCclPictures *self);
