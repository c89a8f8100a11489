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

/* The numbers that specify a generated input. */
typedef enum Key { KEY_SEED, KEY_GRANULARITY, KEY_DENSITY, KEY_ORDER, KEY_NUMBER, N_KEYS } Key;

/* Draws inputs (generate.c). */
typedef struct Generator {
  const char *name;
  unsigned keys; /* a bit per key that it uses */
  /* Draws into a background input; NULL: nothing. */
  void (*draw) (Input *input, const unsigned values[N_KEYS]);
} Generator;

extern const Generator generators[]; /* ended by one without a name */

/* One input that can be loaded. */
typedef struct InputSource {
  char *set;                     /* its data set: a folder, or a generator with its size */
  char *name;                    /* inside the set; empty if the set has no other input */
  const Generator *generator;    /* NULL for files */
  char *path;                    /* an image, or a folder of slices of one size: a volume */
  uint32_t width, height, depth; /* generated: the size; an image: the size to scale to, or 0 */
  unsigned values[N_KEYS];       /* generated; 0 for keys that the generator does not use */
} InputSource;

/* Adds the sources that a specification names (see INPUT_SPECIFICATIONS). Returns FALSE with an
 * error of one line if there are none. */
gboolean input_sources_add (GPtrArray *sources, const char *specification, GError **error);

/* An empty array of InputSource that frees its elements. */
GPtrArray *input_sources_new (void);

/* Loads or generates; NULL with an error of one line for a damaged or unreadable file. */
Input *input_source_load (const InputSource *source, GError **error);

/* Loads one source after the other and calls a function, until it returns FALSE. Sources that
 * cannot be loaded are reported as problems. Returns the number of sources until the end. */
typedef gboolean (*InputVisitor) (
    const Input *input, const InputSource *source, const char *title, gpointer data);
guint inputs_visit (const GPtrArray *sources, InputVisitor visit, gpointer data);

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

/* The position of a point on the 3D Hilbert curve of 2^order points a side. */
void hilbert_position (unsigned order, uint64_t index, uint32_t position[3]);

#endif /* BENCH_INPUT_H */
