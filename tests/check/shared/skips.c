/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "skips.h"

#include <gst/check/gstcheck.h>
#include <gst/gst.h>

void
skip (const char *test, const char *reason)
{
  g_print ("SKIP: %s: %s\n", test, reason);
}

/* Tests of ccl run everywhere. */
static void
skip_or_fail (const char *element, const char *test, const char *reason)
{
  fail_if (g_str_equal (element, "ccl"), "%s", reason);
  skip (test, reason);
}

gboolean
is_built (const char *element, const char *test)
{
  GstElementFactory *factory = gst_element_factory_find (element);

  if (!factory)
    skip_or_fail (element, test, "the element is not built");
  else
    gst_object_unref (factory);
  return factory != NULL;
}

gboolean
can_run (const char *name, const char *test)
{
  GstElement *element;
  GstMessage *message;
  GstBus *bus;
  GError *error;

  if (!is_built (name, test))
    return FALSE;
  element = gst_element_factory_make (name, NULL);
  bus = gst_bus_new ();
  gst_element_set_bus (element, bus);
  gst_element_set_state (element, GST_STATE_READY);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  if (message) {
    gst_message_parse_error (message, &error, NULL);
    skip_or_fail (name, test, error->message);
    g_error_free (error);
    gst_message_unref (message);
  }
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  return message == NULL;
}
