/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests that run on `ccl` and `cudaccl`: the environment variable CCL_ELEMENT selects one. */
#pragma once

#include "frames.h"
#include "skips.h"

/* The name of the element under test. */
static inline const char *
element_name (void)
{
  const char *name = g_getenv ("CCL_ELEMENT");

  return name ? name : "ccl";
}

/* TEST_OF_DESCRIPTION needs the element to be built, TEST also needs it to run here. */
#define TEST_OF_DESCRIPTION(name)                                                                  \
  GST_START_TEST (name)                                                                            \
  if (!is_built (element_name (), #name))                                                          \
    return;

#define TEST(name)                                                                                 \
  GST_START_TEST (name)                                                                            \
  if (!can_run (element_name (), #name))                                                           \
    return;

static inline GstHarness *
new_harness (void)
{
  return gst_harness_new (element_name ());
}

/* A playing element that expects frames of the drawing's size. */
static inline GstHarness *
new_gray8_harness (Drawing drawing)
{
  GstHarness *h = new_harness ();

  gst_harness_set_src_caps (
      h, frame_caps ("GRAY8", drawing_width (drawing), drawing_height (drawing)));
  return h;
}

static inline GstBuffer *
label (GstHarness *h, GstBuffer *frame)
{
  GstBuffer *out = gst_harness_push_and_pull (h, frame);

  fail_unless (out != NULL);
  return out;
}
