/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http-access.h"

#include <string.h>

#include "http-respond.h"

#define COOKIE_NAME "ccl-watch"
#define COOKIE_SECONDS (90 * 86400)

struct _WatchHttpAccess {
  gchar *session; /* value of the cookie of browsers that sent the token; NULL without a token */
  gchar *token_digest;
};

gboolean
watch_http_is_change (SoupServerMessage *message)
{
  const gchar *method = soup_server_message_get_method (message);

  return method != SOUP_METHOD_GET && method != SOUP_METHOD_HEAD;
}

static const gchar *
get_header (SoupServerMessage *message, const gchar *name)
{
  return soup_message_headers_get_one (soup_server_message_get_request_headers (message), name);
}

static gchar *
digest (const gchar *key, const gchar *text)
{
  return g_compute_hmac_for_string (G_CHECKSUM_SHA256, (const guchar *)key, strlen (key), text, -1);
}

/* Compares secrets in a time that does not depend on where they differ. */
static gboolean
is_equal_secret (const gchar *a, const gchar *b)
{
  g_autofree gchar *first = digest ("compare", a);
  g_autofree gchar *second = digest ("compare", b);
  guint difference = 0;

  for (gsize i = 0; first[i]; i++)
    difference |= (guint)(first[i] ^ second[i]);
  return difference == 0;
}

WatchHttpAccess *
watch_http_access_new (const gchar *token)
{
  WatchHttpAccess *access = g_new0 (WatchHttpAccess, 1);

  if (token) {
    access->session = digest (token, "session");
    access->token_digest = digest ("token", token);
  }
  return access;
}

void
watch_http_access_free (WatchHttpAccess *access)
{
  g_free (access->session);
  g_free (access->token_digest);
  g_free (access);
}

static gboolean
is_token (WatchHttpAccess *access, const gchar *token)
{
  g_autofree gchar *given = digest ("token", token);

  return is_equal_secret (given, access->token_digest);
}

static gboolean
has_bearer_token (WatchHttpAccess *access, SoupServerMessage *message)
{
  const gchar *authorization = get_header (message, "Authorization");

  return authorization && g_ascii_strncasecmp (authorization, "Bearer ", 7) == 0 &&
         is_token (access, authorization + 7);
}

static gboolean
has_session (WatchHttpAccess *access, SoupServerMessage *message)
{
  const gchar *header = get_header (message, "Cookie");
  g_auto (GStrv) cookies = header ? g_strsplit (header, ";", 0) : NULL;

  for (gchar **cookie = cookies; cookie && *cookie; cookie++) {
    const gchar *text = g_strstrip (*cookie);

    if (g_str_has_prefix (text, COOKIE_NAME "=") &&
        is_equal_secret (text + strlen (COOKIE_NAME "="), access->session))
      return TRUE;
  }
  return FALSE;
}

/* The host of a "Host" header, without its port. */
static gchar *
host_without_port (const gchar *host)
{
  const gchar *colon = strrchr (host, ':');
  const gchar *bracket = strrchr (host, ']');

  if (colon && (!bracket || colon > bracket))
    return g_strndup (host, colon - host);
  return g_strdup (host);
}

/* Without a token, a page of another site must not reach this server under a name of its own that
 * leads to the loopback address. */
static gboolean
is_local_host (SoupServerMessage *message)
{
  const gchar *header = get_header (message, "Host");
  g_autofree gchar *host = header ? host_without_port (header) : NULL;
  g_autoptr (GInetAddress) address = NULL;

  if (!host)
    return FALSE;
  if (g_ascii_strcasecmp (host, "localhost") == 0 || g_str_equal (host, "[::1]"))
    return TRUE;
  address = g_inet_address_new_from_string (host);
  return address && g_inet_address_get_is_loopback (address);
}

/* Whether the request comes from our own page or from a program, which names no origin. */
static gboolean
has_own_origin (SoupServerMessage *message)
{
  const gchar *origin = get_header (message, "Origin");
  const gchar *host = get_header (message, "Host");
  const gchar *origin_host = origin ? strstr (origin, "://") : NULL;

  return !origin || (origin_host && host && g_ascii_strcasecmp (origin_host + 3, host) == 0);
}

/* Whether a change comes from our own page or from a program: a page of another site cannot set
 * this header, and its requests carry another origin. */
static gboolean
is_own_request (SoupServerMessage *message)
{
  return get_header (message, "X-CCL-Watch") && has_own_origin (message);
}

gboolean
watch_http_access_check (WatchHttpAccess *access, SoupServerMessage *message, gboolean is_public)
{
  gboolean bearer = access->session && has_bearer_token (access, message);

  if (!access->session && !is_local_host (message)) {
    watch_respond_error (
        message, SOUP_STATUS_FORBIDDEN, "the host of the request is not this machine");
  } else if (access->session && !is_public && !bearer && !has_session (access, message)) {
    soup_message_headers_replace (
        soup_server_message_get_response_headers (message), "WWW-Authenticate", "Bearer");
    watch_respond_error (message, SOUP_STATUS_UNAUTHORIZED, "a token is required");
  } else if (watch_http_is_change (message) && !bearer && !is_own_request (message)) {
    watch_respond_error (message, SOUP_STATUS_FORBIDDEN,
        "a change needs the header X-CCL-Watch and no foreign origin");
  } else {
    return TRUE;
  }
  return FALSE;
}

gboolean
watch_http_access_check_origin (WatchHttpAccess *access, SoupServerMessage *message)
{
  if (has_own_origin (message) || (access->session && has_bearer_token (access, message)))
    return TRUE;
  watch_respond_error (message, SOUP_STATUS_FORBIDDEN, "the origin is another site");
  return FALSE;
}

void
watch_http_access_login (WatchHttpAccess *access, SoupServerMessage *message)
{
  g_autoptr (GBytes) body =
      soup_message_body_flatten (soup_server_message_get_request_body (message));
  g_autofree gchar *token = g_strndup (g_bytes_get_data (body, NULL), g_bytes_get_size (body));

  if (soup_server_message_get_method (message) != SOUP_METHOD_POST) {
    watch_respond_wrong_method (message, "POST");
  } else if (access->session && !is_token (access, token)) {
    watch_respond_error (message, SOUP_STATUS_UNAUTHORIZED, "this is not the token");
  } else {
    if (access->session) {
      g_autofree gchar *cookie =
          g_strdup_printf ("%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict", COOKIE_NAME,
              access->session, COOKIE_SECONDS);

      soup_message_headers_replace (
          soup_server_message_get_response_headers (message), "Set-Cookie", cookie);
    }
    soup_server_message_set_status (message, SOUP_STATUS_NO_CONTENT, NULL);
  }
}
