/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels one mask with the CPU labeller, for comparison with other programs.
 *
 * usage: label-map ALGORITHM CONNECTIVITY WIDTH HEIGHT <MASK >RESULT
 *        label-map --algorithms CONNECTIVITY
 *
 * MASK is width × height bytes. RESULT, all little endian: the number of components (uint32),
 * the label map (uint32 a pixel), then for each component label, area, x, y, width, height
 * (uint32) and the centroid (two doubles).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "research/cpu/research.h"
#include <cudaccl/labeller.h>

static int
fail (const char *message)
{
  fprintf (stderr, "label-map: %s\n", message);
  return EXIT_FAILURE;
}

int
main (int argc, char **argv)
{
  if (argc == 3 && strcmp (argv[1], "--algorithms") == 0) {
    const CclConnectivity connectivity = (CclConnectivity)strtoul (argv[2], NULL, 10);
    for (const char *const *name = ccl_research_cpu_algorithms (); *name; name++)
      if (ccl_research_cpu_offers (*name, connectivity))
        puts (*name);
    return EXIT_SUCCESS;
  }
  if (argc != 5)
    return fail ("usage: label-map ALGORITHM CONNECTIVITY WIDTH HEIGHT <MASK >RESULT");

  CclLabellerPlan plan = {
      .width = (uint32_t)strtoul (argv[3], NULL, 10),
      .height = (uint32_t)strtoul (argv[4], NULL, 10),
      .connectivity = (CclConnectivity)strtoul (argv[2], NULL, 10),
      .algorithm = argv[1],
  };
  const size_t n_pixels = (size_t)plan.width * plan.height;
  plan.max_components = (uint32_t)(n_pixels / 2 + 1);

  CclError error;
  CclLabeller *labeller = ccl_research_cpu_labeller_new (&plan, NULL, &error);
  if (!labeller)
    return fail (error.message);

  uint8_t *mask = malloc (n_pixels);
  uint32_t *labels = malloc (n_pixels * sizeof *labels);
  if (!mask || !labels)
    return fail ("out of memory");
  if (fread (mask, 1, n_pixels, stdin) != n_pixels)
    return fail ("the mask is shorter than width times height");

  const CclFrame frame = {.data = mask, .stride = plan.width};
  const CclLabels map = {.data = labels, .stride = plan.width * sizeof *labels};
  const CclLabellerOptions options = {0};
  CclTable table;
  if (ccl_labeller_run (labeller, &frame, &options, &map, &table, &error) != CUDACCL_OK)
    return fail (error.message);

  size_t written = fwrite (&table.n_components, sizeof table.n_components, 1, stdout);
  written += fwrite (labels, sizeof *labels, n_pixels, stdout);
  for (uint32_t i = 0; i < table.n_rows; i++) {
    const CclComponent *c = &table.rows[i];
    const uint32_t whole[6] = {c->label, c->area, c->x, c->y, c->width, c->height};
    const double centroid[2] = {c->centroid_x, c->centroid_y};
    written += fwrite (whole, sizeof whole, 1, stdout);
    written += fwrite (centroid, sizeof centroid, 1, stdout);
  }
  if (written != 1 + n_pixels + 2 * (size_t)table.n_rows || fflush (stdout) != 0)
    return fail ("could not write the result");

  free (labels);
  free (mask);
  ccl_labeller_free (&labeller);
  return EXIT_SUCCESS;
}
