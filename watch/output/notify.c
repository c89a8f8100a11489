/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "notify.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void
watch_notify (const gchar *state)
{
  const gchar *path = g_getenv ("NOTIFY_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  gsize length = path ? strlen (path) : 0;
  gint fd;

  if (length == 0 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
    return;
  memcpy (address.sun_path, path, length);
  if (path[0] == '@') /* a name that is no file */
    address.sun_path[0] = 0;
  fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return;
  /* A failure is ignored: the service manager notices that messages are missing. */
  if (sendto (fd, state, strlen (state), MSG_NOSIGNAL, (struct sockaddr *)&address,
          offsetof (struct sockaddr_un, sun_path) + length) < 0) {
  }
  close (fd);
}

guint64
watch_notify_interval (void)
{
  const gchar *text = g_getenv ("WATCHDOG_USEC");
  const gchar *pid = g_getenv ("WATCHDOG_PID");
  guint64 interval = 0;

  if (!text || (pid && g_ascii_strtoll (pid, NULL, 10) != getpid ()) ||
      !g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT64, &interval, NULL))
    return 0;
  return interval;
}
