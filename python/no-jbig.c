/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In place of libjbig in wheels: libtiff needs it, and its licence, the GPL, would be that of the
 * whole wheel. Nothing can be decoded or encoded, so a TIFF file that is compressed by JBIG is an
 * error.
 */
#include <stddef.h>

enum { ABORTED = 0x20 };

int
jbg_dec_in (void *decoder, unsigned char *data, size_t size, size_t *n_read)
{
  (void)decoder, (void)data, (void)size;
  if (n_read)
    *n_read = 0;
  return ABORTED;
}

const char *
jbg_strerror (int error)
{
  return "this wheel was built without JBIG";
}

#define NOTHING(name)                                                                              \
  void *name (void)                                                                                \
  {                                                                                                \
    return NULL;                                                                                   \
  }
NOTHING (jbg_dec_free)
NOTHING (jbg_dec_getimage)
NOTHING (jbg_dec_getsize)
NOTHING (jbg_dec_init)
NOTHING (jbg_enc_free)
NOTHING (jbg_enc_init)
NOTHING (jbg_enc_out)
NOTHING (jbg_newlen)
