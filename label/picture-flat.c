/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that hold the samples one after the other behind a header: NPY, PGM and raw. */
#include "picture.h"

#include "error.h"
#include "processes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct Flat {
  Picture picture;
  InputFile *file;
  uint64_t offset; /* of the first sample */
  bool swap;       /* the samples have the other byte order */
} Flat;

static void
swap_bytes (uint8_t *samples, uint64_t n, uint32_t bytes)
{
  for (uint64_t i = 0; i < n; i++, samples += bytes) {
    for (uint32_t j = 0; j < bytes / 2; j++) {
      const uint8_t byte = samples[j];
      samples[j] = samples[bytes - 1 - j];
      samples[bytes - 1 - j] = byte;
    }
  }
}

static bool
flat_read (Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error)
{
  Flat *self = (Flat *)picture;
  const uint32_t bytes = sample_bytes (picture->type);
  const uint64_t row_bytes = picture->width * bytes;

  if (!input_file_read (
          self->file, self->offset + first_row * row_bytes, samples, n_rows * row_bytes, error))
    return false;
  if (self->swap)
    swap_bytes (samples, n_rows * picture->width, bytes);
  return true;
}

static void
flat_free (Picture *picture)
{
  Flat *self = (Flat *)picture;
  input_file_close (self->file);
  free (self);
}

static const PictureClass flat_class = {flat_read, flat_free};

static Flat *
flat_new (const char *path, CclError *error)
{
  Flat *self = calloc (1, sizeof *self);

  self->picture.klass = &flat_class;
  self->file = input_file_open (path, error);
  if (!self->file) {
    free (self);
    return NULL;
  }
  return self;
}

/* Compares the size of the file with that of the header and the samples. */
static bool
check_size (const Flat *self, const char *path, CclError *error)
{
  const Picture *p = &self->picture;
  const uint64_t size = input_file_size (self->file);

  if (!picture_check (p, path, error))
    return false;
  const uint64_t expected = self->offset + p->width * p->height * p->depth * sample_bytes (p->type);
  if (size != expected)
    return fail (error, "%s: the file has %llu bytes, but a picture of %llu×%llu×%llu has %llu",
        path, (unsigned long long)size, (unsigned long long)p->width, (unsigned long long)p->height,
        (unsigned long long)p->depth, (unsigned long long)expected);
  return true;
}

/* Returns the picture, or frees it if the header is not good. */
static Picture *
finish (Flat *self, bool is_good)
{
  if (is_good)
    return &self->picture;
  flat_free (&self->picture);
  return NULL;
}

Picture *
picture_open_raw (const char *path, const RawFormat *raw, CclError *error)
{
  Flat *self = flat_new (path, error);

  if (!self)
    return NULL;
  self->picture.width = raw->width;
  self->picture.height = raw->height;
  self->picture.depth = raw->depth;
  self->picture.type = raw->type;
  return finish (self, check_size (self, path, error));
}

/* Reads the next number of a PGM header, after blanks and comments. */
static bool
read_number (const char **text, uint64_t *number)
{
  const char *at = *text;

  while (isspace ((unsigned char)*at) || *at == '#') {
    if (*at == '#')
      while (*at && *at != '\n')
        at++;
    else
      at++;
  }
  if (!isdigit ((unsigned char)*at))
    return false;
  for (*number = 0; isdigit ((unsigned char)*at); at++) {
    if (*number > UINT32_MAX)
      return false;
    *number = *number * 10 + (uint64_t)(*at - '0');
  }
  *text = at;
  return true;
}

static bool
parse_pgm (Flat *self, const char *path, CclError *error)
{
  char head[4097] = "";
  const uint64_t size = input_file_size (self->file);
  const char *at = head + 2;
  uint64_t greatest;

  if (!input_file_read (
          self->file, 0, head, size < sizeof head - 1 ? size : sizeof head - 1, error))
    return false;
  if (head[1] != '5')
    return fail (error, "%s: P%c, but only binary PGM (P5) can be read", path, head[1]);
  if (!read_number (&at, &self->picture.width) || !read_number (&at, &self->picture.height) ||
      !read_number (&at, &greatest) || !isspace ((unsigned char)*at))
    return fail (error, "%s: the PGM header is damaged", path);
  if (greatest < 1 || greatest > 65535)
    return fail (error, "%s: the greatest value of a PGM file must be 1…65535, not %llu", path,
        (unsigned long long)greatest);
  self->picture.depth = 1;
  self->picture.type = greatest < 256 ? SAMPLE_UINT8 : SAMPLE_UINT16;
  self->swap = greatest > 255 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  self->offset = (uint64_t)(at + 1 - head);
  return check_size (self, path, error);
}

Picture *
picture_open_pgm (const char *path, CclError *error)
{
  Flat *self = flat_new (path, error);
  return self ? finish (self, parse_pgm (self, path, error)) : NULL;
}

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

  if (!descr || descr[0] != '\'' || !strchr ("<>|=", descr[1]) || !descr[1])
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
  self->picture.depth = n == 3 ? sides[0] : 1;
  self->picture.height = sides[n - 2];
  self->picture.width = sides[n - 1];
  return true;
}

static bool
parse_npy (Flat *self, const char *path, CclError *error)
{
  const uint64_t size = input_file_size (self->file);
  uint8_t head[12];
  char header[4097];

  if (size < sizeof head)
    return fail (error, "%s: the file ends in its NPY header", path);
  if (!input_file_read (self->file, 0, head, sizeof head, error))
    return false;
  if (head[6] < 1 || head[6] > 3)
    return fail (error, "%s: version %u of NPY is not known", path, head[6]);
  const uint64_t begin = head[6] == 1 ? 10 : 12;
  uint64_t length = head[8] | (uint64_t)head[9] << 8;
  if (head[6] > 1)
    length |= (uint64_t)head[10] << 16 | (uint64_t)head[11] << 24;
  if (length > size - begin || length >= sizeof header)
    return fail (error, "%s: the NPY header says that it is %llu bytes long", path,
        (unsigned long long)length);
  if (!input_file_read (self->file, begin, header, length, error))
    return false;
  header[length] = '\0';
  const char *order = find_value (header, "fortran_order");
  if (!order || (strncmp (order, "False", 5) != 0 && strncmp (order, "True", 4) != 0))
    return fail (error, "%s: the NPY header is damaged", path);
  if (order[0] == 'T')
    return fail (error, "%s: the array is in Fortran order; save it in C order", path);
  if (!parse_type (self, find_value (header, "descr")))
    return fail (error, "%s: the array must hold bool, integers, float32 or float64", path);
  if (!parse_shape (self, find_value (header, "shape")))
    return fail (error, "%s: the array must have two or three dimensions", path);
  self->offset = begin + length;
  return check_size (self, path, error);
}

Picture *
picture_open_npy (const char *path, CclError *error)
{
  Flat *self = flat_new (path, error);
  return self ? finish (self, parse_npy (self, path, error)) : NULL;
}
