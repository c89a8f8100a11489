/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/foreground/reduction-checks.h"
#include "core/base/divide-up.h"

#include <glib.h>
#include <string.h>

/* How a frame lies in memory: u and v at these places behind the luma, or inside it. */
typedef struct Layout {
  const char *name;
  CclPixelFormat format;
  bool has_chroma;
  uint32_t step, shift_x, shift_y;
  uint32_t u, v; /* the first samples, in bytes from the start of the chroma (of a packed frame) */
} Layout;

static const Layout layouts[] = {
    {"GRAY8", CUDACCL_PIXEL_FORMAT_8, false, 0, 0, 0, 0, 0},
    {"NV12", CUDACCL_PIXEL_FORMAT_8, true, 2, 1, 1, 0, 1},
    {"NV21", CUDACCL_PIXEL_FORMAT_8, true, 2, 1, 1, 1, 0},
    {"NV24", CUDACCL_PIXEL_FORMAT_8, true, 2, 0, 0, 0, 1},
    {"YUY2", CUDACCL_PIXEL_FORMAT_8_FIRST, true, 4, 1, 0, 1, 3},
    {"UYVY", CUDACCL_PIXEL_FORMAT_8_SECOND, true, 4, 1, 0, 0, 2},
    {"GRAY16_LE", CUDACCL_PIXEL_FORMAT_16, false, 0, 0, 0, 0, 0},
    {"P010_10LE", CUDACCL_PIXEL_FORMAT_16, true, 4, 1, 1, 1, 3},
};

/* A frame with the memory of its planes. */
typedef struct Picture {
  CclFrame frame;
  uint8_t *luma, *chroma;
} Picture;

static Picture
picture_new (const Layout *layout, uint32_t width, uint32_t height)
{
  const bool is_packed = layout->format == CUDACCL_PIXEL_FORMAT_8_FIRST ||
                         layout->format == CUDACCL_PIXEL_FORMAT_8_SECOND;
  const size_t stride = 4 * (size_t)width + 8;
  Picture picture = {.luma = g_malloc0 (stride * height), .chroma = g_malloc0 (stride * height)};
  const uint8_t *chroma = is_packed ? picture.luma : picture.chroma;
  picture.frame = (CclFrame){.data = picture.luma, .stride = stride};
  if (layout->has_chroma)
    picture.frame.chroma = (CclChroma){
        .u = chroma + layout->u,
        .v = chroma + layout->v,
        .u_stride = stride,
        .v_stride = stride,
        .step = layout->step,
        .shift_x = layout->shift_x,
        .shift_y = layout->shift_y,
    };
  return picture;
}

static void
picture_clear (Picture *picture)
{
  g_free (picture->luma);
  g_free (picture->chroma);
}

/* Noise, and from frame 20 on an object, before a shadow. */
static void
draw (Picture *picture, const Layout *layout, uint32_t width, uint32_t height, uint32_t number)
{
  GRand *random = g_rand_new_with_seed (number);
  for (uint32_t y = 0; y < height; y++)
    for (size_t i = 0; i < picture->frame.stride; i++) {
      const size_t at = y * picture->frame.stride + i;
      const uint32_t x = (uint32_t)(i * width / picture->frame.stride);
      const bool in = number >= 20 && y > height / 4 && y < height / 2 && x > width / 3;
      picture->luma[at] = (uint8_t)((in && x < width / 2 ? 200
                                        : in             ? 78
                                                         : 100) +
                                    g_rand_int_range (random, 0, 5));
      picture->chroma[at] = (uint8_t)(120 + g_rand_int_range (random, 0, 5));
    }
  g_rand_free (random);
}

static uint32_t
load (const uint8_t *sample, bool is_wide)
{
  return is_wide ? sample[0] + 256u * sample[1] : sample[0];
}

/* Writes means of factor_x × factor_y samples; rows of the result are `stride` bytes apart. */
static void
reduce (const uint8_t *samples, size_t from_stride, uint32_t step, uint32_t n_samples,
    uint32_t n_rows, uint32_t factor_x, uint32_t factor_y, bool is_wide, uint32_t width,
    uint32_t height, uint8_t *means, size_t stride)
{
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++) {
      uint32_t sum = 0;
      for (uint32_t i = 0; i < factor_x * factor_y; i++) {
        const uint32_t column = MIN (x * factor_x + i % factor_x, n_samples - 1);
        const uint32_t row = MIN (y * factor_y + i / factor_x, n_rows - 1);
        sum += load (samples + row * from_stride + (size_t)column * step, is_wide);
      }
      const uint32_t mean = (2 * sum + factor_x * factor_y) / (2 * factor_x * factor_y);
      means[y * stride + (size_t)x * (is_wide ? 2 : 1)] = (uint8_t)mean;
      if (is_wide)
        means[y * stride + 2 * (size_t)x + 1] = (uint8_t)(mean >> 8);
    }
}

/* The chroma of reduced frames has the frame's subsampling less that of the reduction. */
static const Layout reduced_layout = {"reduced", CUDACCL_PIXEL_FORMAT_8, true, 1, 0, 0, 0, 0};

static void
reduce_picture (const Picture *from, const Layout *layout, uint32_t width, uint32_t height,
    uint32_t factor, Picture *to)
{
  const CclChroma *chroma = &from->frame.chroma;
  const bool is_wide = layout->format == CUDACCL_PIXEL_FORMAT_16;
  const bool is_packed = layout->format == CUDACCL_PIXEL_FORMAT_8_FIRST ||
                         layout->format == CUDACCL_PIXEL_FORMAT_8_SECOND;
  const uint32_t small_width = divide_up (width, factor), small_height = divide_up (height, factor);
  const uint8_t *luma = from->luma + (layout->format == CUDACCL_PIXEL_FORMAT_8_SECOND);

  reduce (luma, from->frame.stride, is_packed || is_wide ? 2 : 1, width, height, factor, factor,
      is_wide, small_width, small_height, to->luma, to->frame.stride);
  if (!layout->has_chroma)
    return;
  const uint32_t factor_x = factor >> layout->shift_x, factor_y = factor >> layout->shift_y;
  for (int i = 0; i < 2; i++)
    reduce (i ? chroma->v : chroma->u, from->frame.stride, layout->step,
        divide_up (width, 1u << layout->shift_x), divide_up (height, 1u << layout->shift_y),
        factor_x, factor_y, false, small_width, small_height,
        to->chroma + (i ? to->frame.stride / 2 : 0), to->frame.stride);
}

static CclStatus
run (const ForegroundBackend *backend, CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask)
{
  CclError error = {CUDACCL_OK};
  const CclStatus status =
      backend->run ? backend->run (backend->data, foreground, frame, options, mask, &error)
                   : ccl_foreground_run (foreground, frame, options, mask, &error);
  if (status != CUDACCL_OK)
    g_test_fail_printf ("%s", error.message);
  return status;
}

/* The pixel that a mask of the reduced frame gives the whole one. */
static uint8_t
enlarged (uint8_t value, bool invert, bool is_inside)
{
  const uint8_t shown = invert && value != CUDACCL_MASK_SHADOW ? 255 - value : value;
  return is_inside ? shown : 0;
}

/* A region of interest mask has the frame's pixels. */
static void
check_refusal (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask)
{
  CclForegroundOptions reduced = *options;
  CclError error = {CUDACCL_OK};
  reduced.reduced_mask = true;
  g_assert_cmpint (
      ccl_foreground_run (foreground, frame, &reduced, mask, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error.message, "region of interest"));
}

/* Frames before this one have the mask of the plan, those from the next one on have none. */
enum { ANOTHER_ROI_MASK = 7, NO_ROI_MASK = 17 };

/* Changes the mask while the model goes on. Returns whether there is one. */
static bool
change_roi_mask (CclForeground *foreground, const CclFrame *roi_mask, uint8_t *roi, uint32_t size,
    uint32_t number)
{
  CclStatus status = CUDACCL_OK;

  for (uint32_t i = 0; i < size && number == ANOTHER_ROI_MASK; i++)
    roi[i] = i % 11 > 2;
  if (number == ANOTHER_ROI_MASK || number == NO_ROI_MASK)
    status =
        ccl_foreground_set_roi_mask (foreground, number == NO_ROI_MASK ? NULL : roi_mask, NULL);
  g_assert_cmpint (status, ==, CUDACCL_OK);
  return number < NO_ROI_MASK;
}

/* Compares a few frames; without a region of interest mask, every second mask has the reduced size,
 * and what lies beyond it in memory is not written. Returns how many pixels were foreground. */
static uint32_t
compare (const ForegroundBackend *backend, const Layout *layout, uint32_t width, uint32_t height,
    uint32_t factor, const CclForegroundOptions *options, bool with_roi_mask)
{
  const uint32_t small_width = divide_up (width, factor), small_height = divide_up (height, factor);
  const bool is_wide = layout->format == CUDACCL_PIXEL_FORMAT_16;
  const size_t mask_stride = width + 3;
  g_autofree uint8_t *pixels = g_malloc (mask_stride * height);
  g_autofree uint8_t *small_pixels = g_malloc ((size_t)small_width * small_height);
  g_autofree uint8_t *roi = g_malloc ((size_t)width * height);
  for (uint32_t i = 0; i < width * height; i++)
    roi[i] = i % 7 != 0;
  const CclFrame roi_mask = {.data = roi, .stride = width};
  const CclForegroundPlan plan = {
      .width = width,
      .height = height,
      .method = CUDACCL_FOREGROUND_MOG2,
      .roi_mask = with_roi_mask ? &roi_mask : NULL,
      .has_chroma = layout->has_chroma,
      .format = layout->format,
      .reduction = factor,
      .n_threads = factor, /* any number */
  };
  const CclForegroundPlan small_plan = {
      .width = small_width,
      .height = small_height,
      .method = CUDACCL_FOREGROUND_MOG2,
      .has_chroma = layout->has_chroma,
      .format = is_wide ? CUDACCL_PIXEL_FORMAT_16 : CUDACCL_PIXEL_FORMAT_8,
  };
  CclForegroundOptions small_options = *options;
  small_options.invert = false;
  small_options.closing_width = divide_up (options->closing_width, factor);
  small_options.closing_height = divide_up (options->closing_height, factor);
  CclForeground *whole = backend->foreground_new (backend->data, &plan, NULL);
  CclForeground *small = backend->foreground_new (backend->data, &small_plan, NULL);
  Picture picture = picture_new (layout, width, height);
  Picture reduced = picture_new (&reduced_layout, small_width, small_height);
  uint32_t n_foreground = 0;

  g_assert_nonnull (whole);
  g_assert_nonnull (small);
  g_assert_cmpuint (ccl_foreground_get_reduction (whole), ==, factor);
  g_assert_cmpuint (ccl_foreground_get_reduction (small), ==, 1);
  if (!layout->has_chroma)
    reduced.frame.chroma = (CclChroma){NULL};
  else
    reduced.frame.chroma.v = reduced.chroma + reduced.frame.stride / 2;
  for (uint32_t number = 0; number < 24 && !g_test_failed (); number++) {
    const CclMask mask = {.data = pixels, .stride = mask_stride};
    CclForegroundOptions of_frame = *options;
    const bool has_roi_mask =
        with_roi_mask && change_roi_mask (whole, &roi_mask, roi, width * height, number);
    of_frame.reduced_mask = !has_roi_mask && number % 2 == 1;
    const uint32_t scale = of_frame.reduced_mask ? 1 : factor;
    const CclMask small_mask = {.data = small_pixels, .stride = small_width};
    memset (pixels, 0xa5, mask_stride * height);
    draw (&picture, layout, width, height, number);
    reduce_picture (&picture, layout, width, height, factor, &reduced);
    if (number == 12) { /* both start anew */
      ccl_foreground_reset (whole);
      ccl_foreground_reset (small);
    }
    if (has_roi_mask)
      check_refusal (whole, &picture.frame, options, &mask);
    if (run (backend, whole, &picture.frame, &of_frame, &mask) != CUDACCL_OK ||
        run (backend, small, &reduced.frame, &small_options, &small_mask) != CUDACCL_OK)
      break;
    for (uint32_t i = 0; i < width * height && !g_test_failed (); i++) {
      const uint32_t x = i % width, y = i / width;
      const bool is_inside = x / scale < small_width && y / scale < small_height;
      const uint8_t value =
          is_inside ? small_pixels[y / scale * small_width + x / scale] : CUDACCL_MASK_BACKGROUND;
      const uint8_t expected =
          is_inside ? enlarged (value, options->invert, !has_roi_mask || roi[i]) : 0xa5;
      const uint8_t got = pixels[y * mask_stride + x];
      n_foreground += value == CUDACCL_MASK_FOREGROUND;
      if (got != expected)
        g_test_fail_printf ("%s %u×%u, factor %u, frame %u: %u instead of %u at %u,%u",
            layout->name, width, height, factor, number, got, expected, x, y);
    }
    for (uint32_t y = 0; y + 1 < height; y++) /* padding */
      g_assert_cmpuint (pixels[y * mask_stride + width], ==, 0xa5);
  }
  picture_clear (&picture);
  picture_clear (&reduced);
  ccl_foreground_free (&whole);
  ccl_foreground_free (&small);
  return n_foreground;
}

void
check_reduction (const ForegroundBackend *backend)
{
  static const uint32_t sizes[][2] = {{96, 64}, {101, 67}, {33, 9}};
  CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  uint32_t n_foreground = 0;

  options.denoise = CUDACCL_DENOISE_MEDIAN_3;
  for (size_t i = 0; i < G_N_ELEMENTS (layouts); i++)
    for (uint32_t factor = 2; factor <= CUDACCL_MAX_REDUCTION; factor *= 2) {
      const uint32_t *size = sizes[(i + factor) % G_N_ELEMENTS (sizes)];
      options.invert = factor == 4;
      options.shadows = i % 2 ? CUDACCL_SHADOWS_MARK : CUDACCL_SHADOWS_REMOVE;
      options.closing_width = i % 3 ? 1 : 9;
      n_foreground += compare (
          backend, &layouts[i], size[0], size[1], factor, &options, i % 2 == factor / 2 % 2);
    }
  g_assert_cmpuint (n_foreground, >, 1000);
}

void
check_reduction_factors (const ForegroundBackend *backend)
{
  CclForegroundPlan plan = {.width = 16, .height = 16, .method = CUDACCL_FOREGROUND_MOG2};
  CclError error = {CUDACCL_OK};
  for (plan.reduction = 3; plan.reduction < 20; plan.reduction++) {
    CclForeground *foreground = backend->foreground_new (backend->data, &plan, &error);
    g_assert_true (!foreground == (plan.reduction != 4 && plan.reduction != 8));
    if (!foreground)
      g_assert_nonnull (strstr (error.message, "reduction"));
    ccl_foreground_free (&foreground);
  }
}
