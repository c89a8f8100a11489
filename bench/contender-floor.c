/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The floors on a CPU: what one core needs to move the bytes that a labelling must move. No
 * labeller can beat "read 1" when it delivers the table alone, nor "read 1, write 4" when it
 * delivers a label map.
 */
#include "contender.h"

#include <stdlib.h>
#include <string.h>

typedef struct FloorContender {
  Contender head;
  const Input *input;
  void *output;
  size_t output_size;
  uint64_t sink; /* keeps the reads from being optimised away */
} FloorContender;

#if defined __x86_64__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define WIDEST __attribute__ ((target_clones ("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif

WIDEST static uint64_t
read_bytes (const uint8_t *pixels, size_t n)
{
  uint64_t any[8] = {0}; /* as wide as the widest vector, so that the loop is one */
  size_t i = 0;

  for (; i + sizeof any <= n; i += sizeof any)
    for (unsigned lane = 0; lane < 8; lane++) {
      uint64_t word;
      memcpy (&word, pixels + i + 8 * lane, 8);
      any[lane] |= word;
    }
  for (; i < n; i++)
    any[0] |= pixels[i];
  return any[0] | any[1] | any[2] | any[3] | any[4] | any[5] | any[6] | any[7];
}

WIDEST static void
widen_bytes (const uint8_t *pixels, uint32_t *labels, size_t n)
{
  for (size_t i = 0; i < n; i++)
    labels[i] = pixels[i];
}

static gboolean
floor_prepare (Contender *contender, const Input *input, GError **error)
{
  FloorContender *floor = (FloorContender *)contender;

  floor->input = input;
  if (floor->output_size)
    floor->output = g_malloc (input_n_pixels (input) * floor->output_size);
  return contender->klass->run (contender, error);
}

static gboolean
read_run (Contender *contender, GError **error)
{
  FloorContender *floor = (FloorContender *)contender;
  floor->sink += read_bytes (floor->input->pixels, input_n_pixels (floor->input));
  return TRUE;
}

static gboolean
copy_run (Contender *contender, GError **error)
{
  FloorContender *floor = (FloorContender *)contender;
  memcpy (floor->output, floor->input->pixels, input_n_pixels (floor->input));
  return TRUE;
}

static gboolean
widen_run (Contender *contender, GError **error)
{
  FloorContender *floor = (FloorContender *)contender;
  widen_bytes (floor->input->pixels, floor->output, input_n_pixels (floor->input));
  return TRUE;
}

static void
floor_release (Contender *contender)
{
  FloorContender *floor = (FloorContender *)contender;
  g_clear_pointer (&floor->output, g_free);
  floor->input = NULL;
}

static void
floor_free (Contender *contender)
{
  floor_release (contender);
  g_free (contender);
}

void
contenders_add_cpu_floors (GPtrArray *contenders, const ContenderSettings *settings)
{
  static const ContenderClass classes[] = {
      {.prepare = floor_prepare, .run = read_run, .release = floor_release, .free = floor_free},
      {.prepare = floor_prepare, .run = copy_run, .release = floor_release, .free = floor_free},
      {.prepare = floor_prepare, .run = widen_run, .release = floor_release, .free = floor_free},
  };
  static const char *const names[] = {"read 1", "copy 1 to 1", "read 1, write 4"};
  static const size_t output_sizes[] = {0, 1, 4};

  for (guint i = 0; i < G_N_ELEMENTS (classes); i++) {
    FloorContender *floor = g_new0 (FloorContender, 1);
    floor->head = (Contender){
        .klass = &classes[i],
        .device = "cpu",
        .maker = "cudaccl",
        .algorithm = names[i],
        .threads = 1,
        .is_floor = true,
    };
    floor->output_size = output_sizes[i];
    g_ptr_array_add (contenders, floor);
  }
}
