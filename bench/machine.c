/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine.h"

#include <stdbool.h>
#include <string.h>
#include <sys/utsname.h>

void
machine_add (GPtrArray *machine, const char *name, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (machine, g_strdup (name));
  g_ptr_array_add (machine, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

/* The processor's name from the kernel. */
static char *
read_cpu_model (void)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL))
    return g_strdup ("unknown");
  lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line; line++)
    if (g_str_has_prefix (*line, "model name") && strchr (*line, ':'))
      return g_strdup (g_strstrip (strchr (*line, ':') + 1));
  return g_strdup ("unknown");
}

GPtrArray *
machine_describe (int argc, char **argv)
{
  GPtrArray *machine = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *date = g_date_time_format_iso8601 (now);
  g_autoptr (GString) command = g_string_new ("ccl-bench");
  g_autofree char *cpu = read_cpu_model ();
  struct utsname system;

  for (int i = 1; i < argc; i++) {
    g_autofree char *quoted = g_shell_quote (argv[i]);
    const bool plain = !strpbrk (argv[i], " \t\n'\"\\$&;|<>()*?[]#~`!{}") && *argv[i];
    g_string_append_printf (command, " %s", plain ? argv[i] : quoted);
  }
  machine_add (machine, "command", "%s", command->str);
  machine_add (machine, "date", "%s", date);
  machine_add (machine, "version", "cudaccl %s", BENCH_VERSION);
#ifdef __clang__
  machine_add (machine, "compiler", "%s", __VERSION__);
#else
  machine_add (machine, "compiler", "GCC %s", __VERSION__);
#endif
  machine_add (machine, "cpu", "%s", cpu);
  machine_add (machine, "threads", "%u", g_get_num_processors ());
  if (uname (&system) == 0)
    machine_add (machine, "system", "%s %s %s", system.sysname, system.release, system.machine);
  return machine;
}
