/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "web-address.h"

#include <arpa/inet.h>
#include <string.h>

/* The IPv4 address inside of an IPv6 address; NULL if there is none. */
static GInetAddress *
get_embedded (GInetAddress *address)
{
  static const struct {
    guint8 prefix[12];
    guint length, at;
  } forms[] = {
      {{[10] = 0xff, 0xff}, 12, 12},      /* mapped */
      {{0x00, 0x64, 0xff, 0x9b}, 12, 12}, /* translated by NAT64 */
      {{0x20, 0x02}, 2, 2},               /* 6to4 */
      {{0}, 12, 12},                      /* compatible; also :: and ::1 */
  };
  const guint8 *bytes = g_inet_address_to_bytes (address);

  if (g_inet_address_get_family (address) != G_SOCKET_FAMILY_IPV6)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    if (memcmp (bytes, forms[i].prefix, forms[i].length) == 0)
      return g_inet_address_new_from_bytes (bytes + forms[i].at, G_SOCKET_FAMILY_IPV4);
  return NULL;
}

gboolean
watch_address_is_local (GInetAddress *address)
{
  g_autoptr (GInetAddress) embedded = get_embedded (address);

  if (g_inet_address_get_is_loopback (address) || g_inet_address_get_is_link_local (address) ||
      g_inet_address_get_is_any (address) || g_inet_address_get_is_multicast (address))
    return TRUE;
  if (embedded)
    return watch_address_is_local (embedded);
  /* 0.x.x.x is this machine, too. */
  return g_inet_address_get_family (address) == G_SOCKET_FAMILY_IPV4 &&
         g_inet_address_to_bytes (address)[0] == 0;
}

GInetAddress *
watch_address_of_host (const gchar *host)
{
  g_autofree gchar *text = g_strdup (host);
  gsize length = strlen (text);
  struct in_addr ipv4;

  if (text[0] == '[' && text[length - 1] == ']') {
    text[length - 1] = '\0';
    memmove (text, text + 1, length - 1);
  }
  text[strcspn (text, "%")] = '\0'; /* the interface of a link-local address */
  if (g_str_has_suffix (text, "."))
    text[strlen (text) - 1] = '\0';
  if (*text && inet_aton (text, &ipv4))
    return g_inet_address_new_from_bytes ((const guint8 *)&ipv4.s_addr, G_SOCKET_FAMILY_IPV4);
  return g_inet_address_new_from_string (text);
}

gboolean
watch_host_is_local (const gchar *host)
{
  g_autofree gchar *ascii = g_hostname_to_ascii (host);
  g_autoptr (GInetAddress) address = watch_address_of_host (ascii ? ascii : host);
  g_autofree gchar *name = g_ascii_strdown (ascii ? ascii : host, -1);

  if (address)
    return watch_address_is_local (address);
  if (g_str_has_suffix (name, "."))
    name[strlen (name) - 1] = '\0';
  return !*name || g_str_equal (name, "localhost") || g_str_has_suffix (name, ".localhost") ||
         g_str_equal (name, "ip6-localhost") || g_str_equal (name, "ip6-loopback");
}

gchar *
watch_uri_host (const gchar *uri)
{
  const gchar *authority = strstr (uri, "://");
  const gchar *end, *at;
  g_autofree gchar *host = NULL, *unescaped = NULL;
  gchar *colon;

  if (!authority)
    return NULL;
  authority += 3;
  end = authority + strcspn (authority, "/?#");
  at = g_strrstr_len (authority, end - authority, "@");
  authority = at ? at + 1 : authority;
  host = g_strndup (authority, end - authority);
  colon = strrchr (host, ':');
  if (colon && !strchr (colon, ']'))
    *colon = '\0';
  unescaped = g_uri_unescape_string (host, NULL);
  if (!unescaped || !*unescaped)
    return NULL;
  if (unescaped[0] == '[' && strchr (unescaped, ']')) {
    *strchr (unescaped, ']') = '\0';
    return g_ascii_strdown (unescaped + 1, -1);
  }
  return g_ascii_strdown (unescaped, -1);
}
