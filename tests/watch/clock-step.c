/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loaded before the C library, this moves the real-time clock by the seconds in the file that the
 * environment variable CLOCK_STEP names. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

int clock_gettime (clockid_t clock, struct timespec *time);
int gettimeofday (struct timeval *time, void *zone);

static long
offset (void)
{
  const char *path = getenv ("CLOCK_STEP");
  FILE *file = path ? fopen (path, "r") : NULL;
  long seconds = 0;

  if (file) {
    if (fscanf (file, "%ld", &seconds) != 1)
      seconds = 0;
    fclose (file);
  }
  return seconds;
}

int
clock_gettime (clockid_t clock, struct timespec *time)
{
  int (*next) (clockid_t, struct timespec *) = dlsym (RTLD_NEXT, "clock_gettime");
  int result = next (clock, time);

  if (result == 0 && clock == CLOCK_REALTIME)
    time->tv_sec += offset ();
  return result;
}

int
gettimeofday (struct timeval *time, void *zone)
{
  int (*next) (struct timeval *, void *) = dlsym (RTLD_NEXT, "gettimeofday");
  int result = next (time, zone);

  if (result == 0)
    time->tv_sec += offset ();
  return result;
}
