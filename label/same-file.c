/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "same-file.h"

#include "error.h"

#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file, or, if it is not there yet, its folder and its name in it. */
typedef struct Identity {
  dev_t device;
  ino_t inode;
  char name[NAME_MAX + 1]; /* empty: the file is there */
} Identity;

/* Follows a symbolic link to a file that is not there. Returns false if the path is none. */
static bool
follow_link (char path[PATH_MAX])
{
  char target[PATH_MAX], joined[2 * PATH_MAX];
  const ssize_t n = readlink (path, target, sizeof target - 1);

  if (n < 0)
    return false;
  target[n] = '\0';
  char *slash = strrchr (path, '/');
  if (slash)
    slash[1] = '\0';
  snprintf (joined, sizeof joined, "%s%s", target[0] == '/' || !slash ? "" : path, target);
  if (strlen (joined) >= PATH_MAX)
    return false;
  strcpy (path, joined);
  return true;
}

/* Returns false for a path that cannot be examined; opening it fails with the reason. */
static bool
identify (const char *given, Identity *identity)
{
  char path[PATH_MAX], folder[PATH_MAX];
  struct stat status;
  enum { MOST_LINKS = 40 };

  *identity = (Identity){0};
  if (strlen (given) >= sizeof path)
    return false;
  strcpy (path, given);
  if (stat (path, &status) != 0) {
    for (int i = 0; i < MOST_LINKS && follow_link (path); i++)
      ;
    strcpy (folder, path);
    if (stat (dirname (folder), &status) != 0)
      return false;
    snprintf (identity->name, sizeof identity->name, "%s", basename (path));
  }
  identity->device = status.st_dev;
  identity->inode = status.st_ino;
  return true;
}

static bool
is_same (const char *a, const char *b)
{
  Identity first, second;

  return identify (a, &first) && identify (b, &second) && first.device == second.device &&
         first.inode == second.inode && strcmp (first.name, second.name) == 0;
}

/* Whether a path is a file that an input names, directly or as a folder. */
static bool
is_read (const char *path, const char *input)
{
  bool found = is_same (path, strcmp (input, "-") == 0 ? "/dev/stdin" : input);
  DIR *folder = opendir (input);
  struct dirent *entry;
  char *name;

  while (folder && !found && (entry = readdir (folder))) {
    if (entry->d_name[0] == '.' || asprintf (&name, "%s/%s", input, entry->d_name) < 0)
      continue;
    found = is_same (path, name);
    free (name);
  }
  if (folder)
    closedir (folder);
  return found;
}

bool
check_output_names (char *const *inputs, uint32_t n_inputs, const char *const *outputs,
    uint32_t n_outputs, CclError *error)
{
  struct stat status;

  for (uint32_t i = 0; i < n_outputs; i++) {
    if (!outputs[i])
      continue;
    if (stat (outputs[i], &status) == 0 && S_ISDIR (status.st_mode))
      return fail (error, "%s is a folder: it cannot be an output", outputs[i]);
    for (uint32_t j = 0; j < i; j++)
      if (outputs[j] && is_same (outputs[i], outputs[j]))
        return fail (
            error, "%s and %s are one file: each output needs its own", outputs[j], outputs[i]);
    for (uint32_t j = 0; j < n_inputs; j++)
      if (inputs[j] && is_read (outputs[i], inputs[j]))
        return fail (error, "%s cannot be an output: it is read (%s)", outputs[i], inputs[j]);
  }
  return true;
}
