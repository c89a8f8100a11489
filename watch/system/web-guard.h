/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps connections of cameras from addresses that only this machine reaches, at the moment they
 * are made: whatever name, redirection or playlist led there. Hosts that the configuration itself
 * names are left alone.
 *
 * It stands where GLib looks for the addresses of a name and for the proxy of an address, which all
 * network sources of GStreamer do before they connect by TCP. What is sent by UDP asks it. */
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
