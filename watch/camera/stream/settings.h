/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a camera's configuration sets of the elements in its pipelines. */
#pragma once

#include <gst/gst.h>

#include "watch/config/config-camera.h"

/* Sets the properties whose keys in a configuration begin with "ELEMENT." and whose values differ
 * from those in the configuration before, which may be NULL. A property that the configuration does
 * not name any more gets its default. */
void watch_settings_change (const WatchCameraConfig *before, const WatchCameraConfig *after,
    const gchar *element, GstElement *target);
/* Sets a property if the element has it. */
void watch_settings_default (GstElement *element, const gchar *property, const gchar *value);
/* Of a source of frames or packets, before it starts. */
void watch_settings_apply_to_source (const WatchCameraConfig *config, GstElement *source);
/* An element of a source that may send something to an address that the server chose.
 * @uri: of the source */
void watch_settings_check_receiver (const gchar *uri, GstElement *element);

/* The running time of a time on a pad: negative before the beginning of the segment, such as the
 * first decoding times of a file; or GST_CLOCK_STIME_NONE. */
GstClockTimeDiff watch_running_time_on_pad (GstPad *pad, GstClockTime time);
