/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads grey images from files. */
#ifndef CCL_IMAGE_H
#define CCL_IMAGE_H

#include <glib.h>
#include <stdint.h>

G_BEGIN_DECLS

typedef struct CclImage {
  uint32_t width, height; /* pixels; width × height ≤ INT32_MAX */
  gboolean is_bitmap;     /* a PBM, whose ones are drawn black */
  uint8_t *pixels; /* row after row without padding; 0 is black. Values of a PGM are as in the
                    * file, whatever it says white is; those of a PBM are 0 and 255 */
} CclImage;

#define CCL_IMAGE_ERROR (g_quark_from_static_string ("ccl-image"))
enum {
  CCL_IMAGE_ERROR_DAMAGED, /* missing, damaged, or of a kind that is not read */
};

/* Reads a PNG (grey or palette, 1 to 8 bits a pixel), PBM or PGM (1 byte a pixel) file. Returns
 * NULL with a message of one line that begins with the path. Any thread may call. */
CclImage *ccl_image_read (const char *path, GError **error);

/* NULL is fine. */
void ccl_image_free (CclImage *image);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CclImage, ccl_image_free)

G_END_DECLS

#endif /* CCL_IMAGE_H */
