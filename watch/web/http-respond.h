/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers to requests. */
#pragma once

#include <libsoup/soup.h>

/* The text is copied. */
void watch_respond (SoupServerMessage *message, guint status, const gchar *type, const gchar *text);
/* Status 200; takes the text. */
void watch_respond_json (SoupServerMessage *message, gchar *text);
/* Status 200. */
void watch_respond_bytes (SoupServerMessage *message, const gchar *type, GBytes *bytes);
/* The text is one line, which says why. */
void watch_respond_error (SoupServerMessage *message, guint status, const gchar *text);
/* `allowed` lists the methods that are possible. */
void watch_respond_wrong_method (SoupServerMessage *message, const gchar *allowed);
