/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hosts that only this machine and its links reach. */
#pragma once

#include <gio/gio.h>

/* Whether it is a loopback, link-local, multicast or unspecified address, in any form that leads to
 * one: IPv4 inside of IPv6, too. */
gboolean watch_address_is_local (GInetAddress *address);

/* The address that a host is, in all spellings that the C library understands, such as 127.1,
 * 0x7f000001 and [::1%eth0]. NULL if it is a name. */
GInetAddress *watch_address_of_host (const gchar *host);

/* Whether the host is such an address or a name of this machine's own, such as localhost. Other
 * names are not resolved. */
gboolean watch_host_is_local (const gchar *host);

/* The host of a URI in lower case, without user, port and brackets; NULL if it has none. Free with
 * g_free(). */
gchar *watch_uri_host (const gchar *uri);
