/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels a frame on the CPU with libcudaccl, without GStreamer, and prints its components.
 * label-device-memory.c does the same on a GPU.
 *
 * Build: cc -o label-frame label-frame.c $(pkg-config --cflags --libs cudaccl)
 * Usage: label-frame */
#include <cudaccl/labeller.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 320
#define HEIGHT 240

static void
draw_rectangle (uint8_t *pixels, int x, int y, int width, int height)
{
  for (int row = y; row < y + height; row++)
    memset (pixels + row * WIDTH + x, 255, width);
}

int
main (void)
{
  static uint8_t pixels[WIDTH * HEIGHT];
  static uint32_t labels[WIDTH * HEIGHT];
  CclLabellerPlan plan = CUDACCL_LABELLER_PLAN_DEFAULT;
  CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclFrame frame = {pixels, WIDTH, CUDACCL_LOCATION_HOST};
  CclLabels map = {labels, WIDTH * sizeof (uint32_t)};
  CclTable table;
  CclError error;

  plan.width = WIDTH;
  plan.height = HEIGHT;
  options.threshold = 127;
  CclLabeller *labeller = ccl_cpu_labeller_new (&plan, &error);
  draw_rectangle (pixels, 100, 20, 40, 30);
  draw_rectangle (pixels, 10, 50, 25, 60);
  if (!labeller ||
      ccl_labeller_run (labeller, &frame, &options, &map, &table, &error) != CUDACCL_OK) {
    fprintf (stderr, "label-frame: %s\n", error.message);
    return 1;
  }
  for (uint32_t i = 0; i < table.n_rows; i++) {
    const CclComponent *c = &table.rows[i];
    printf ("component %u: %u pixels, %u×%u at (%u, %u)\n", c->label, c->area, c->width, c->height,
        c->x, c->y);
  }
  printf ("the label of the pixel (20, 70) is %u\n", labels[70 * WIDTH + 20]);
  ccl_labeller_free (&labeller);
  return 0;
}
