/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures and clips as answers, read off the main thread in chunks. Main thread only. */
#pragma once

#include <libsoup/soup.h>

#include "watch/system/folder.h"

/* Answers with a file of the folder, which may be NULL, or with the range of bytes that the request
 * asks for.
 * @from, @to: microseconds since 1970, of the part of a clip to be sent; 0 and 0: the whole file */
void watch_http_media_send (
    SoupServerMessage *message, WatchFolder *folder, const gchar *name, gint64 from, gint64 to);

/* Answers a PUT of {"keep":true} or {"keep":false} for a file, now or later. */
void watch_http_media_keep (SoupServerMessage *message, WatchFolder *folder, const gchar *name);

/* Keeps the range of a request for watch_http_media_send(), and removes it from the request,
 * because libsoup would copy each part that it names. Called when the headers have arrived. */
void watch_http_media_note_range (SoupServerMessage *message);
