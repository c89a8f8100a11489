/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http-address.h"

#include <string.h>

#define MIN_TOKEN_LENGTH 16

GSocketAddress *
watch_http_address_parse (const gchar *text, GError **error)
{
  g_autoptr (GSocketConnectable) connectable = g_network_address_parse (text, 0, NULL);
  GNetworkAddress *network = connectable ? G_NETWORK_ADDRESS (connectable) : NULL;
  const gchar *host = network ? g_network_address_get_hostname (network) : "";
  guint16 port = network ? g_network_address_get_port (network) : 0;
  GSocketAddress *address = g_inet_socket_address_new_from_string (
      g_str_equal (host, "localhost") ? "127.0.0.1" : host, port);

  if (address && strrchr (text, ':') && !g_str_has_suffix (text, "]"))
    return address;
  g_clear_object (&address);
  watch_fail (error, "\"%s\" is no address and port, such as 127.0.0.1:8080 or [::1]:8080", text);
  return NULL;
}

gboolean
watch_http_check (const WatchConfig *config, GError **error)
{
  g_autoptr (GSocketAddress) address = NULL;
  GInetAddress *inet;

  if (!config->http)
    return TRUE;
  address = watch_http_address_parse (config->http, error);
  if (!address)
    return FALSE;
  inet = g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (address));
  if (!g_inet_address_get_is_loopback (inet) &&
      (!config->http_token || strlen (config->http_token) < MIN_TOKEN_LENGTH))
    return watch_fail (error,
        "%s can be reached from other machines, which requires a token of %d characters or more",
        config->http, MIN_TOKEN_LENGTH);
  if (!config->read_token)
    return TRUE;
  if (!config->http_token)
    return watch_fail (error, "read-token: there is no token, so that all may change everything");
  if (strlen (config->read_token) < MIN_TOKEN_LENGTH)
    return watch_fail (error, "read-token: it must have %d characters or more", MIN_TOKEN_LENGTH);
  return strcmp (config->read_token, config->http_token) != 0 ||
         watch_fail (error, "read-token: it is the same as token");
}
