/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* sched_getaffinity() */

#include "processors.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The processors that the affinity mask has. */
static uint32_t
count_affinity (void)
{
  cpu_set_t processors;
  if (sched_getaffinity (0, sizeof processors, &processors) == 0)
    return (uint32_t)CPU_COUNT (&processors);
  /* It fails where the machine has more processors than a cpu_set_t. */
  const long n = sysconf (_SC_NPROCESSORS_ONLN);
  return n > 0 ? (uint32_t)n : 1;
}

static FILE *
open_file (const char *root, const char *folder, const char *name)
{
  char path[4096];
  const int length = snprintf (path, sizeof path, "%s%s%s", root, folder, name);
  return length < (int)sizeof path ? fopen (path, "re") : NULL;
}

/* Reads two numbers from one file, or one from each of two. "max" is not a number. */
static bool
read_numbers (const char *root, const char *folder, const char *first, const char *second,
    double *a, double *b)
{
  FILE *file = open_file (root, folder, first);
  if (!file)
    return false;
  bool is_read = second ? fscanf (file, "%lf", a) == 1 : fscanf (file, "%lf %lf", a, b) == 2;
  fclose (file);
  if (!is_read || !second)
    return is_read;
  file = open_file (root, folder, second);
  if (!file)
    return false;
  is_read = fscanf (file, "%lf", b) == 1;
  fclose (file);
  return is_read;
}

/* The least quota, in processors, of the control group in a folder and of its ancestors, up to the
 * folder of the hierarchy, whose name has n_root characters. Changes the name. */
static double
find_quota (const char *root, char *folder, size_t n_root, bool is_version_1)
{
  double least = INFINITY, time, period;

  for (;;) {
    const bool has_quota =
        is_version_1
            ? read_numbers (root, folder, "/cpu.cfs_quota_us", "/cpu.cfs_period_us", &time, &period)
            : read_numbers (root, folder, "/cpu.max", NULL, &time, &period);
    if (has_quota && time > 0 && period > 0)
      least = fmin (least, time / period);
    char *slash = strrchr (folder, '/');
    if (!slash || slash < folder + n_root)
      return least;
    *slash = '\0';
  }
}

/* Whether a list that is divided by commas has the word. */
static bool
has_word (const char *list, const char *word)
{
  const size_t n = strlen (word);
  for (const char *found = list; (found = strstr (found, word)); found += n)
    if ((found == list || found[-1] == ',') && (found[n] == ',' || !found[n]))
      return true;
  return false;
}

/* Replaces \040 and the like by the characters that they stand for. */
static void
unescape (char *text)
{
  char *out = text;
  for (; *text; text++) {
    if (text[0] == '\\' && strspn (text + 1, "01234567") >= 3) {
      *out++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
      text += 3;
    } else {
      *out++ = *text;
    }
  }
  *out = '\0';
}

/* The control group of this process in the hierarchy that has its processor time, by
 * /proc/self/cgroup: "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1. */
static bool
find_group (const char *root, bool is_version_1, char path[4096])
{
  FILE *file = open_file (root, "/proc/self", "/cgroup");
  char line[4352];
  bool is_found = false;

  while (file && !is_found && fgets (line, sizeof line, file)) {
    char *controllers = strchr (line, ':');
    char *group = controllers ? strchr (controllers + 1, ':') : NULL;
    if (!group)
      continue;
    *group++ = '\0';
    controllers++;
    group[strcspn (group, "\n")] = '\0';
    is_found = is_version_1 ? has_word (controllers, "cpu") : !*controllers;
    if (is_found)
      snprintf (path, 4096, "%s", group);
  }
  if (file)
    fclose (file);
  return is_found;
}

/* The quota of the hierarchy that a line of /proc/self/mountinfo mounts, if it is one that has
 * processor time: "32 31 0:29 ROOT MOUNT_POINT OPTIONS … - TYPE SOURCE OPTIONS". */
static double
find_quota_of_mount (const char *root, const char *line)
{
  char mounted[4096], folder[8192], type[16], options[256], group[4096];
  const char *rest = strstr (line, " - ");

  if (sscanf (line, "%*s %*s %*s %4095s %4095s", mounted, folder) != 2 || !rest ||
      sscanf (rest, " - %15s %*s %255s", type, options) != 2)
    return INFINITY;
  const bool is_version_1 = strcmp (type, "cgroup") == 0 && has_word (options, "cpu");
  if ((!is_version_1 && strcmp (type, "cgroup2") != 0) || !find_group (root, is_version_1, group))
    return INFINITY;
  unescape (mounted);
  unescape (folder);
  /* A container has its group mounted as the root, and may see the path outside. */
  const size_t n_mounted = strcmp (mounted, "/") == 0 ? 0 : strlen (mounted);
  const bool is_below = strncmp (group, mounted, n_mounted) == 0 &&
                        (group[n_mounted] == '/' || !group[n_mounted]) && !strstr (group, "/..");
  const size_t n_root = strlen (folder);
  snprintf (folder + n_root, sizeof folder - n_root, "%s", is_below ? group + n_mounted : "");
  if (folder[strlen (folder) - 1] == '/')
    folder[strlen (folder) - 1] = '\0';
  return find_quota (root, folder, n_root, is_version_1);
}

double
processors_quota (const char *root)
{
  FILE *file = open_file (root, "/proc/self", "/mountinfo");
  double quota = INFINITY;
  char *line = NULL;
  size_t size = 0;

  while (file && getline (&line, &size, file) > 0)
    quota = fmin (quota, find_quota_of_mount (root, line));
  free (line);
  if (file)
    fclose (file);
  return quota;
}

Processors
processors_find (void)
{
  const uint32_t n = count_affinity ();
  const double quota = processors_quota ("");

  if (quota >= n)
    return (Processors){.n = n > 0 ? n : 1};
  return (Processors){.n = (uint32_t)fmax (1, ceil (quota)), .has_quota = true};
}
