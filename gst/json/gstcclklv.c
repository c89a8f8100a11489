/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclklv.h"

#include <string.h>

#define KEY_SIZE 16
#define LONG_LENGTH 0x80 /* the other bits count the bytes behind, which are the length */

/* A key of the experimental class (0x0f) of SMPTE's dictionary, which needs no registration; its
 * last bytes are "cclJSON". Depayloaders recognise packets by the first four bytes. */
static const guint8 key[KEY_SIZE] = {
    0x06, 0x0e, 0x2b, 0x34, 0x01, 0x01, 0x01, 0x01, 0x0f, 0x63, 0x63, 0x6c, 0x4a, 0x53, 0x4f, 0x4e};

void
gst_ccl_klv_write_header (guint8 header[GST_CCL_KLV_HEADER_SIZE], gsize size)
{
  const guint32 length = GUINT32_TO_BE ((guint32)size);

  memcpy (header, key, KEY_SIZE);
  header[KEY_SIZE] = LONG_LENGTH | 4;
  memcpy (header + KEY_SIZE + 1, &length, sizeof length); /* it is not aligned */
}

GstCclKlvKind
gst_ccl_klv_read_header (const guint8 *data, gsize size, gsize *header_size, guint64 *value_size)
{
  guint n;

  if (size <= KEY_SIZE)
    return GST_CCL_KLV_INCOMPLETE;
  n = data[KEY_SIZE] & LONG_LENGTH ? data[KEY_SIZE] & 0x7f : 0;
  if ((data[KEY_SIZE] & LONG_LENGTH && n == 0) || n > 7)
    return GST_CCL_KLV_BROKEN;
  if (size < KEY_SIZE + 1 + n)
    return GST_CCL_KLV_INCOMPLETE;
  *value_size = n > 0 ? 0 : data[KEY_SIZE];
  for (guint i = 0; i < n; i++)
    *value_size = *value_size << 8 | data[KEY_SIZE + 1 + i];
  *header_size = KEY_SIZE + 1 + n;
  return memcmp (data, key, KEY_SIZE) == 0 ? GST_CCL_KLV_OURS : GST_CCL_KLV_OTHER;
}
