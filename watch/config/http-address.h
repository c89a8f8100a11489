/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The address of the web page, as the configuration names it. */
#pragma once

#include "config.h"

/* "ADDRESS:PORT", where an IPv6 address stands in brackets. NULL and an error of one line if it is
 * none. */
GSocketAddress *watch_http_address_parse (const gchar *text, GError **error);

/* FALSE and an error of one line if the address of the configuration is none, or if other machines
 * can connect to it and there is no token of 16 characters or more. */
gboolean watch_http_check (const WatchConfig *config, GError **error);
