/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "same-file.h"

#include "error.h"

#include <dirent.h>
#include <errno.h>
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

/* Returns false for a path that cannot be examined; opening it fails with the reason. */
static bool
identify (const char *given, Identity *identity)
{
  char path[PATH_MAX], folder[PATH_MAX];
  struct stat status;

  *identity = (Identity){0};
  if (strlen (given) >= sizeof folder)
    return false;
  if (stat (given, &status) != 0) {
    strcpy (folder, given);
    if (stat (dirname (folder), &status) != 0 || realpath (given, path) || errno != ENOENT)
      return false;
    strcpy (folder, path); /* with the links followed, up to the name that is missing */
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
