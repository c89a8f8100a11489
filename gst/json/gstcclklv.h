/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of JSON as KLV packets: a key of 16 bytes, the length as BER, the value (SMPTE ST 336). */
#pragma once

#include <gst/gst.h>

#define GST_CCL_KLV_CAPS "meta/x-klv, parsed = (boolean) true"
#define GST_CCL_KLV_HEADER_SIZE 21

typedef enum {
  GST_CCL_KLV_INCOMPLETE, /* more bytes are needed */
  GST_CCL_KLV_OURS,
  GST_CCL_KLV_OTHER, /* a packet with another key */
  GST_CCL_KLV_BROKEN,
} GstCclKlvKind;

/* Writes key and length of a value of less than 2³² bytes. */
void gst_ccl_klv_write_header (guint8 header[GST_CCL_KLV_HEADER_SIZE], gsize size);

/* Reads the key and length that the data begin with. Returns where the value begins and its size;
 * it may end behind the data. */
GstCclKlvKind gst_ccl_klv_read_header (
    const guint8 *data, gsize size, gsize *header_size, guint64 *value_size);
