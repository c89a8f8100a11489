/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors about raw video that a sink pad does not take: they name the format or the memory, and the
 * element to insert. Without them, all that users see is that some element upstream has stopped. */
#pragma once

#include <gst/gst.h>

typedef struct {
  GstElement *element;
  gchar *latest; /* the latest error, while caps are refused; it is not posted again. With the
                  * element's lock */
} GstCclRefusal;

/* From now on, a caps event at the sink pad whose caps the pad does not take, whatever the peer
 * downstream takes, is an error of the element; so is the question for such caps when their event
 * waits for the answer, upstream of a queue. The refusal must live as long as the pad. */
void gst_ccl_refusal_init (GstCclRefusal *refusal, GstElement *element, GstPad *sink);

/* Forgets the latest error. */
void gst_ccl_refusal_clear (GstCclRefusal *refusal);
