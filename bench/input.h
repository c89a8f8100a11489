/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inputs: images and volumes from files, and generated ones.
 *
 * A data set can be large, so a run first collects sources (the names of inputs) and then loads one
 * input at a time.
 */
#ifndef BENCH_INPUT_H
#define BENCH_INPUT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* A binary image, or a volume if depth > 1. Pixels are 0 or 255, rows and slices follow each other
 * without padding. */
typedef struct Input {
  uint32_t width, height, depth; /* ≥ 1 */
  uint8_t *pixels;
} Input;

/* Allocates an input of background pixels; ends the program if memory is short, as GLib does. */
Input *input_new (uint32_t width, uint32_t height, uint32_t depth);
void input_free (Input *input);
size_t input_n_pixels (const Input *input);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Input, input_free)

/* One input that can be loaded. */
typedef struct InputSource {
  char *set;  /* its data set: a folder, or a generator with its size */
  char *name; /* inside the set; empty if the set has no other input */
  enum {
    INPUT_FILE,    /* one image */
    INPUT_SLICES,  /* a folder of images of one size, sorted by name: a volume */
    INPUT_NOISE,   /* random blocks */
    INPUT_HILBERT, /* the 3D Hilbert curve */
    INPUT_TEXT,    /* a drawn page of text */
    INPUT_BLOBS,   /* a foreground mask of walking people */
    INPUT_FULL,    /* only foreground */
    INPUT_EMPTY,   /* only background */
  } kind;
  char *path;                    /* files and folders */
  uint32_t width, height, depth; /* generated: the size; files: the size to scale to, or 0 */
  unsigned granularity, density; /* noise: block edge in pixels, foreground share in per cent */
  unsigned number;               /* Hilbert: the order; text and blobs: of page or frame */
  uint32_t seed;                 /* noise and drawings */
} InputSource;

/* Set and name. Free with g_free(). */
char *input_source_title (const InputSource *source);

/* Adds the sources that a specification names (see INPUT_SPECIFICATIONS). Returns FALSE with an
 * error of one line if there are none. */
gboolean input_sources_add (GPtrArray *sources, const char *specification, GError **error);

/* An empty array of InputSource that frees its elements. */
GPtrArray *input_sources_new (void);

/* Loads or generates; NULL with an error of one line for a damaged or unreadable file. */
Input *input_source_load (const InputSource *source, GError **error);

/* The help text about specifications. */
#define INPUT_SPECIFICATIONS                                                                       \
  "Inputs:\n"                                                                                      \
  "  FILE                     a PNG, a PBM or a PGM; non-zero pixels are foreground\n"             \
  "  FOLDER                   all images in it, or those that its files.txt lists, one a line\n"   \
  "                           (the layout of the YACCLAB data sets); a folder of folders holds\n"  \
  "                           volumes, one image a slice\n"                                        \
  "  volume:FOLDER            the images in it are the slices of one volume\n"                     \
  "  PATH@WxH                 the same, scaled to W×H without smoothing\n"                        \
  "  noise:WxH[xD][:g=LIST][:d=LIST][:seed=LIST]\n"                                                \
  "                           random blocks (MT19937); granularity g 1-16, density d 0-100 %\n"    \
  "  hilbert[:order=LIST]     3D Hilbert curves 1-6 in 128×128×128\n"                            \
  "  text:WxH[:n=LIST]        drawn pages of text\n"                                               \
  "  blobs:WxH[:n=LIST]       foreground masks of walking people\n"                                \
  "  full:WxH, empty:WxH      one value everywhere\n"                                              \
  "  LIST is 5, 1,4,16, 1-6 or 0-100+10 (from, to, step).\n"

#define INPUT_ERROR (g_quark_from_static_string ("input"))
enum {
  INPUT_ERROR_SPECIFICATION, /* not understood, or out of range */
  INPUT_ERROR_DAMAGED,       /* a file that is missing, damaged or of another kind */
};

/* Reads a mask from a PNG, PBM or PGM file (read-image.c). */
Input *input_read_image (const char *path, GError **error);

/* The generators (generate.c). All write foreground into a background input. */
void input_draw_noise (Input *input, unsigned granularity, unsigned density, uint32_t seed);
void input_draw_hilbert (Input *input, unsigned order);
void input_draw_text (Input *input, unsigned page, uint32_t seed);
void input_draw_blobs (Input *input, unsigned frame, uint32_t seed);

/* The position of a point on the 3D Hilbert curve of 2^order points a side. */
void hilbert_position (unsigned order, uint64_t index, uint32_t position[3]);

#endif /* BENCH_INPUT_H */
