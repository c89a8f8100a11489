/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A run of the strips algorithm without a label map sets a word in pinned memory when the table is
 * written, not before and not never: threads that wait for the run poll that word alone.
 * Prints TAP.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/label/engine.h"
#include "tests/unit/label/reference.h"
#include "cuda/label/strips/strips.h"

enum { WIDTH = 517, HEIGHT = 203, MOST_ROWS = 40000, N_FRAMES = 6 };

static int n_cases, n_failed;

static void
report (bool passed, const char *what)
{
  n_cases++;
  n_failed += !passed;
  printf ("%sok %d %s\n", passed ? "" : "not ", n_cases, what);
}

static void
end (const char *message)
{
  fprintf (stderr, "test-finish: %s\n", message);
  exit (1);
}

/* Frame 0 is empty, the others are noise. */
static void
draw (uint8_t *pixels, uint32_t frame)
{
  uint32_t state = 1 + frame;
  for (int i = 0; i < WIDTH * HEIGHT; i++) {
    state = state * 1664525 + 1013904223;
    pixels[i] = frame > 0 && state >> 24 < 40 * frame ? 255 : 0;
  }
}

static bool
is_reference (CclCudaEngine *engine, const Reference *reference)
{
  CclTable table;
  engine->klass->read (engine, &table);
  return table.n_components == reference->n_components &&
         memcmp (table.rows, reference->rows, table.n_rows * sizeof *table.rows) == 0;
}

int
main (void)
{
  static uint8_t pixels[WIDTH * HEIGHT];
  const bool is_eager = getenv ("SIMCUDA_ORDER") && !strcmp (getenv ("SIMCUDA_ORDER"), "eager");
  const CclLabellerPlan plan = {.width = WIDTH,
      .height = HEIGHT,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = MOST_ROWS,
      .algorithm = "strips"};
  CclError error = {CUDACCL_OK};
  CUdeviceptr memory = 0, map = 0;
  CclCudaDevice *device = ccl_cuda_device_open (-1, &error);
  if (!device || ccl_cuda_device_enter (device, &error) ||
      ccl_cuda_device_allocate (device, sizeof pixels, &memory, &error) ||
      ccl_cuda_device_allocate (device, 4 * sizeof pixels, &map, &error))
    end (error.message);
  const CclCudaDriver *driver = device->driver;
  CUstream stream;
  driver->cuStreamCreate (&stream, CU_STREAM_NON_BLOCKING);
  CclCudaEngine *engine = NULL;
  if (ccl_cuda_strips_engine.new(device, NULL, &plan, stream, &engine, &error))
    end (error.message);

  const CclCudaInput input = {memory, WIDTH, {.threshold = 0}};
  const CclLabels labels = {(void *)(uintptr_t)map, 4 * WIDTH};
  for (uint32_t frame = 0; frame < N_FRAMES; frame++) {
    draw (pixels, frame);
    driver->cuMemcpyHtoDAsync (memory, pixels, sizeof pixels, stream);
    driver->cuStreamSynchronize (stream);
    if (engine->klass->queue (engine, &input, NULL, stream, &error))
      end (error.message);
    /* In lazy order nothing runs before somebody waits. */
    if (is_eager)
      while (!__atomic_load_n (engine->finished, __ATOMIC_ACQUIRE))
        sched_yield ();
    else if (*engine->finished)
      end ("the word is set before the run has begun");
    else
      driver->cuStreamSynchronize (stream);
    Reference *reference =
        reference_new (pixels, WIDTH, HEIGHT, WIDTH, CUDACCL_CONNECTIVITY_8, &input.options);
    report (*engine->finished && is_reference (engine, reference), "the table is written");
    reference_free (reference);
    driver->cuStreamSynchronize (stream);
  }
  if (engine->klass->queue (engine, &input, &labels, stream, &error))
    end (error.message);
  report (!engine->finished, "a run with a label map has no such word");
  driver->cuStreamSynchronize (stream);

  engine->klass->free (engine);
  driver->cuStreamDestroy (stream);
  ccl_cuda_device_release (device, &memory);
  ccl_cuda_device_release (device, &map);
  ccl_cuda_device_leave (device);
  ccl_cuda_device_unref (&device);
  printf ("1..%d\n", n_cases);
  return n_failed > 0;
}
