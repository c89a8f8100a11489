/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares results with a flood fill. */
#include "library.h"
#include "tests/unit/volume/volume-reference.h"

#include <string.h>

Reference *
check_expect (const Input *input, unsigned connectivity, unsigned volume_connectivity)
{
  const size_t row = input->width, slice = row * input->height;
  const CclLabellerOptions options = {0};

  if (input->depth == 1)
    return reference_new (
        input->pixels, input->width, input->height, row, (CclConnectivity)connectivity, &options);
  const CclVolume volume = {.data = input->pixels, .row_stride = row, .slice_stride = slice};
  const CclVolumePlan plan = {.width = input->width,
      .height = input->height,
      .depth = input->depth,
      .connectivity = (CclVolumeConnectivity)volume_connectivity};
  VolumeReference *of_volume = volume_reference_new (&volume, &plan, &options);
  Reference *reference = g_new0 (Reference, 1);
  *reference = (Reference){of_volume->n_components, NULL, g_steal_pointer (&of_volume->labels)};
  volume_reference_free (of_volume);
  return reference;
}

/* Renumbers arbitrary labels 1…N in raster order of first pixels. */
static void
number_labels (uint32_t *labels, size_t n_pixels)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  uint32_t last_raw = 0, last_number = 0; /* neighbours mostly have the same label */

  for (size_t i = 0; i < n_pixels; i++) {
    if (!labels[i])
      continue;
    if (labels[i] != last_raw) {
      gpointer number;
      last_raw = labels[i];
      if (!g_hash_table_lookup_extended (numbers, GUINT_TO_POINTER (last_raw), NULL, &number)) {
        number = GUINT_TO_POINTER (g_hash_table_size (numbers) + 1);
        g_hash_table_insert (numbers, GUINT_TO_POINTER (last_raw), number);
      }
      last_number = GPOINTER_TO_UINT (number);
    }
    labels[i] = last_number;
  }
}

/* Describes the first difference from the right result. */
static bool
differs (const Reference *expected, Labelling *labelling, const Input *input, char text[128])
{
  const size_t n_pixels = input_n_pixels (input);

  if (labelling->labels && labelling->is_raw)
    number_labels (labelling->labels, n_pixels);
  for (size_t i = 0; labelling->labels && i < n_pixels; i++)
    if (labelling->labels[i] != expected->labels[i])
      return g_snprintf (text, 128, "pixel %zu, %zu, %zu has label %u instead of %u",
                 i % input->width, i / input->width % input->height,
                 i / input->width / input->height, labelling->labels[i], expected->labels[i]) > 0;
  if (!labelling->is_raw && labelling->n_components != expected->n_components)
    return g_snprintf (text, 128, "%u components instead of %u", labelling->n_components,
               expected->n_components) > 0;
  for (uint32_t row = 0; !labelling->is_raw && expected->rows && row < labelling->n_rows; row++)
    if (memcmp (&labelling->components[row], &expected->rows[row], sizeof (CclComponent)))
      return g_snprintf (text, 128, "component %u differs", row + 1) > 0;
  return false;
}

CclStatus
check_run (Implementation *implementation, const Input *input, const Reference *expected,
    char difference[128], CclError *error)
{
  Labelling labelling = {0};

  *difference = '\0';
  TRY (implementation->klass->prepare (implementation, input, error));
  TRY (implementation->klass->run (implementation, error));
  TRY (implementation->klass->fetch (implementation, &labelling, error));
  differs (expected, &labelling, input, difference);
  g_free (labelling.labels);
  g_free (labelling.components);
  return CUDACCL_OK;
}
