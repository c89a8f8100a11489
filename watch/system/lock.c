/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

gboolean
watch_lock_descriptor (gint descriptor)
{
  gint status;

  do
    status = flock (descriptor, LOCK_EX | LOCK_NB);
  while (status != 0 && errno == EINTR);
  return status == 0;
}

gint
watch_lock_file (const gchar *path)
{
  const gint descriptor = open (path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  gint code;

  if (descriptor < 0 || watch_lock_descriptor (descriptor))
    return descriptor;
  code = errno;
  close (descriptor);
  errno = code;
  return -1;
}
