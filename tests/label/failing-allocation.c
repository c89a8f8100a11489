/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For LD_PRELOAD: one allocation of ccl-label or libcudaccl fails, also one by libc for them: the
 * one whose number is in FAIL_AT, counted from 1. The file that FAIL_MARK names is made when it
 * does. The libraries of formats are spared: libtiff 4.5 uses memory that it did not get.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t n, size_t size);
extern void *__libc_realloc (void *memory, size_t size);

static unsigned n_calls;

static bool
is_ours (const void *caller)
{
  Dl_info info;

  return dladdr (caller, &info) &&
         (strstr (info.dli_fname, "ccl") || strstr (info.dli_fname, "/libc.so"));
}

/* Nothing that this calls allocates. */
static bool
fails (const void *caller)
{
  const char *number = getenv ("FAIL_AT"), *mark = getenv ("FAIL_MARK");

  if (!number || !is_ours (caller) || __sync_add_and_fetch (&n_calls, 1) != (unsigned)atoi (number))
    return false;
  const int file = open (mark ? mark : "/dev/null", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0)
    close (file);
  errno = ENOMEM;
  return true;
}

void *
malloc (size_t size)
{
  return fails (__builtin_return_address (0)) ? NULL : __libc_malloc (size);
}

void *
calloc (size_t n, size_t size)
{
  return fails (__builtin_return_address (0)) ? NULL : __libc_calloc (n, size);
}

void *
realloc (void *memory, size_t size)
{
  return fails (__builtin_return_address (0)) ? NULL : __libc_realloc (memory, size);
}
