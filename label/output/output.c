/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output.h"

#include "error.h"

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NAMES = 5 };

/* The temporary files, for the signal handler. */
static const char *volatile temporaries[MOST_NAMES];

bool
pending_name_init (PendingName *name, const char *path, uint64_t number, CclError *error)
{
  name->path = strdup (path);
  if (asprintf (&name->temporary, "%s.%llx.part", path, (unsigned long long)number) < 0)
    name->temporary = NULL;
  if (!name->path || !name->temporary) {
    free (name->path);
    free (name->temporary);
    *name = (PendingName){0};
    return fail_without_memory (error);
  }
  for (int i = 0; i < MOST_NAMES; i++) {
    if (!temporaries[i]) {
      temporaries[i] = name->temporary;
      break;
    }
  }
  return true;
}

/* Removes the temporary file from the signal handler's list. */
static void
unlist (const PendingName *name)
{
  for (int i = 0; i < MOST_NAMES; i++)
    if (temporaries[i] == name->temporary)
      temporaries[i] = NULL;
}

bool
pending_name_commit (PendingName *name, CclError *error)
{
  if (rename (name->temporary, name->path) != 0)
    return fail (error, "%s: %s", name->path, strerror (errno));
  return true;
}

void
pending_name_clear (PendingName *name)
{
  if (!name->path)
    return;
  unlink (name->temporary);
  unlist (name);
  free (name->path);
  free (name->temporary);
  *name = (PendingName){0};
}

void
pending_names_remove (void)
{
  for (int i = 0; i < MOST_NAMES; i++)
    if (temporaries[i])
      unlink (temporaries[i]);
}

static void
on_signal (int number)
{
  pending_names_remove ();
  signal (number, SIG_DFL);
  raise (number);
}

void
pending_names_watch_signals (void)
{
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
  struct sigaction action = {.sa_handler = on_signal};

  sigemptyset (&action.sa_mask);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    sigaction (numbers[i], &action, NULL);
  /* Writes beyond the limits of a file's size and to closed pipes fail with a message. */
  signal (SIGXFSZ, SIG_IGN);
  signal (SIGPIPE, SIG_IGN);
}

FILE *
own_part_new (const char *path, const Processes *processes, CclError *error)
{
  char *name;
  FILE *part;

  if (asprintf (&name, "%s.%u", path, processes->rank) < 0) {
    fail_without_memory (error);
    return NULL;
  }
  part = fopen (name, "w+b");
  if (!part)
    fail (error, "%s: %s", name, strerror (errno));
  unlink (name);
  free (name);
  return part;
}

bool
own_part_write (FILE *part, const void *bytes, uint64_t size, CclError *error)
{
  if (fwrite (bytes, 1, size, part) != size)
    return fail (error, "a part of an output cannot be written: %s", strerror (errno));
  return true;
}

bool
own_part_copy (FILE *part, OutputFile *file, uint64_t offset, CclError *error)
{
  char buffer[1 << 16];
  size_t n;

  if (fflush (part) != 0)
    return fail (error, "a part of an output cannot be written: %s", strerror (errno));
  rewind (part);
  while ((n = fread (buffer, 1, sizeof buffer, part)) > 0) {
    if (!output_file_write (file, offset, buffer, n, error))
      return false;
    offset += n;
  }
  if (ferror (part))
    return fail (error, "a part of an output cannot be read: %s", strerror (errno));
  return true;
}

char *
folder_of (const char *path)
{
  char *copy = strdup (path), *folder = copy ? strdup (dirname (copy)) : NULL;
  free (copy);
  return folder;
}

bool
has_suffix (const char *name, const char *suffix)
{
  const size_t length = strlen (name), n = strlen (suffix);
  return length > n && strcasecmp (name + length - n, suffix) == 0;
}

void
npy_header (char *header, uint32_t size, const char *type, const char *shape)
{
  const bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  const uint32_t length = size - 10;

  memset (header, ' ', size);
  memcpy (header, "\x93NUMPY\1\0", 8);
  header[8] = (char)(length & 255);
  header[9] = (char)(length >> 8);
  const int n = snprintf (
      header + 10, length, "{'descr': %s, 'fortran_order': False, 'shape': (%s), }", type, shape);
  header[10 + n] = ' ';
  header[size - 1] = '\n';
  for (int i = 10; i < 10 + n; i++)
    if (header[i] == '@')
      header[i] = is_little ? '<' : '>';
}
