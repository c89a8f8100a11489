/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The description of a run: machine, versions, command. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <glib.h>

/* Pairs of a name and a value: "command", "date", "version", "compiler", "cpu", "threads",
 * "system". Devices and peers add theirs. */
GPtrArray *machine_describe (int argc, char **argv);

/* Adds a pair. */
void machine_add (GPtrArray *machine, const char *name, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

#endif /* BENCH_MACHINE_H */
