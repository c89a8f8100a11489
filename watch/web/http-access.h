/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which requests are allowed: token, cookie, and requests that pages of other sites make. */
#pragma once

#include <libsoup/soup.h>

typedef struct _WatchHttpAccess WatchHttpAccess;

/* Without a token (NULL), programs and browsers of this machine have access. Clients with the
 * `read_token` (or NULL) change nothing. */
WatchHttpAccess *watch_http_access_new (const gchar *token, const gchar *read_token);
void watch_http_access_free (WatchHttpAccess *access);

/* Whether the request is no GET or HEAD. */
gboolean watch_http_is_change (SoupServerMessage *message);

/* Answers a request that is not allowed and returns FALSE. `is_public`: no token is needed. */
gboolean watch_http_access_check (
    WatchHttpAccess *access, SoupServerMessage *message, gboolean is_public);

/* For requests that open a WebSocket: answers one that a page of another site has made and returns
 * FALSE. A browser sends such a request with the cookie, without asking first whether it may. */
gboolean watch_http_access_check_origin (WatchHttpAccess *access, SoupServerMessage *message);

/* Answers a request whose body is a token: gives the browser a cookie. */
void watch_http_access_login (WatchHttpAccess *access, SoupServerMessage *message);
/* Answers a request to take the cookie back. */
void watch_http_access_logout (SoupServerMessage *message);
/* {"token":BOOLEAN,"changes":BOOLEAN}: whether a token is needed, and whether the client that sent
 * an allowed request may change something; free with g_free(). */
gchar *watch_http_access_describe (WatchHttpAccess *access, SoupServerMessage *message);
