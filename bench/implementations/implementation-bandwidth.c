/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bandwidth bounds of one CPU core: the time to move the bytes that a labelling must move. No
 * labeller can be faster than "read 1" when it delivers the table alone, nor faster than "read 1,
 * write 4" when it delivers a label map. */
#include "implementation.h"

#include <string.h>

typedef struct Bandwidth {
  Implementation head;
  size_t output_size; /* bytes per pixel */
  const Input *input;
  void *output;
  uint64_t sum; /* uses the bytes read, so that the compiler keeps the reads */
} Bandwidth;

#if defined __x86_64__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define WIDEST_VECTORS __attribute__ ((target_clones ("avx512f", "avx2", "default")))
#else
#define WIDEST_VECTORS
#endif

WIDEST_VECTORS static uint64_t
read_bytes (const uint8_t *pixels, size_t n)
{
  uint64_t any[8] = {0}; /* as wide as the widest vector */
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

WIDEST_VECTORS static void
widen_bytes (const uint8_t *pixels, uint32_t *labels, size_t n)
{
  for (size_t i = 0; i < n; i++)
    labels[i] = pixels[i];
}

static CclStatus
bandwidth_run (Implementation *implementation, CclError *error)
{
  Bandwidth *bandwidth = (Bandwidth *)implementation;
  const uint8_t *pixels = bandwidth->input->pixels;
  const size_t n = input_n_pixels (bandwidth->input);

  if (bandwidth->output_size == 0)
    bandwidth->sum += read_bytes (pixels, n);
  else if (bandwidth->output_size == 1)
    memcpy (bandwidth->output, pixels, n);
  else
    widen_bytes (pixels, bandwidth->output, n);
  return CUDACCL_OK;
}

static CclStatus
bandwidth_prepare (Implementation *implementation, const Input *input, CclError *error)
{
  Bandwidth *bandwidth = (Bandwidth *)implementation;

  bandwidth->input = input;
  bandwidth->output = g_malloc (input_n_pixels (input) * bandwidth->output_size);
  return bandwidth_run (implementation, error);
}

static void
bandwidth_release (Implementation *implementation)
{
  g_clear_pointer (&((Bandwidth *)implementation)->output, g_free);
}

void
implementations_add_bandwidth (GPtrArray *implementations, const ImplementationSettings *settings)
{
  static const ImplementationClass klass = {
      .prepare = bandwidth_prepare,
      .run = bandwidth_run,
      .release = bandwidth_release,
  };
  static const struct {
    const char *name;
    size_t output_size;
  } bounds[] = {{"read 1", 0}, {"copy 1 to 1", 1}, {"read 1, write 4", 4}};

  for (guint i = 0; i < G_N_ELEMENTS (bounds); i++) {
    Bandwidth *bandwidth = g_new0 (Bandwidth, 1);
    bandwidth->head = (Implementation){
        .klass = &klass,
        .device = "cpu",
        .maker = "cudaccl",
        .algorithm = bounds[i].name,
        .threads = 1,
        .is_bound = true,
    };
    bandwidth->output_size = bounds[i].output_size;
    g_ptr_array_add (implementations, bandwidth);
  }
}
