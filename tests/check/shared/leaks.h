/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Leaks of objects, which GStreamer's tracer finds, and of resources of a GPU, which the simulated
 * driver counts. */
#pragma once

#include <glib.h>

/* Fails the test if there are objects, where GST_TRACERS names "leaks", or memory, streams and the
 * like of a device, where the CUDA driver is the simulated one. For the teardown of a checked
 * fixture. */
void assert_no_leaks (void);

/* As assert_no_leaks(), for objects only: resources of a lost device cannot be freed. */
void assert_no_object_leaks (void);

/* The number of allocations of device and page-locked memory; 0 if the CUDA driver is not the
 * simulated one. Destroying a context frees its memory, so count before that. */
guint64 count_device_memory (void);
