/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures in files: frames and volumes, read a few rows at a time. A format's reader delivers the
 * samples as they are stored; the functions below make grey values or a mask of them.
 *
 * Functions that return bool or a pointer fill the error, a line that names the file, when they
 * fail. A picture belongs to one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <cudaccl/labeller.h>

#include "file.h"
#include "geo.h"

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

/* What a format implements. */
typedef struct PictureClass {
  /* Reads rows, counted through all slices: n_channels samples for each pixel, in the byte order of
   * this machine. */
  bool (*read) (
      Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error);
  void (*free) (Picture *picture);
} PictureClass;

/* The first member of each format's struct. */
struct Picture {
  const PictureClass *klass;
  uint64_t width, height, depth; /* ≥ 1; height × depth rows of width pixels */
  bool is_volume;                /* whether the file has slices, if only one */
  bool is_page;                  /* it is the page that the options choose, not a volume of all
                                  * pages */
  bool has_flat_colours;         /* a volume whose rows have 3 or 4 samples, which may be the
                                  * colours of a pixel */
  const char *may_be;   /* what a volume may be instead, such as "colours"; NULL: nothing */
  uint32_t orientation; /* as in TIFF and Exif, until the picture is turned; 0 and 1: its first row
                         * is the upper one */
  uint32_t n_channels;  /* 1: grey; 2: grey, opacity; 3: red, green, blue; 4: and opacity */
  SampleType type;      /* with colours uint8, uint16, float32 or float64 */
  bool has_no_data;     /* whether pixels of one value are no part of the picture */
  double no_data;       /* that value; never of colours */
  const GeoReference *geo; /* as long as the picture; NULL: none */
};

/* How to read files without a header. */
typedef struct RawFormat {
  uint64_t width, height, depth; /* width 0: no file is raw */
  bool is_volume;
  SampleType type;
} RawFormat;

/* A format of files. */
typedef struct PictureFormat {
  const char *name;

  /* Whether a file begins like one of this format. n: the bytes of the beginning, at most
   * PICTURE_HEAD. */
  bool (*begins) (const uint8_t *head, size_t n);

  /* Opens a file, which then belongs to the picture; it is closed if that fails. NULL: this build
   * lacks the library that reads the format. */
  Picture *(*open) (PictureFile *file, CclError *error);
} PictureFormat;

enum { PICTURE_HEAD = 8 };

extern const PictureFormat picture_png, picture_pnm, picture_npy, picture_tiff, picture_jpeg;

/* All formats, with NULL at the end. */
extern const PictureFormat *const picture_formats[];

/* Reads rows as grey samples of the picture's type. Colours become grey by the weights of BT.601,
 * those of JPEG; opacity is ignored. */
bool picture_read_grey (
    Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error);

/* The type of the numbers that picture_read_values() reads: that of the samples, of colours uint32
 * or uint64. */
SampleType picture_value_type (const Picture *picture);

/* Reads rows of numbers, one for each pixel, of which no two that differ become the same one:
 * samples as they are, and colours as one number each. Black is 0; opacity is ignored. */
bool picture_read_values (
    Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error);

/* Makes a picture with colours of a volume whose rows may be the colours of a pixel, as NPY files
 * have it: the height becomes the width, and the depth the height. Returns whether it was one. */
bool picture_take_colours (Picture *picture);

/* How many channels of colour a picture has: 3, or 1 if it is grey. Opacity is none of them. */
uint32_t picture_n_colours (const Picture *picture);

/* Reads rows of samples of one channel of colour: 0 for red or grey, 1 for green, 2 for blue. */
bool picture_read_colour (Picture *picture, uint32_t channel, uint64_t first_row, uint64_t n_rows,
    void *samples, CclError *error);

/* The same as doubles. */
bool picture_read_reals (Picture *picture, uint32_t channel, uint64_t first_row, uint64_t n_rows,
    double *samples, CclError *error);

/* Reads rows as one byte per pixel: grey samples of uint8 as they are; of other types 255 where a
 * sample is greater than the threshold, else 0. */
bool picture_read (Picture *picture, uint64_t first_row, uint64_t n_rows, double threshold,
    uint8_t *pixels, CclError *error);

/* The same of a picture with has_no_data. valid: set to 0 for pixels without data, whose byte is 0,
 * too, else 1. */
bool picture_read_valid (Picture *picture, uint64_t first_row, uint64_t n_rows, double threshold,
    uint8_t *pixels, uint8_t *valid, CclError *error);

/* Replaces n samples of the picture without data, if it has such, by 0. */
void picture_clear_no_data (const Picture *picture, void *samples, uint64_t n);

/* Reads rows as a mask: 0 where a pixel is black or transparent, else 255. */
bool picture_read_mask (
    Picture *picture, uint64_t first_row, uint64_t n_rows, uint8_t *pixels, CclError *error);

void picture_free (Picture *picture); /* NULL is allowed */

/* For readers of formats. */

/* Reports a size that no picture may have. */
bool picture_check (const Picture *picture, const PictureFile *file, CclError *error);

/* Memory of zeros for a reader's struct of so many bytes. NULL: the file is closed. */
void *picture_new (size_t size, PictureFile *file, CclError *error);

/* A picture whose rows can only be read one after the other, from the first one on. */
typedef struct PictureInOrder {
  Picture picture;
  uint64_t next_row;
  bool (*rewind) (struct PictureInOrder *self, CclError *error);
  bool (*read_row) (struct PictureInOrder *self, void *samples, CclError *error);
} PictureInOrder;

/* Begins such a picture, which has read_row() and rewind(), and checks its size; frees it, and
 * returns NULL, if one of the two fails. */
Picture *picture_start_in_order (PictureInOrder *self, const PictureFile *file, CclError *error);

/* PictureClass.read of such a picture. */
bool picture_read_in_order (
    Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error);
