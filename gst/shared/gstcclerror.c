/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclerror.h"
#include "gstccli18n.h"

void
gst_ccl_error_set (CclError *error, CclStatus status, const gchar *format, ...)
{
  va_list arguments;

  error->status = status;
  va_start (arguments, format);
  g_vsnprintf (error->message, sizeof error->message, _ (format), arguments);
  va_end (arguments);
}

void
gst_ccl_error_post (GstElement *element, const CclError *error)
{
  switch (error->status) {
  case CUDACCL_ERROR_NOT_FOUND:
    GST_ELEMENT_ERROR (element, RESOURCE, NOT_FOUND, ("%s", error->message), (NULL));
    break;
  case CUDACCL_ERROR_NO_MEMORY:
    GST_ELEMENT_ERROR (element, RESOURCE, NO_SPACE_LEFT, ("%s", error->message), (NULL));
    break;
  case CUDACCL_ERROR_UNSUPPORTED:
    GST_ELEMENT_ERROR (element, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
    break;
  case CUDACCL_ERROR_ARGUMENT:
    GST_ELEMENT_ERROR (element, STREAM, FORMAT, ("%s", error->message), (NULL));
    break;
  default:
    GST_ELEMENT_ERROR (element, RESOURCE, FAILED, ("%s", error->message), (NULL));
    break;
  }
}

void
gst_ccl_error_warn_of_missing_meta (GstElement *element, gboolean *warned)
{
  g_autofree gchar *labeller = NULL;

  if (*warned)
    return;
  *warned = TRUE;
  g_object_get (element, "labeller", &labeller, NULL);
  if (labeller)
    GST_ELEMENT_WARNING (element, STREAM, FORMAT,
        (_ ("Frames without component metadata arrive; is there a ccl or cudaccl named %s "
            "upstream?"),
            labeller),
        (NULL));
  else
    GST_ELEMENT_WARNING (element, STREAM, FORMAT,
        (_ ("Frames without component metadata arrive; is there a ccl or cudaccl upstream?")),
        (NULL));
}
