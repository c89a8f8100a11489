/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclfile.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void
set_system_error (const gchar *path, GError **error)
{
  const int number = errno;

  g_set_error (error, G_FILE_ERROR, (gint)g_file_error_from_errno (number), "%s: %s", path,
      g_strerror (number));
}

/* Reads until the end of the file or of the room. Returns the number of bytes, or -1. */
static gssize
read_all (int fd, gchar *data, gsize room)
{
  gsize n = 0;

  while (n < room) {
    const gssize more = read (fd, data + n, room - n);

    if (more == 0)
      break;
    if (more > 0)
      n += (gsize)more;
    else if (errno != EINTR)
      return -1;
  }
  return (gssize)n;
}

static gchar *
read_open_file (int fd, const gchar *path, gsize max_size, gsize *size, GError **error)
{
  struct stat status;
  g_autofree gchar *content = NULL;
  gssize n;

  if (fstat (fd, &status) != 0) {
    set_system_error (path, error);
    return NULL;
  }
  if (!S_ISREG (status.st_mode)) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: not a regular file", path);
    return NULL;
  }
  if ((guint64)status.st_size > max_size) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "%s: larger than %" G_GSIZE_FORMAT " bytes", path, max_size);
    return NULL;
  }
  /* What is added to the file meanwhile is not read. */
  content = g_try_malloc ((gsize)status.st_size + 1);
  n = content ? read_all (fd, content, (gsize)status.st_size) : -1;
  if (n < 0) {
    set_system_error (path, error);
    return NULL;
  }
  content[n] = '\0';
  *size = (gsize)n;
  return g_steal_pointer (&content);
}

gchar *
gst_ccl_file_read (const gchar *path, gsize max_size, gsize *size, GError **error)
{
  /* Opening a FIFO would wait for a writer. */
  const int fd = g_open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  gchar *content;

  if (fd < 0) {
    set_system_error (path, error);
    return NULL;
  }
  content = read_open_file (fd, path, max_size, size, error);
  close (fd);
  return content;
}
