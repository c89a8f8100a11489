/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loaded before GIO, this makes two threads use the type GSocket for the first time together, which
 * can happen on a busy machine: a connection registers it slowly, and meanwhile the first thread
 * makes a socket to listen at. */
#include <dlfcn.h>
#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

void
g_type_add_interface_static (GType type, GType interface, const GInterfaceInfo *info)
{
  void (*next) (GType, GType, const GInterfaceInfo *) =
      dlsym (RTLD_NEXT, "g_type_add_interface_static");

  if (gettid () != getpid () && strcmp (g_type_name (type), "GSocket") == 0)
    sleep (2);
  next (type, interface, info);
}

GSocket *
g_socket_new (GSocketFamily family, GSocketType type, GSocketProtocol protocol, GError **error)
{
  GSocket *(*next) (GSocketFamily, GSocketType, GSocketProtocol, GError **) =
      dlsym (RTLD_NEXT, "g_socket_new");

  if (gettid () == getpid ())
    sleep (1);
  return next (family, type, protocol, error);
}
