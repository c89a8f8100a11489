/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NPY, the format of NumPy's arrays. */
#include "pictures/error.h"
#include "pictures/flat.h"
#include "pictures/transpose.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text after a key of the header's dictionary, or NULL. */
static const char *
find_value (const char *header, const char *key)
{
  char quoted[32];
  const char *at;

  snprintf (quoted, sizeof quoted, "'%s'", key);
  at = strstr (header, quoted);
  if (!at)
    return NULL;
  at += strlen (quoted);
  at += strspn (at, " ");
  if (*at != ':')
    return NULL;
  at++;
  return at + strspn (at, " ");
}

static bool
parse_type (Flat *self, const char *descr)
{
  static const struct {
    char name[3];
    SampleType type;
  } names[] = {{"b1", SAMPLE_UINT8}, {"u1", SAMPLE_UINT8}, {"i1", SAMPLE_INT8},
      {"u2", SAMPLE_UINT16}, {"i2", SAMPLE_INT16}, {"u4", SAMPLE_UINT32}, {"i4", SAMPLE_INT32},
      {"u8", SAMPLE_UINT64}, {"i8", SAMPLE_INT64}, {"f4", SAMPLE_FLOAT32}, {"f8", SAMPLE_FLOAT64}};
  const char own = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';

  if (!descr || descr[0] != '\'' || !descr[1] || !strchr ("<>|=", descr[1]))
    return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strncmp (descr + 2, names[i].name, 2) == 0 && descr[4] == '\'') {
      self->picture.type = names[i].type;
      self->swap = (descr[1] == '<' || descr[1] == '>') && descr[1] != own;
      return true;
    }
  }
  return false;
}

/* Parses a tuple of two or three numbers. */
static bool
parse_shape (Flat *self, const char *shape)
{
  uint64_t sides[3];
  uint32_t n = 0;

  if (!shape || *shape++ != '(')
    return false;
  while (true) {
    shape += strspn (shape, " ,");
    if (*shape == ')')
      break;
    if (n == 3 || !isdigit ((unsigned char)*shape))
      return false;
    for (sides[n] = 0; isdigit ((unsigned char)*shape); shape++) {
      if (sides[n] > UINT32_MAX)
        return false;
      sides[n] = sides[n] * 10 + (uint64_t)(*shape - '0');
    }
    n++;
  }
  if (n < 2)
    return false;
  self->picture.is_volume = n == 3;
  self->picture.depth = n == 3 ? sides[0] : 1;
  self->picture.height = sides[n - 2];
  self->picture.width = sides[n - 1];
  self->picture.has_flat_colours = n == 3 && (sides[2] == 3 || sides[2] == 4);
  self->picture.may_be = self->picture.has_flat_colours ? "colours" : NULL;
  return true;
}

/* Reads the dictionary of the header, which the samples follow. Returns NULL with the error filled.
 * Free with free(). */
static char *
read_header (Flat *self, CclError *error)
{
  const char *name = self->file->name;
  const uint64_t size = self->file->size;
  enum { MOST = 4096 };
  uint8_t head[12];

  if (size < sizeof head) {
    fail (error, "%s: the file ends in its NPY header", name);
    return NULL;
  }
  if (!picture_file_read (self->file, 0, head, sizeof head, error))
    return NULL;
  if (head[6] < 1 || head[6] > 3) {
    fail (error, "%s: version %u of NPY is not known", name, head[6]);
    return NULL;
  }
  const uint64_t begin = head[6] == 1 ? 10 : 12;
  uint64_t length = head[8] | (uint64_t)head[9] << 8;
  if (head[6] > 1)
    length |= (uint64_t)head[10] << 16 | (uint64_t)head[11] << 24;
  if (length > size - begin || length > MOST) {
    fail (error, "%s: the NPY header says that it is %llu bytes long", name,
        (unsigned long long)length);
    return NULL;
  }
  self->offset = begin + length;
  char *header = calloc (1, length + 1);
  if (!header)
    fail_without_memory (error);
  else if (picture_file_read (self->file, begin, header, length, error))
    return header;
  free (header);
  return NULL;
}

static bool
parse_header (Flat *self, const char *header, bool *is_fortran, CclError *error)
{
  const char *name = self->file->name, *order = find_value (header, "fortran_order");

  if (!order || (strncmp (order, "False", 5) != 0 && strncmp (order, "True", 4) != 0))
    return fail (error, "%s: the NPY header is damaged", name);
  *is_fortran = order[0] == 'T';
  if (!parse_type (self, find_value (header, "descr")))
    return fail (error, "%s: the array must hold bool, integers, float32 or float64", name);
  return parse_shape (self, find_value (header, "shape")) ||
         fail (error, "%s: the array must have two or three dimensions", name);
}

static bool
begins_like_npy (const uint8_t *head, size_t n)
{
  return n >= 6 && memcmp (head, "\x93NUMPY", 6) == 0;
}

static Picture *
open_npy (PictureFile *file, CclError *error)
{
  Flat *self = flat_new (file, error);
  bool is_fortran = false;

  if (!self)
    return NULL;
  char *header = read_header (self, error);
  const bool is_good = header && parse_header (self, header, &is_fortran, error);
  free (header);
  Picture *picture = flat_finish (self, is_good, error);
  if (picture && is_fortran && !flat_transpose (self, error)) {
    picture_free (picture);
    return NULL;
  }
  return picture;
}

const PictureFormat picture_npy = {"NPY", begins_like_npy, open_npy};
