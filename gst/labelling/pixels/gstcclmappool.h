/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pool of label maps or masks in system memory. */
#pragma once

#include <gst/gst.h>

/* A new, active pool of buffers of size bytes; NULL on failure. Acquiring a buffer fails when
 * memory is short. Deactivate the pool before the last unref. */
GstBufferPool *gst_ccl_map_pool_new (gsize size);
