/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http-access.h"

#include <string.h>

#include "http-connections.h"
#include "http-respond.h"
#include "watch/system/log.h"

#define COOKIE_NAME "ccl-watch"
#define COOKIE_SECONDS (90 * 86400)
#define MAX_WRONG                                                                                  \
  10 /* wrong tokens that a client may send one after the other; then one a second */
#define MAX_CLIENTS 1000 /* that sent wrong tokens */
#define STATUS_TOO_MANY_REQUESTS 429

/* Of a client that sent a wrong token. */
typedef struct {
  gdouble n_wrong; /* less one for each second since */
  gint64 time;     /* monotonic, of the last one */
} Tries;

typedef enum { NO_ROLE, READER, ADMINISTRATOR, N_ROLES } Role;

struct _WatchHttpAccess {
  /* Of each role that has a token. */
  gchar *sessions[N_ROLES]; /* value of the cookie of browsers that sent the token */
  gchar *token_digests[N_ROLES];
  GHashTable *tries; /* client → Tries */
  WatchLogLimit wrong_limit;
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

static void
set_token (WatchHttpAccess *access, Role role, const gchar *token)
{
  if (!token)
    return;
  access->sessions[role] = digest (token, "session");
  access->token_digests[role] = digest ("token", token);
}

WatchHttpAccess *
watch_http_access_new (const gchar *token, const gchar *read_token)
{
  WatchHttpAccess *access = g_new0 (WatchHttpAccess, 1);

  set_token (access, ADMINISTRATOR, token);
  set_token (access, READER, read_token);
  access->tries = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return access;
}

void
watch_http_access_free (WatchHttpAccess *access)
{
  for (Role role = READER; role < N_ROLES; role++) {
    g_free (access->sessions[role]);
    g_free (access->token_digests[role]);
  }
  g_hash_table_unref (access->tries);
  g_free (access);
}

/* The number of wrong tokens that the client sent. One is forgotten each second. */
static gdouble
count_wrong (WatchHttpAccess *access, SoupServerMessage *message)
{
  const Tries *tries = g_hash_table_lookup (access->tries, watch_connections_get_client (message));

  return tries ? MAX (tries->n_wrong - (g_get_monotonic_time () - tries->time) / 1e6, 0) : 0;
}

static void
note_wrong (WatchHttpAccess *access, SoupServerMessage *message)
{
  Tries *tries = g_new (Tries, 1);

  *tries = (Tries){count_wrong (access, message) + 1, g_get_monotonic_time ()};
  if (g_hash_table_size (access->tries) >= MAX_CLIENTS)
    g_hash_table_remove_all (access->tries);
  g_hash_table_replace (access->tries, g_strdup (watch_connections_get_client (message)), tries);
  watch_log_warning_limited (&access->wrong_limit, "web server: %s sent a wrong token",
      soup_server_message_get_remote_host (message));
}

/* The role whose secret this is. Each one is compared. */
static Role
find_role (gchar *const *secrets, const gchar *given)
{
  Role found = NO_ROLE;

  for (Role role = READER; role < N_ROLES; role++)
    if (secrets[role] && is_equal_secret (given, secrets[role]))
      found = role;
  return found;
}

typedef enum { NO_TOKEN, RIGHT_TOKEN, WRONG_TOKEN, TOO_MANY_TOKENS } TokenAnswer;

/* `role` is that of a right token. */
static TokenAnswer
check_token (WatchHttpAccess *access, SoupServerMessage *message, const gchar *token, Role *role)
{
  g_autofree gchar *given = digest ("token", token);
  const Role found = find_role (access->token_digests, given);

  if (count_wrong (access, message) > MAX_WRONG - 1)
    return TOO_MANY_TOKENS;
  if (found != NO_ROLE) {
    *role = found;
    return RIGHT_TOKEN;
  }
  note_wrong (access, message);
  return WRONG_TOKEN;
}

static gboolean
needs_token (const WatchHttpAccess *access)
{
  return access->sessions[ADMINISTRATOR] != NULL;
}

static TokenAnswer
check_bearer_token (WatchHttpAccess *access, SoupServerMessage *message, Role *role)
{
  const gchar *authorization = get_header (message, "Authorization");

  if (!needs_token (access) || !authorization ||
      g_ascii_strncasecmp (authorization, "Bearer ", 7) != 0)
    return NO_TOKEN;
  return check_token (access, message, authorization + 7, role);
}

static void
refuse_tokens (SoupServerMessage *message)
{
  soup_message_headers_replace (
      soup_server_message_get_response_headers (message), "Retry-After", "1");
  watch_respond_error (message, STATUS_TOO_MANY_REQUESTS, "too many wrong tokens");
}

/* By the cookie. */
static Role
role_of_session (WatchHttpAccess *access, SoupServerMessage *message)
{
  Role role = NO_ROLE;
  const gchar *header = get_header (message, "Cookie");
  g_auto (GStrv) cookies = header ? g_strsplit (header, ";", 0) : NULL;

  for (gchar **cookie = cookies; cookie && *cookie && role == NO_ROLE; cookie++) {
    const gchar *text = g_strstrip (*cookie);

    if (g_str_has_prefix (text, COOKIE_NAME "="))
      role = find_role (access->sessions, text + strlen (COOKIE_NAME "="));
  }
  return role;
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

/* Whether the request names this machine. Where no token is needed, only such requests are allowed:
 * the name of another site may lead to the loopback address, and its page must not reach this
 * server. */
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
  Role role = needs_token (access) ? role_of_session (access, message) : ADMINISTRATOR;
  const TokenAnswer answer = check_bearer_token (access, message, &role);
  const gboolean bearer = answer == RIGHT_TOKEN;

  if (answer == TOO_MANY_TOKENS && !is_public) {
    refuse_tokens (message);
  } else if (!needs_token (access) && !is_local_host (message)) {
    watch_respond_error (
        message, SOUP_STATUS_FORBIDDEN, "the host of the request is not this machine");
  } else if (!is_public && role == NO_ROLE) {
    soup_message_headers_replace (
        soup_server_message_get_response_headers (message), "WWW-Authenticate", "Bearer");
    watch_respond_error (message, SOUP_STATUS_UNAUTHORIZED, "a token is required");
  } else if (watch_http_is_change (message) && !bearer && !is_own_request (message)) {
    watch_respond_error (message, SOUP_STATUS_FORBIDDEN,
        "a change needs the header X-CCL-Watch and no foreign origin");
  } else if (watch_http_is_change (message) && !is_public && role != ADMINISTRATOR) {
    watch_respond_error (message, SOUP_STATUS_FORBIDDEN, "this token changes nothing");
  } else {
    return TRUE;
  }
  return FALSE;
}

gboolean
watch_http_access_check_origin (WatchHttpAccess *access, SoupServerMessage *message)
{
  Role role;

  if (has_own_origin (message) || check_bearer_token (access, message, &role) == RIGHT_TOKEN)
    return TRUE;
  watch_respond_error (message, SOUP_STATUS_FORBIDDEN, "the origin is another site");
  return FALSE;
}

/* Whether the browser uses TLS, which a proxy before this server ends. */
static gboolean
is_secure (SoupServerMessage *message)
{
  const gchar *origin = get_header (message, "Origin");
  const gchar *protocol = get_header (message, "X-Forwarded-Proto");

  return (origin && g_ascii_strncasecmp (origin, "https://", 8) == 0) ||
         (protocol && g_ascii_strcasecmp (protocol, "https") == 0);
}

static void
set_cookie (SoupServerMessage *message, const gchar *value, gint seconds)
{
  g_autofree gchar *cookie =
      g_strdup_printf ("%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s", COOKIE_NAME, value,
          seconds, is_secure (message) ? "; Secure" : "");

  soup_message_headers_replace (
      soup_server_message_get_response_headers (message), "Set-Cookie", cookie);
}

void
watch_http_access_login (WatchHttpAccess *access, SoupServerMessage *message)
{
  g_autoptr (GBytes) body =
      soup_message_body_flatten (soup_server_message_get_request_body (message));
  g_autofree gchar *token = g_strndup (g_bytes_get_data (body, NULL), g_bytes_get_size (body));
  TokenAnswer answer;
  Role role = NO_ROLE;

  if (soup_server_message_get_method (message) != SOUP_METHOD_POST) {
    watch_respond_wrong_method (message, "POST");
    return;
  }
  answer = needs_token (access) ? check_token (access, message, token, &role) : NO_TOKEN;
  if (answer == TOO_MANY_TOKENS) {
    refuse_tokens (message);
  } else if (answer == WRONG_TOKEN) {
    watch_respond_error (message, SOUP_STATUS_UNAUTHORIZED, "this is not the token");
  } else {
    if (answer == RIGHT_TOKEN)
      set_cookie (message, access->sessions[role], COOKIE_SECONDS);
    soup_server_message_set_status (message, SOUP_STATUS_NO_CONTENT, NULL);
  }
}

void
watch_http_access_logout (SoupServerMessage *message)
{
  if (soup_server_message_get_method (message) != SOUP_METHOD_POST) {
    watch_respond_wrong_method (message, "POST");
    return;
  }
  set_cookie (message, "", 0);
  soup_server_message_set_status (message, SOUP_STATUS_NO_CONTENT, NULL);
}

gchar *
watch_http_access_describe (WatchHttpAccess *access, SoupServerMessage *message)
{
  Role role = role_of_session (access, message);

  check_bearer_token (access, message, &role);
  return g_strdup_printf ("{\"token\":%s,\"changes\":%s}", needs_token (access) ? "true" : "false",
      !needs_token (access) || role == ADMINISTRATOR ? "true" : "false");
}
