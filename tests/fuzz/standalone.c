/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a fuzz target without libFuzzer. The run is reproducible.
 *
 * usage: TARGET [FILE OR FOLDER… | --random N SEED]…
 *
 * Prints the number of inputs.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "target.h"

static uint64_t n_inputs;

static void
run_file (const char *path)
{
  struct stat status;
  if (stat (path, &status) == 0 && S_ISDIR (status.st_mode)) {
    struct dirent **entries;
    int n = scandir (path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
      char inner[4096];
      snprintf (inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
      if (entries[i]->d_name[0] != '.')
        run_file (inner);
      free (entries[i]);
    }
    free (entries);
    return;
  }
  static uint8_t data[1 << 16];
  FILE *file = fopen (path, "rb");
  if (!file) {
    perror (path);
    exit (1);
  }
  size_t size = fread (data, 1, sizeof data, file);
  fclose (file);
  LLVMFuzzerTestOneInput (data, size);
  n_inputs++;
}

static void
run_random (uint32_t n, uint32_t seed)
{
  uint32_t noise = seed * 2654435761u + 1;
  for (uint32_t i = 0; i < n; i++, n_inputs++) {
    uint8_t data[50];
    for (size_t j = 0; j < sizeof data; j++) {
      noise = noise * 1664525 + 1013904223;
      data[j] = noise >> 24;
    }
    make_quick (data, sizeof data);
    LLVMFuzzerTestOneInput (data, sizeof data);
  }
}

int
main (int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    if (!strcmp (argv[i], "--random") && i + 2 < argc) {
      run_random (strtoul (argv[i + 1], NULL, 10), strtoul (argv[i + 2], NULL, 10));
      i += 2;
    } else {
      run_file (argv[i]);
    }
  }
  printf ("%lu inputs\n", (unsigned long)n_inputs);
  return 0;
}
