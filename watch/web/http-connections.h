/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The listening socket of the web server, and the connections of its clients: how many there may
 * be, and how long one may do nothing. So clients cannot take the open files that cameras need.
 * Main thread only.
 *
 * A connection makes progress when it is accepted, when a request is complete, when the client
 * takes a part of an answer, and when the answer is complete. Without progress for the timeout it
 * is closed. A connection that became a WebSocket makes progress while its client takes what is
 * sent, and counts as one that waits for a request. Where there are too many, the one that has
 * waited longest for a request is closed for a new one. Where none waits, or no file can be opened,
 * new clients wait. */
#pragma once

#include <libsoup/soup.h>

typedef struct _WatchConnections WatchConnections;

/* Gives connections to the server, which must outlive the object.
 * @timeout: seconds */
WatchConnections *watch_connections_new (
    SoupServer *server, GSocketAddress *address, gdouble timeout, GError **error);
/* Stops listening; the server must have closed its connections. */
void watch_connections_free (WatchConnections *connections);

/* Where it listens: the port that was asked for may have been 0. Free with g_object_unref(). */
GSocketAddress *watch_connections_get_address (WatchConnections *connections);

/* The socket of a request's connection, which libsoup does not tell; not owned. */
GSocket *watch_connections_get_socket (SoupServerMessage *message);

/* What requests of one client have in common: its address, of IPv6 the network. */
const gchar *watch_connections_get_client (SoupServerMessage *message);
