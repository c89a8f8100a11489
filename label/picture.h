/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures in files: frames and volumes of one sample per pixel. */
#ifndef CCL_LABEL_PICTURE_H
#define CCL_LABEL_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include <cudaccl/labeller.h>

typedef enum SampleType {
  SAMPLE_UINT8,
  SAMPLE_INT8,
  SAMPLE_UINT16,
  SAMPLE_INT16,
  SAMPLE_UINT32,
  SAMPLE_INT32,
  SAMPLE_UINT64,
  SAMPLE_INT64,
  SAMPLE_FLOAT32,
  SAMPLE_FLOAT64,
} SampleType;

uint32_t sample_bytes (SampleType type);

/* A name such as "uint8" or "float32". */
const char *sample_type_name (SampleType type);

/* Finds the type of such a name. */
bool sample_type_parse (const char *name, SampleType *type);

typedef struct Picture Picture;

/* What a format implements. Functions that return bool fill the error when they return false. */
typedef struct PictureClass {
  /* Reads rows, counted through all slices, as samples in the byte order of this machine. */
  bool (*read) (
      Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error);
  void (*free) (Picture *picture);
} PictureClass;

/* The first member of each format's struct. */
struct Picture {
  const PictureClass *klass;
  uint64_t width, height, depth; /* ≥ 1; height × depth rows of width samples */
  SampleType type;
};

/* How to read files without a header. */
typedef struct RawFormat {
  uint64_t width, height, depth; /* width 0: no file is raw */
  SampleType type;
} RawFormat;

/* Opens a file, a folder of slices, or several files, each a slice of a volume. Its first bytes
 * tell the format of a file. Free with picture_free(). */
Picture *picture_open (char *const *paths, uint32_t n_paths, const RawFormat *raw, CclError *error);

/* Opens one file. */
Picture *picture_open_file (const char *path, const RawFormat *raw, CclError *error);

/* Reads rows as one byte per pixel. If the samples are not uint8, a pixel is 255 where the sample
 * is greater than the threshold, else 0. */
bool picture_read (Picture *picture, uint64_t first_row, uint64_t n_rows, double threshold,
    uint8_t *pixels, CclError *error);

void picture_free (Picture *picture); /* NULL is allowed */

/* The formats. Each returns NULL and an error for a file that it cannot read. */
Picture *picture_open_npy (const char *path, CclError *error);
Picture *picture_open_pgm (const char *path, CclError *error);
Picture *picture_open_raw (const char *path, const RawFormat *raw, CclError *error);
Picture *picture_open_png (const char *path, CclError *error);
Picture *picture_open_tiff (const char *path, CclError *error);

/* Reports a size that no picture may have. */
bool picture_check (const Picture *picture, const char *path, CclError *error);

#endif /* CCL_LABEL_PICTURE_H */
