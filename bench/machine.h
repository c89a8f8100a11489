/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What figures mean nothing without: the machine, the versions, the command. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <glib.h>

/* Pairs of a name and a value, NULL-terminated: "date", "command", "version", "compiler", "cpu",
 * "threads", "system", and whatever the devices and peers add. */
GPtrArray *machine_describe (int argc, char **argv);

/* Adds a pair. */
void machine_add (GPtrArray *machine, const char *name, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

#endif /* BENCH_MACHINE_H */
