/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/label/labeller-checks.h"

#include "core/label/labeller-class.h"

#include "tests/unit/guarded-memory.h"
#include "tests/unit/label/masks.h"
#include "tests/unit/label/reference.h"

#include <glib.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The bytes of a label map before it is written. */
#define UNTOUCHED_BYTE 0xa5

static const CclLabellerOptions default_options = {.threshold = 0};

/* The algorithm and the backend that a test case checks. */
typedef struct Subject {
  const LabellerBackend *backend;
  const char *algorithm;
  CclConnectivity connectivity;
  const Shape *shape; /* for cases with one shape only */
  void (*check) (const struct Subject *subject);
} Subject;

/* The memory layout of a frame and its label map. */
typedef struct Layout {
  uint32_t padding;       /* bytes between two rows of the frame */
  uint32_t label_padding; /* pixels between two rows of the label map */
  bool at_start;          /* start right after a guard page instead of ending right before one */
  CclPixelFormat format;
} Layout;

static const Layout compact = {0};

/* The subjects of all registered cases. */
static GSList *subjects;

/* The memory of the frame that is being checked. A test program runs one case at a time. */
static GuardedMemory frame_memory;
static GuardedMemory labels_memory;

/* The description of the current check, printed on a failure or a crash. */
static char description[512];

static void
describe (
    const Subject *subject, const Mask *mask, uint32_t granularity, uint32_t density, uint32_t seed)
{
  g_snprintf (description, sizeof description,
      "%s %s, %d-connected, mask %s %u×%u (granularity %u, density %u, seed %u)",
      subject->backend->name, subject->algorithm, (int)subject->connectivity, mask->name,
      mask->width, mask->height, granularity, density, seed);
}

static void
print_description_and_die (int signal_number)
{
  static const char bail_out[] = "Bail out! crashed on ";
  if (write (STDOUT_FILENO, bail_out, strlen (bail_out)) < 0 ||
      write (STDOUT_FILENO, description, strlen (description)) < 0 ||
      write (STDOUT_FILENO, "\n", 1) < 0)
    _exit (2);
  signal (signal_number, SIG_DFL);
  raise (signal_number);
}

static bool
fail (const CclLabellerOptions *options, const Layout *layout, const char *what)
{
  g_test_fail_printf (
      "%s, row padding %u, label padding %u, at %s, threshold %u, invert %d, area %u…%u: %s",
      description, layout->padding, layout->label_padding, layout->at_start ? "start" : "end",
      options->threshold, options->invert, options->min_area, options->max_area, what);
  return false;
}

/* Plans a labeller for masks of a size. On failure, fails the test case and returns NULL. */
static CclLabeller *
plan_for_format (const Subject *subject, uint32_t width, uint32_t height, uint32_t max_components,
    CclPixelFormat format)
{
  CclError error = {0};
  CclLabellerPlan plan = {
      .width = width,
      .height = height,
      .connectivity = subject->connectivity,
      .max_components = max_components,
      .algorithm = subject->algorithm,
      .format = format,
  };
  CclLabeller *labeller = subject->backend->labeller_new (subject->backend->data, &plan, &error);
  /* Some algorithms cannot number the pixels of a line of millions, another test checks that auto
   * then selects a different algorithm; BRB holds rows in shared memory. */
  const bool is_too_large =
      MAX (width, height) >= 1u << 26 || (width > 4096 && !g_strcmp0 (subject->algorithm, "brb"));
  if (!labeller && error.status == CUDACCL_ERROR_UNSUPPORTED && is_too_large)
    g_test_skip (error.message);
  else if (!labeller)
    g_test_fail_printf (
        "no labeller %s for %u×%u: %s", subject->algorithm, width, height, error.message);
  return labeller;
}

static CclLabeller *
plan (const Subject *subject, uint32_t width, uint32_t height, uint32_t max_components)
{
  return plan_for_format (subject, width, height, max_components, CUDACCL_PIXEL_FORMAT_8);
}

static CclStatus
run (const Subject *subject, CclLabeller *labeller, const CclFrame *frame,
    const CclLabellerOptions *options, const CclLabels *labels, CclTable *table, CclError *error)
{
  const LabellerBackend *backend = subject->backend;
  if (!backend->run)
    return ccl_labeller_run (labeller, frame, options, labels, table, error);
  return backend->run (backend->data, labeller, frame, options, labels, table, error);
}

/* Writes a pixel of a row. noise: for the byte of a packed pixel that has no value. */
static void
put_pixel (uint8_t *row, uint32_t x, uint32_t value, uint8_t noise, CclPixelFormat format)
{
  switch (format) {
  case CUDACCL_PIXEL_FORMAT_8:
    row[x] = (uint8_t)value;
    break;
  case CUDACCL_PIXEL_FORMAT_16:
    row[2 * x] = (uint8_t)value;
    row[2 * x + 1] = (uint8_t)(value >> 8);
    break;
  case CUDACCL_PIXEL_FORMAT_8_FIRST:
    row[2 * x] = (uint8_t)value;
    row[2 * x + 1] = noise;
    break;
  case CUDACCL_PIXEL_FORMAT_8_SECOND:
    row[2 * x] = noise;
    row[2 * x + 1] = (uint8_t)value;
    break;
  case CUDACCL_PIXEL_FORMAT_REAL:
  case CUDACCL_PIXEL_FORMAT_REAL_OR_NAN:
    break; /* of intensities alone */
  }
}

/* Writes the mask as a frame into guarded memory. Each pixel gets a random value on the right side
 * of the threshold; values next to the threshold and at the ends of the range are more frequent.
 * Padding gets random values. */
static CclFrame
lay_out_frame (const Mask *mask, const CclLabellerOptions *options, const Layout *layout)
{
  const size_t row_size = (size_t)mask->width * (layout->format == CUDACCL_PIXEL_FORMAT_8 ? 1 : 2);
  const uint32_t most = layout->format == CUDACCL_PIXEL_FORMAT_16 ? 65535 : 255;
  size_t stride = row_size + layout->padding;
  size_t size = stride * (mask->height - 1) + row_size;
  uint32_t noise = 12345;

  guarded_memory_resize (&frame_memory, size, !layout->at_start);
  for (uint32_t y = 0; y < mask->height; y++) {
    uint8_t *row = frame_memory.data + y * stride;
    for (uint32_t x = 0; x < mask->width; x++) {
      bool above = mask->pixels[(size_t)y * mask->width + x] != options->invert;
      uint32_t low = above ? MIN (options->threshold + 1, most) : 0;
      uint32_t high = above ? most : options->threshold;
      uint32_t value = low;
      noise = noise * 1664525 + 1013904223;
      if (noise >> 30 == 1)
        value = high;
      else if (noise >> 30 > 1)
        value = low + (noise >> 8) % (high - low + 1);
      put_pixel (row, x, value, (uint8_t)(noise >> 16), layout->format);
    }
    if (y < mask->height - 1)
      memset (row + row_size, noise >> 24, layout->padding);
  }
  guarded_memory_set_read_only (&frame_memory);
  return (CclFrame){.data = frame_memory.data, .stride = stride};
}

/* The labelling of a frame that lay_out_frame() wrote. */
static Reference *
find_reference (const Subject *subject, const Mask *mask, const CclFrame *frame,
    const CclLabellerOptions *options, const Layout *layout)
{
  if (layout->format == CUDACCL_PIXEL_FORMAT_8)
    return reference_new (
        frame->data, mask->width, mask->height, frame->stride, subject->connectivity, options);

  /* All values are greater than no threshold, and none is greater than the greatest value. */
  const uint32_t most = layout->format == CUDACCL_PIXEL_FORMAT_16 ? 65535 : 255;
  CclLabellerOptions of_mask = *options;
  of_mask.threshold = 0;
  of_mask.invert = false;
  const size_t n = (size_t)mask->width * mask->height;
  uint8_t *pixels = g_malloc (n);
  for (size_t i = 0; i < n; i++)
    pixels[i] = options->threshold == most ? options->invert : mask->pixels[i];
  Reference *reference = reference_new (
      pixels, mask->width, mask->height, mask->width, subject->connectivity, &of_mask);
  g_free (pixels);
  return reference;
}

static CclLabels
lay_out_labels (const Mask *mask, const Layout *layout)
{
  size_t stride = 4 * ((size_t)mask->width + layout->label_padding);
  guarded_memory_resize (
      &labels_memory, stride * (mask->height - 1) + 4 * (size_t)mask->width, !layout->at_start);
  memset (labels_memory.data, UNTOUCHED_BYTE, labels_memory.size);
  return (CclLabels){.data = labels_memory.data, .stride = stride};
}

static char *
compare_tables (const CclTable *table, const Reference *reference, uint32_t max_components)
{
  if (table->n_components != reference->n_components)
    return g_strdup_printf (
        "%u components instead of %u", table->n_components, reference->n_components);
  if (table->n_rows != MIN (reference->n_components, max_components))
    return g_strdup_printf ("%u rows of %u components in a table for %u", table->n_rows,
        table->n_components, max_components);
  for (uint32_t i = 0; i < table->n_rows; i++) {
    const CclComponent *got = &table->rows[i];
    const CclComponent *expected = &reference->rows[i];
    if (got->label != expected->label || got->area != expected->area || got->x != expected->x ||
        got->y != expected->y || got->width != expected->width || got->height != expected->height ||
        got->centroid_x != expected->centroid_x || got->centroid_y != expected->centroid_y)
      return g_strdup_printf ("row %u is {label %u, area %u, box %u,%u %u×%u, centroid %.17g,%.17g}"
                              " instead of {%u, %u, %u,%u %u×%u, %.17g,%.17g}",
          i, got->label, got->area, got->x, got->y, got->width, got->height, got->centroid_x,
          got->centroid_y, expected->label, expected->area, expected->x, expected->y,
          expected->width, expected->height, expected->centroid_x, expected->centroid_y);
  }
  return NULL;
}

static char *
compare_labels (
    const CclLabels *labels, const Reference *reference, const Mask *mask, const Layout *layout)
{
  for (uint32_t y = 0; y < mask->height; y++) {
    const uint32_t *row = (const uint32_t *)((const uint8_t *)labels->data + y * labels->stride);
    const uint32_t *expected = reference->labels + (size_t)y * mask->width;
    const uint8_t *padding = (const uint8_t *)(row + mask->width);

    if (memcmp (row, expected, 4 * (size_t)mask->width) != 0) {
      uint32_t x = 0;
      while (row[x] == expected[x])
        x++;
      return g_strdup_printf ("label %u instead of %u at %u,%u", row[x], expected[x], x, y);
    }
    for (uint32_t i = 0; y < mask->height - 1 && i < 4 * layout->label_padding; i++)
      if (padding[i] != UNTOUCHED_BYTE)
        return g_strdup_printf ("padding byte %u of label row %u was written", i, y);
  }
  return NULL;
}

/* Labels the mask twice, with and without a label map, and compares everything with the
 * reference. On the first difference, fails the test case and returns false. */
static bool
check_mask (const Subject *subject, CclLabeller *labeller, const Mask *mask,
    const CclLabellerOptions *options, const Layout *layout)
{
  CclFrame frame = lay_out_frame (mask, options, layout);
  CclLabels labels = lay_out_labels (mask, layout);
  Reference *reference = find_reference (subject, mask, &frame, options, layout);
  char *difference = NULL;

  for (int with_labels = 1; with_labels >= 0 && !difference; with_labels--) {
    CclError error = {0};
    CclTable table = {0};
    if (run (subject, labeller, &frame, options, with_labels ? &labels : NULL, &table, &error) !=
        CUDACCL_OK) {
      difference = g_strdup_printf ("run failed: %s", error.message);
      break;
    }
    difference = compare_tables (&table, reference, labeller->plan.max_components);
    if (with_labels && !difference)
      difference = compare_labels (&labels, reference, mask, layout);
  }
  reference_free (reference);
  if (difference) {
    fail (options, layout, difference);
    g_free (difference);
    return false;
  }
  return true;
}

/* Checks one mask with a new labeller. */
static bool
check_mask_alone (const Subject *subject, const Mask *mask, const CclLabellerOptions *options,
    const Layout *layout, uint32_t max_components)
{
  CclLabeller *labeller =
      plan_for_format (subject, mask->width, mask->height, max_components, layout->format);
  bool passed = labeller && check_mask (subject, labeller, mask, options, layout);
  ccl_labeller_free (&labeller);
  return passed;
}

static bool
check_noise (const Subject *subject, uint32_t width, uint32_t height, uint32_t granularity,
    uint32_t density, uint32_t seed, const CclLabellerOptions *options, const Layout *layout,
    uint32_t max_components)
{
  Mask *mask = mask_new_from_noise (width, height, granularity, density, seed);
  describe (subject, mask, granularity, density, seed);
  bool passed = check_mask_alone (subject, mask, options, layout, max_components);
  mask_free (mask);
  return passed;
}

static void
check_all_masks_of_4x4 (const Subject *subject)
{
  const uint32_t n = MAX (subject->backend->n_small_masks, 1), width = 5 * n - 1;
  g_autofree bool *pixels = g_new0 (bool, 4 * width);
  Mask mask = {.name = "of 16 bits", .width = width, .height = 4, .pixels = pixels};
  CclLabeller *labeller = plan (subject, width, 4, 16 * n);
  bool passed = labeller != NULL;

  for (uint32_t first = 0; first < 65536 && passed; first += n) {
    for (uint32_t bits = first; bits < first + n; bits++)
      for (uint32_t i = 0; i < 16; i++)
        pixels[i / 4 * width + 5 * (bits - first) + i % 4] = bits >> i & 1;
    describe (subject, &mask, 1, 0, first);
    passed = check_mask (subject, labeller, &mask, &default_options, &compact);
  }
  ccl_labeller_free (&labeller);
}

static void
check_every_small_size (const Subject *subject)
{
  for (uint32_t width = 1; width <= 12; width++) {
    for (uint32_t height = 1; height <= 12; height++) {
      CclLabeller *labeller = plan (subject, width, height, 144);
      bool passed = labeller != NULL;
      for (uint32_t i = 0; i < 30 && passed; i++) {
        uint32_t density = 5 + 10 * (i % 10);
        Mask *mask = mask_new_from_noise (width, height, 1, density, i);
        Layout layout = {.at_start = i % 2};
        describe (subject, mask, 1, density, i);
        passed = check_mask (subject, labeller, mask, &default_options, &layout);
        mask_free (mask);
      }
      ccl_labeller_free (&labeller);
      if (!passed)
        return;
    }
  }
}

/* Frames end or begin at a page, so that odd strides and sizes put rows at every alignment. */
static void
check_strides_and_alignments (const Subject *subject)
{
  static const uint32_t widths[] = {1, 7, 31, 33, 64, 100, 129};

  for (size_t i = 0; i < G_N_ELEMENTS (widths); i++) {
    for (uint32_t padding = 0; padding < 70; padding += 1 + padding / 8) {
      Layout layout = {
          .padding = padding, .label_padding = padding % 5, .at_start = padding % 3 == 0};
      if (!check_noise (subject, widths[i], 9, 1, 45, padding, &default_options, &layout, 4096))
        return;
    }
  }
}

static void
check_single_rows (const Subject *subject)
{
  for (uint32_t width = 1; width <= 300; width += 1 + width / 40)
    for (uint32_t density = 20; density <= 95; density += 25)
      if (!check_noise (subject, width, 1, 1, density, width, &default_options, &compact, 4096))
        return;
  check_noise (subject, 100003, 1, 3, 60, 1, &default_options, &compact, 1000000);
}

static void
check_single_columns (const Subject *subject)
{
  for (uint32_t height = 1; height <= 300; height += 1 + height / 40) {
    for (uint32_t density = 20; density <= 95; density += 25) {
      Layout layout = {.padding = height % 4, .label_padding = height % 3};
      if (!check_noise (subject, 1, height, 1, density, height, &default_options, &layout, 4096))
        return;
    }
  }
  check_noise (subject, 1, 100003, 3, 60, 1, &default_options, &compact, 1000000);
}

static void
check_shape (const Subject *subject)
{
  static const struct {
    uint32_t width, height;
  } sizes[] = {{1, 1}, {2, 2}, {3, 5}, {8, 8}, {16, 17}, {31, 32}, {32, 33}, {33, 31}, {63, 9},
      {64, 64}, {65, 30}, {127, 129}, {128, 128}, {191, 7}, {255, 66}, {256, 256}, {257, 65},
      {511, 40}, {513, 35}, {1025, 130}, {40, 700}};

  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
    Mask *mask = mask_new_from_shape (subject->shape, sizes[i].width, sizes[i].height);
    Layout layout = {.padding = i % 4, .label_padding = i % 3, .at_start = i % 2};
    describe (subject, mask, 1, 0, 0);
    bool passed = check_mask_alone (subject, mask, &default_options, &layout, 1u << 16);
    mask_free (mask);
    if (!passed)
      return;
  }
}

static void
check_noise_around_word_widths (const Subject *subject)
{
  static const uint32_t multiples[] = {32, 64, 96, 128, 192, 256, 320, 512};

  for (size_t i = 0; i < G_N_ELEMENTS (multiples); i++)
    for (uint32_t width = multiples[i] - 1; width <= multiples[i] + 1; width++)
      for (uint32_t density = 3; density < 100; density += 12)
        if (!check_noise (subject, width, 40 + width % 30, 1, density, width, &default_options,
                &compact, 1u << 15))
          return;
}

static void
check_large_noise (const Subject *subject)
{
  static const struct {
    uint32_t width, height, granularity, density;
  } cases[] = {{1920, 1080, 1, 1}, {1920, 1080, 1, 10}, {2048, 1024, 1, 50}, {2047, 1025, 1, 62},
      {1281, 719, 1, 90}, {1366, 768, 4, 50}, {1001, 1003, 16, 55}, {4096, 130, 2, 59},
      {70, 5000, 1, 41}, {3840, 2160, 8, 30}};

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    if (!check_noise (subject, cases[i].width, cases[i].height, cases[i].granularity,
            cases[i].density, i, &default_options, &compact, 1u << 20))
      return;
}

static void
check_threshold_and_invert (const Subject *subject)
{
  static const uint32_t thresholds[] = {0, 1, 2, 127, 128, 129, 200, 253, 254, 255};

  for (size_t i = 0; i < G_N_ELEMENTS (thresholds); i++) {
    for (int invert = 0; invert < 2; invert++) {
      CclLabellerOptions options = {.threshold = thresholds[i], .invert = invert};
      for (uint32_t width = 60; width < 70; width++)
        if (!check_noise (subject, width, 23, 1, 45, i, &options, &compact, 4096))
          return;
    }
  }
}

/* Thresholds of all formats at the ends of their bytes, with rows at even distances, which all
 * backends take. */
static void
check_pixel_formats (const Subject *subject)
{
  static const uint32_t thresholds[] = {0, 1, 127, 128, 254, 255, 256, 32767, 32768, 65534, 65535};
  static const uint32_t widths[] = {1, 2, 5, 31, 64, 67, 128, 200};

  for (int format = CUDACCL_PIXEL_FORMAT_16; format <= CUDACCL_PIXEL_FORMAT_8_SECOND; format++)
    for (size_t i = 0; i < G_N_ELEMENTS (thresholds); i++)
      for (size_t j = 0; j < G_N_ELEMENTS (widths); j++) {
        const CclLabellerOptions options = {.threshold = thresholds[i], .invert = (i + j) % 2};
        const Layout layout = {
            .padding = 2 * (j % 9), .at_start = i % 2, .format = (CclPixelFormat)format};
        if (format != CUDACCL_PIXEL_FORMAT_16 && options.threshold > 255)
          continue;
        if (!check_noise (
                subject, widths[j], 21, 1, 45, (uint32_t)(i + j), &options, &layout, 4096))
          return;
      }
}

static void
check_area_filters (const Subject *subject)
{
  static const struct {
    uint32_t min_area, max_area;
  } filters[] = {{0, 0}, {1, 0}, {2, 0}, {5, 0}, {0, 1}, {0, 4}, {2, 3}, {7, 7}, {10, 5},
      {100000, 0}, {UINT32_MAX, UINT32_MAX}, {1, UINT32_MAX}};

  for (size_t i = 0; i < G_N_ELEMENTS (filters); i++) {
    CclLabellerOptions options = {.min_area = filters[i].min_area, .max_area = filters[i].max_area};
    for (uint32_t density = 10; density < 100; density += 20)
      if (!check_noise (subject, 203, 77, 1, density, i, &options, &compact, 4096) ||
          !check_noise (subject, 203, 77, 1, density, i, &options, &compact, 9))
        return;
  }
}

/* With more components than rows in the table, the labeller returns the true number, the first rows
 * and a complete label map. */
static void
check_overflow (const Subject *subject)
{
  static const uint32_t rows[] = {1, 2, 3, 10, 63, 64, 65, 255, 256, 257, 1000, 5000, 1u << 20};

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++)
    if (!check_noise (subject, 300, 200, 1, 20, 7, &default_options, &compact, rows[i]) ||
        !check_noise (subject, 37, 35, 1, 30, i, &default_options, &compact, rows[i]))
      return;
}

/* One labeller runs on frames of all kinds; no frame may change the result of a later one. */
static void
check_frames_are_independent (const Subject *subject)
{
  const uint32_t width = 331, height = 170;
  CclLabeller *labeller = plan (subject, width, height, 3000);
  bool passed = labeller != NULL;
  GRand *random = g_rand_new_with_seed (1);

  for (uint32_t i = 0; i < 120 && passed; i++) {
    uint32_t density = g_rand_int_range (random, 0, 101);
    uint32_t granularity = g_rand_int_range (random, 1, 9);
    Mask *mask =
        i % 4 == 3 ? mask_new_from_shape (&shapes[g_rand_int_range (random, 0, 25)], width, height)
                   : mask_new_from_noise (width, height, granularity, density, i);
    CclLabellerOptions options = {
        .threshold = g_rand_int_range (random, 0, 256),
        .invert = g_rand_boolean (random),
        .min_area = g_rand_int_range (random, 0, 4),
    };
    Layout layout = {.padding = g_rand_int_range (random, 0, 40)};
    describe (subject, mask, granularity, density, i);
    passed = check_mask (subject, labeller, mask, &options, &layout);
    mask_free (mask);
  }
  g_rand_free (random);
  ccl_labeller_free (&labeller);
}

static void
check_random_everything (const Subject *subject)
{
  GRand *random = g_rand_new_with_seed (2);

  for (uint32_t i = 0; i < 400; i++) {
    uint32_t width = g_rand_int_range (random, 1, 200);
    uint32_t height = g_rand_int_range (random, 1, 150);
    uint32_t granularity = g_rand_int_range (random, 1, 6);
    uint32_t density = g_rand_int_range (random, 0, 101);
    uint32_t max_components = 1u << g_rand_int_range (random, 0, 14);
    CclLabellerOptions options = {
        .threshold = g_rand_int_range (random, 0, 256),
        .invert = g_rand_boolean (random),
        .min_area = g_rand_boolean (random) ? g_rand_int_range (random, 0, 30) : 0,
        .max_area = g_rand_boolean (random) ? g_rand_int_range (random, 0, 200) : 0,
    };
    Layout layout = {
        .padding = g_rand_int_range (random, 0, 100),
        .label_padding = g_rand_int_range (random, 0, 100),
        .at_start = g_rand_boolean (random),
    };
    if (!check_noise (
            subject, width, height, granularity, density, i, &options, &layout, max_components))
      break;
  }
  g_rand_free (random);
}

/* One labeller for frames of many sizes, which grow and shrink. */
static void
check_sizes_that_change (const Subject *subject)
{
  GRand *random = g_rand_new_with_seed (3);
  CclLabeller *labeller = plan (subject, 7, 5, 1000);
  bool passed = labeller != NULL;

  for (uint32_t i = 0; i < 160 && passed; i++) {
    const bool is_flat = i % 8 == 5, is_tall = i % 8 == 7;
    const uint32_t width = g_rand_int_range (random, 1, is_flat ? 3000 : is_tall ? 4 : 150);
    const uint32_t height = g_rand_int_range (random, 1, is_flat ? 4 : is_tall ? 900 : 120);
    const uint32_t density = g_rand_int_range (random, 0, 101);
    Mask *mask = mask_new_from_noise (width, height, 1 + i % 3, density, i);
    const CclLabellerOptions options = {
        .invert = g_rand_boolean (random), .min_area = i % 4 == 0 ? i % 7 : 0};
    const Layout layout = {.padding = i % 5, .label_padding = i % 3, .at_start = i % 2};
    CclError error = {0};

    describe (subject, mask, 1 + i % 3, density, i);
    if (ccl_labeller_resize (labeller, width, height, &error) != CUDACCL_OK) {
      passed = error.status == CUDACCL_ERROR_UNSUPPORTED || fail (&options, &layout, error.message);
    } else {
      passed = check_mask (subject, labeller, mask, &options, &layout);
      /* The second frame of a size. */
      if (passed && i % 3 == 0)
        passed = check_mask (subject, labeller, mask, &options, &layout);
    }
    mask_free (mask);
  }
  g_rand_free (random);
  ccl_labeller_free (&labeller);
}

/* Frames too large for the flood fill, with a result known in closed form: a component of size_x ×
 * size_y pixels starts at every pixel whose coordinates are multiples of step_x and step_y. */
typedef struct Tiling {
  uint32_t width, height;
  uint32_t step_x, step_y;
  uint32_t size_x, size_y; /* separate components need a gap with 8-connectivity */
} Tiling;

/* Sets the labels of components that begin in a row, from first_label on. */
static void
fill_tiling_row (const Tiling *tiling, uint32_t first_label, uint32_t *row)
{
  uint32_t label = first_label;

  for (uint32_t start = 0; start < tiling->width; start += tiling->step_x, label++) {
    const uint32_t end = MIN (start + tiling->size_x, tiling->width);
    for (uint32_t x = start; x < end; x++)
      row[x] = label;
  }
}

static char *
compare_with_tiling (
    const Tiling *tiling, const CclTable *table, uint32_t max_components, const uint32_t *labels)
{
  uint32_t columns = (tiling->width + tiling->step_x - 1) / tiling->step_x;
  uint32_t rows = (tiling->height + tiling->step_y - 1) / tiling->step_y;
  uint32_t n_components = columns * rows;

  if (table->n_components != n_components || table->n_rows != MIN (n_components, max_components))
    return g_strdup_printf (
        "%u components in %u rows instead of %u", table->n_components, table->n_rows, n_components);
  for (uint32_t i = 0; i < table->n_rows; i++) {
    const CclComponent *row = &table->rows[i];
    uint32_t x = i % columns * tiling->step_x;
    uint32_t y = i / columns * tiling->step_y;
    uint32_t width = MIN (tiling->size_x, tiling->width - x);
    uint32_t height = MIN (tiling->size_y, tiling->height - y);
    if (row->label != i + 1 || row->area != width * height || row->x != x || row->y != y ||
        row->width != width || row->height != height || row->centroid_x != x + (width - 1) / 2.0 ||
        row->centroid_y != y + (height - 1) / 2.0)
      return g_strdup_printf (
          "row %u is {label %u, area %u, box %u,%u %u×%u, centroid %.17g,%.17g}", i, row->label,
          row->area, row->x, row->y, row->width, row->height, row->centroid_x, row->centroid_y);
  }

  /* A row of background, and the foreground row of a step, which all rows of its components are. */
  const size_t row_bytes = tiling->width * sizeof *labels;
  uint32_t *background = g_malloc0 (row_bytes), *foreground = g_malloc0 (row_bytes);
  char *difference = NULL;
  for (uint32_t y = 0; y < tiling->height && !difference; y++) {
    const uint32_t *row = labels + (size_t)y * tiling->width;
    const uint32_t *expected = y % tiling->step_y < tiling->size_y ? foreground : background;
    if (y % tiling->step_y == 0)
      fill_tiling_row (tiling, y / tiling->step_y * columns + 1, foreground);
    if (memcmp (row, expected, row_bytes) != 0) {
      uint32_t x = 0;
      while (row[x] == expected[x])
        x++;
      difference = g_strdup_printf ("label %u instead of %u at %u,%u", row[x], expected[x], x, y);
    }
  }
  g_free (background);
  g_free (foreground);
  return difference;
}

static void
check_tiling (const Subject *subject, const Tiling *tiling)
{
  const uint32_t max_components = 1000;
  Mask mask = {.name = "tiling", .width = tiling->width, .height = tiling->height};
  size_t n_pixels = (size_t)tiling->width * tiling->height;
  CclLabeller *labeller;

  if (!g_test_slow ()) {
    g_test_skip ("a huge frame; runs with -m slow");
    return;
  }
  describe (subject, &mask, tiling->step_x, tiling->size_x, 0);
  labeller = plan (subject, tiling->width, tiling->height, max_components);
  if (!labeller)
    return;

  guarded_memory_resize (&frame_memory, n_pixels, true);
  guarded_memory_resize (&labels_memory, 4 * n_pixels, true);
  for (uint32_t x = 0; x < tiling->width; x++)
    frame_memory.data[x] = x % tiling->step_x < tiling->size_x ? 255 : 0;
  for (uint32_t y = 1; y < tiling->height; y++) {
    uint8_t *row = frame_memory.data + (size_t)y * tiling->width;
    if (y % tiling->step_y < tiling->size_y)
      memcpy (row, frame_memory.data, tiling->width);
    else
      memset (row, 0, tiling->width);
  }

  CclFrame frame = {.data = frame_memory.data, .stride = tiling->width};
  CclLabels labels = {.data = labels_memory.data, .stride = 4 * (size_t)tiling->width};
  CclTable table;
  CclError error = {0};
  char *difference = NULL;
  if (run (subject, labeller, &frame, &default_options, &labels, &table, &error) != CUDACCL_OK)
    difference = g_strdup_printf ("run failed: %s", error.message);
  else
    difference =
        compare_with_tiling (tiling, &table, max_components, (const uint32_t *)labels_memory.data);
  if (difference)
    fail (&default_options, &compact, difference);
  g_free (difference);
  ccl_labeller_free (&labeller);
}

static void
check_full_frame_of_16384x16384 (const Subject *subject)
{
  check_tiling (subject, &(Tiling){16384, 16384, 16384, 16384, 16384, 16384});
}

static void
check_dots_on_16384x16384 (const Subject *subject)
{
  check_tiling (subject, &(Tiling){16384, 16384, 2, 2, 1, 1});
}

static void
check_blocks_on_16385x9001 (const Subject *subject)
{
  check_tiling (subject, &(Tiling){16385, 9001, 100, 70, 99, 69});
}

static void
check_row_of_2_to_the_26 (const Subject *subject)
{
  check_tiling (subject, &(Tiling){1u << 26, 1, 4, 1, 3, 1});
}

static void
check_column_of_2_to_the_26 (const Subject *subject)
{
  check_tiling (subject, &(Tiling){1, 1u << 26, 1, 4, 1, 3});
}

static const struct {
  const char *name;
  void (*check) (const Subject *subject);
} checks[] = {
    {"all-masks-of-4x4", check_all_masks_of_4x4},
    {"every-size-up-to-12x12", check_every_small_size},
    {"odd-strides-and-unaligned-rows", check_strides_and_alignments},
    {"single-rows", check_single_rows},
    {"single-columns", check_single_columns},
    {"noise-around-word-widths", check_noise_around_word_widths},
    {"large-noise", check_large_noise},
    {"threshold-and-invert", check_threshold_and_invert},
    {"pixel-formats", check_pixel_formats},
    {"area-filters", check_area_filters},
    {"more-components-than-rows", check_overflow},
    {"frames-are-independent", check_frames_are_independent},
    {"random-sizes-options-and-layouts", check_random_everything},
    {"sizes-that-change", check_sizes_that_change},
    {"huge/full-frame-of-16384x16384", check_full_frame_of_16384x16384},
    {"huge/dots-on-16384x16384", check_dots_on_16384x16384},
    {"huge/blocks-on-16385x9001", check_blocks_on_16385x9001},
    {"huge/row-of-2-to-the-26", check_row_of_2_to_the_26},
    {"huge/column-of-2-to-the-26", check_column_of_2_to_the_26},
};

static void
run_check (gconstpointer data)
{
  const Subject *subject = data;
  subject->check (subject);
}

static void
register_case (const Subject *subject, const char *folder, const char *name)
{
  char *path = g_strdup_printf ("/%s/%s/%d-connected%s/%s", subject->backend->name,
      subject->algorithm, (int)subject->connectivity, folder, name);
  /* Never freed: GLib does not free the data of cases that are not run. */
  subjects = g_slist_prepend (subjects, g_memdup2 (subject, sizeof *subject));
  g_test_add_data_func (path, subjects->data, run_check);
  g_free (path);
}

static bool
wants_check (const Subject *subject, const char *name)
{
  const LabellerHugeFrames wanted = subject->backend->huge_frames;

  if (!g_str_has_prefix (name, "huge/"))
    return true;
  return wanted == HUGE_FRAMES_ALL ||
         (subject->connectivity == CUDACCL_CONNECTIVITY_8 &&
             (wanted == HUGE_FRAMES_8_CONNECTED ||
                 (wanted == HUGE_FRAMES_OF_ONE_ROW && g_str_has_prefix (name, "huge/row"))));
}

void
labeller_checks_register (const LabellerBackend *backend)
{
  static const CclConnectivity connectivities[] = {CUDACCL_CONNECTIVITY_8, CUDACCL_CONNECTIVITY_4};

  /* The other cases run after a failed one. */
  g_test_set_nonfatal_assertions ();
  signal (SIGSEGV, print_description_and_die);
  signal (SIGBUS, print_description_and_die);

  for (const char *const *algorithm = backend->algorithms; *algorithm; algorithm++) {
    for (size_t i = 0; i < G_N_ELEMENTS (connectivities); i++) {
      Subject subject = {
          .backend = backend, .algorithm = *algorithm, .connectivity = connectivities[i]};
      if (backend->offers && !backend->offers (*algorithm, connectivities[i]))
        continue;
      for (size_t j = 0; j < G_N_ELEMENTS (checks); j++) {
        if (!wants_check (&subject, checks[j].name))
          continue;
        subject.check = checks[j].check;
        register_case (&subject, "", checks[j].name);
      }
      subject.check = check_shape;
      for (const Shape *shape = shapes; shape->name; shape++) {
        subject.shape = shape;
        register_case (&subject, "/shape", shape->name);
      }
    }
  }
}
