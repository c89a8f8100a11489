/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Refuses connections of cameras to addresses that only this machine reaches, at the moment they
 * are made, whatever name, redirection or playlist led there. Hosts that the configuration itself
 * names are allowed.
 *
 * The guard replaces GLib's resolvers of names and of proxies, which all network sources of
 * GStreamer ask before they connect by TCP. Code that sends by UDP asks watch_guard_may_send(). */
#pragma once

#include <glib.h>

/* Must be called before any other thread uses the network. */
void watch_guard_install (void);

/* Whether a camera of that URI may send datagrams to the host. An RTSP server chooses where its
 * receivers send their reports, and no resolver sees the address. Logs a refusal once for each
 * host. Any thread. */
gboolean watch_guard_may_send (const gchar *uri, const gchar *host);

/* The hosts that may be local; takes the array of gchar * in lower case. Any thread. */
void watch_guard_set_trusted (GPtrArray *hosts);
