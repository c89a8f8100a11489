/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "settings.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace simcuda {

void
complain (const char *format, ...)
{
  char text[1024];
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (text, sizeof text, format, arguments);
  va_end (arguments);
  fprintf (stderr, "simcuda: %s\n", text);
}

static bool
read_number (const char *variable, uint64_t least, uint64_t most, uint64_t *number)
{
  const char *text = getenv (variable);
  if (!text || !*text)
    return false;
  char *end;
  uint64_t value = strtoull (text, &end, 0);
  if (*end || value < least || value > most) {
    complain ("%s=%s is not a number from %llu to %llu", variable, text, (unsigned long long)least,
        (unsigned long long)most);
    exit (2);
  }
  *number = value;
  return true;
}

static Settings
read_settings ()
{
  Settings s;
  uint64_t number;
  if (read_number ("SIMCUDA_DEVICES", 0, 16, &number))
    s.n_devices = int (number);
  if (read_number ("SIMCUDA_COMPUTE_CAPABILITY", 10, 999, &number))
    s.compute_capability = int (number);
  if (read_number ("SIMCUDA_MULTIPROCESSORS", 1, 1024, &number))
    s.n_multiprocessors = int (number);
  if (read_number ("SIMCUDA_MEMORY_MIB", 1, 1 << 20, &number))
    s.memory = number << 20;
  if (read_number ("SIMCUDA_SEED", 0, ~0ull, &number))
    s.seed = number;
  if (read_number ("SIMCUDA_TIMEOUT", 1, 100000, &number))
    s.timeout = unsigned (number);
  if (read_number ("SIMCUDA_REPORT_LEAKS", 0, 1, &number))
    s.report_leaks = number;
  if (const char *name = getenv ("SIMCUDA_NAME"))
    s.name = name;
  if (const char *order = getenv ("SIMCUDA_ORDER")) {
    if (!strcmp (order, "eager")) {
      s.order = Order::eager;
    } else if (strcmp (order, "lazy")) {
      complain ("SIMCUDA_ORDER=%s is neither lazy nor eager", order);
      exit (2);
    }
  }
  if (const char *text = getenv ("SIMCUDA_ATTRIBUTES")) {
    int attribute, value, length;
    while (sscanf (text, "%d=%d%n", &attribute, &value, &length) == 2) {
      s.attributes[attribute] = value;
      text += length;
      if (*text == ',')
        text++;
    }
    if (*text) {
      complain ("SIMCUDA_ATTRIBUTES is not number=value,…: %s", text);
      exit (2);
    }
  }
  return s;
}

const Settings &
settings ()
{
  static const Settings s = read_settings ();
  return s;
}

} /* namespace simcuda */
