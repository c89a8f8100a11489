/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of files with a number, from a pattern that a property has. */
#pragma once

#include <gst/gst.h>

/* The name with the number in place of the pattern's only %d or %0Nd, as printf() writes it; %% is
 * a percent sign. NULL with the error set if the pattern is another one, so that a property cannot
 * have printf() read what is not there. */
gchar *gst_ccl_location_format (const gchar *pattern, guint64 number, GError **error);

/* Whether the pattern is a wrong one and the element has been started, so that it keeps the former
 * pattern: a property does not end the stream. Posts a warning then. */
gboolean gst_ccl_location_refuse (GstElement *element, const gchar *pattern);

/* Writes all bytes at that position. FALSE with errno set. */
gboolean gst_ccl_location_write (int fd, gconstpointer data, gsize size, goffset position);
