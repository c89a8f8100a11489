/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log-message.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Calls of the function hold the lock for reading: when it has been replaced, no call of the former
 * one is running. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static CclLogFunc log_func;
static void *log_data;

void
ccl_set_log_func (CclLogFunc func, void *data)
{
  pthread_rwlock_wrlock (&lock);
  log_func = func;
  log_data = data;
  pthread_rwlock_unlock (&lock);
}

void
ccl_log (CclLogLevel level, const char *format, ...)
{
  char message[256];
  va_list arguments;

  pthread_rwlock_rdlock (&lock);
  if (log_func) {
    va_start (arguments, format);
    vsnprintf (message, sizeof message, format, arguments);
    va_end (arguments);
    log_func (level, message, log_data);
  }
  pthread_rwlock_unlock (&lock);
}
