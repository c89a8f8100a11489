/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sizes that ccl-label and ccl-watch take. */
#include <locale.h>
#include <stdio.h>

#include "parse-size.h"

static const struct {
  const char *text;
  int64_t bytes; /* −1: refused */
} sizes[] = {
    {"0", 0},
    {"4096", 4096},
    {"4096B", 4096},
    {"1k", 1000},
    {"1K", 1000},
    {"1kB", 1000},
    {"1Ki", 1024},
    {"1KiB", 1024},
    {"100M", 100000000},
    {"1G", 1000000000},
    {"1GiB", 1073741824},
    {"1gib", 1073741824},
    {"1.5G", 1500000000},
    {"0.29K", 290},
    {".5M", 500000},
    {"3T", 3000000000000},
    {"3TiB", 3298534883328},
    {"1023PiB", -1},
    {"1152921504606846975T", -1},
    {"", -1},
    {"G", -1},
    {".", -1},
    {"-1", -1},
    {"+1", -1},
    {" 1", -1},
    {"1 G", -1},
    {"1GG", -1},
    {"1Gi B", -1},
    {"1iB", -1},
    {"1e9", -1},
    {"0x10", -1},
    {"inf", -1},
    {"nan", -1},
    {"1,5G", -1},
    {"1.5.5", -1},
};

int
main (void)
{
  const int n = sizeof sizes / sizeof *sizes;

  setlocale (LC_ALL, "de_DE.UTF-8"); /* where a comma separates decimals, if it is installed */
  printf ("1..%d\n", n);
  for (int i = 0; i < n; i++) {
    uint64_t bytes = 77;
    const bool is_size = parse_size (sizes[i].text, &bytes);
    const bool is_right =
        sizes[i].bytes < 0 ? !is_size : is_size && bytes == (uint64_t)sizes[i].bytes;
    printf ("%s %d size \"%s\"\n", is_right ? "ok" : "not ok", i + 1, sizes[i].text);
  }
  return 0;
}
