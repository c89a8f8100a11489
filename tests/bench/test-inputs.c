/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The benchmark's inputs: generators against what is known of them, files against what was
 * written into them. */
#include <glib/gstdio.h>
#include <math.h>
#include <png.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"

static char *folder; /* for files; removed at the end */

static Input *
load (const char *specification)
{
  g_autoptr (GPtrArray) sources = input_sources_new ();
  g_autoptr (GError) error = NULL;
  Input *input;

  input_sources_add (sources, specification, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sources->len, ==, 1);
  input = input_source_load (sources->pdata[0], &error);
  g_assert_no_error (error);
  return input;
}

static size_t
count_foreground (const Input *input)
{
  size_t n = 0;

  for (size_t i = 0; i < input_n_pixels (input); i++) {
    g_assert_true (input->pixels[i] == 0 || input->pixels[i] == 255);
    n += input->pixels[i] == 255;
  }
  return n;
}

/* The C++ standard ([rand.predef]) says that the 10000th number of a default-constructed
 * std::mt19937 is 4123659995; the first ones are those of Matsumoto's and Nishimura's own
 * program, seeded with 5489. A picture of single pixels shows them. */
static void
test_noise_is_mt19937 (void)
{
  static const uint32_t first_numbers[] = {
      3499211612u, 581869302u, 3890346734u, 3586334585u, 545404204u};
  g_autoptr (Input) half = load ("noise:10000x1:g=1:d=50");
  g_autoptr (Input) below = load ("noise:10000x1:g=1:d=96");
  g_autoptr (Input) above = load ("noise:10000x1:g=1:d=97");

  for (guint i = 0; i < G_N_ELEMENTS (first_numbers); i++)
    g_assert_cmpint (half->pixels[i] == 255, ==, first_numbers[i] < 1u << 31);
  /* 4123659995 / 2^32 is 0.9601… */
  g_assert_cmpint (below->pixels[9999], ==, 0);
  g_assert_cmpint (above->pixels[9999], ==, 255);
}

static void
test_noise_has_its_density (void)
{
  for (unsigned density = 0; density <= 100; density += 10) {
    g_autofree char *specification = g_strdup_printf ("noise:1000x1000:g=1:d=%u", density);
    g_autoptr (Input) input = load (specification);
    const double expected = density / 100.0;
    const double deviation = sqrt (expected * (1 - expected) * 1e6);
    g_assert_cmpfloat (fabs ((double)count_foreground (input) - 1e6 * expected), <=, 4 * deviation);
  }
}

static void
test_noise_comes_in_blocks (void)
{
  g_autoptr (Input) input = load ("noise:101x67:g=7:d=50");
  g_autoptr (Input) volume = load ("noise:21x23x25:g=4:d=50");
  g_autoptr (Input) single = load ("noise:15x10:g=1:d=50"); /* as many blocks as the first */

  for (uint32_t y = 0; y < 67; y++)
    for (uint32_t x = 0; x < 101; x++)
      g_assert_cmpint (input->pixels[y * 101 + x], ==, single->pixels[y / 7 * 15 + x / 7]);
  for (uint32_t z = 0; z < 25; z++)
    for (uint32_t y = 0; y < 23; y++)
      for (uint32_t x = 0; x < 21; x++)
        g_assert_cmpint (volume->pixels[(z * 23 + y) * 21 + x], ==,
            volume->pixels[((z & ~3u) * 23 + (y & ~3u)) * 21 + (x & ~3u)]);
  g_assert_cmpuint (count_foreground (volume), >, 0);
}

static void
test_denser_noise_contains_sparser (void)
{
  g_autoptr (Input) sparse = load ("noise:300x200:g=2:d=30:seed=7");
  g_autoptr (Input) dense = load ("noise:300x200:g=2:d=70:seed=7");
  g_autoptr (Input) other = load ("noise:300x200:g=2:d=30:seed=8");

  for (size_t i = 0; i < input_n_pixels (sparse); i++)
    g_assert_true (dense->pixels[i] >= sparse->pixels[i]);
  g_assert_cmpint (memcmp (sparse->pixels, other->pixels, input_n_pixels (sparse)), !=, 0);
}

/* The properties of a Hilbert curve: it visits every point once, in steps of length one, and every
 * aligned cube of 8, 64, … points in one go. */
static void
test_hilbert_visits_all_by_single_steps (void)
{
  for (unsigned order = 1; order <= 6; order++) {
    const uint64_t n_points = UINT64_C (1) << (3 * order);
    const uint32_t side = 1u << order;
    g_autofree uint8_t *visited = g_malloc0 (n_points);
    uint32_t previous[3] = {0};

    for (uint64_t i = 0; i < n_points; i++) {
      uint32_t p[3];
      unsigned distance = 0;
      hilbert_position (order, i, p);
      g_assert_true (p[0] < side && p[1] < side && p[2] < side);
      g_assert_cmpint (visited[(p[2] * side + p[1]) * side + p[0]]++, ==, 0);
      for (unsigned axis = 0; axis < 3; axis++)
        distance += (unsigned)abs ((int)p[axis] - (int)previous[axis]);
      g_assert_cmpuint (distance, ==, i ? 1 : 0);
      if (i % 8) /* still in the cube of the point before */
        for (unsigned axis = 0; axis < 3; axis++)
          g_assert_cmpuint (p[axis] / 2, ==, previous[axis] / 2);
      memcpy (previous, p, sizeof p);
    }
  }
}

/* A line of one voxel through 8^order points that are 128 / 2^order apart. */
static void
test_hilbert_volumes_have_their_length (void)
{
  for (unsigned order = 1; order <= 6; order++) {
    g_autofree char *specification = g_strdup_printf ("hilbert:order=%u", order);
    g_autoptr (Input) input = load (specification);
    const size_t n_points = (size_t)1 << (3 * order);
    g_assert_cmpuint (input->width, ==, 128);
    g_assert_cmpuint (input->height, ==, 128);
    g_assert_cmpuint (input->depth, ==, 128);
    g_assert_cmpuint (count_foreground (input), ==, (n_points - 1) * (128 >> order) + 1);
  }
}

static void
test_drawings_look_like_what_they_are (void)
{
  g_autoptr (Input) page = load ("text:1240x1754");
  g_autoptr (Input) other_page = load ("text:1240x1754:n=1");
  g_autoptr (Input) frame = load ("blobs:1920x1080:n=3");
  g_autoptr (Input) next_frame = load ("blobs:1920x1080:n=4");
  size_t n_changed = 0;

  /* Printed pages of the papers' data sets are 5…15 % ink, surveillance masks 1…10 %. */
  g_assert_cmpfloat ((double)count_foreground (page) / 1240 / 1754, >, 0.05);
  g_assert_cmpfloat ((double)count_foreground (page) / 1240 / 1754, <, 0.20);
  g_assert_cmpint (memcmp (page->pixels, other_page->pixels, input_n_pixels (page)), !=, 0);
  g_assert_cmpfloat ((double)count_foreground (frame) / 1920 / 1080, >, 0.01);
  g_assert_cmpfloat ((double)count_foreground (frame) / 1920 / 1080, <, 0.10);
  for (size_t i = 0; i < input_n_pixels (frame); i++)
    n_changed += frame->pixels[i] != next_frame->pixels[i];
  g_assert_cmpuint (n_changed, >, 0);                        /* they move, */
  g_assert_cmpuint (n_changed, <, count_foreground (frame)); /* but not far */
}

static void
test_full_and_empty (void)
{
  g_autoptr (Input) full = load ("full:31x17");
  g_autoptr (Input) empty = load ("empty:31x17");

  g_assert_cmpuint (count_foreground (full), ==, 31 * 17);
  g_assert_cmpuint (count_foreground (empty), ==, 0);
}

/* All generators work for small sizes. */
static void
test_tiny_sizes (void)
{
  static const char *const generators[] = {
      "noise:%ux%u:g=16:d=50", "text:%ux%u", "blobs:%ux%u", "full:%ux%u"};

  for (guint g = 0; g < G_N_ELEMENTS (generators); g++)
    for (unsigned width = 1; width <= 45; width += 4)
      for (unsigned height = 1; height <= 45; height += 4) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        g_autofree char *specification = g_strdup_printf (generators[g], width, height);
#pragma GCC diagnostic pop
        g_autoptr (Input) input = load (specification);
        g_assert_cmpuint (input_n_pixels (input), ==, width * height);
      }
}

static void
test_lists_of_noise (void)
{
  g_autoptr (GPtrArray) sources = input_sources_new ();
  g_autoptr (GError) error = NULL;

  input_sources_add (sources, "noise:8x8", &error); /* the papers' grid */
  g_assert_no_error (error);
  g_assert_cmpuint (sources->len, ==, 16 * 101);
  input_sources_add (sources, "noise:8x8:g=1,4-6:d=0-100+25:seed=1-2", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sources->len, ==, 16 * 101 + 4 * 5 * 2);
}

static void
test_wrong_specifications (void)
{
  static const char *const wrong[] = {"noise", "noise:", "noise:8", "noise:0x8", "noise:8x8:g=17",
      "noise:8x8:d=101", "noise:8x8:d=5-1", "noise:8x8:d=x", "noise:8x8:e=1", "noise:65536x65536",
      "hilbert:order=7", "text:8x8x8", "full:-1x8", "/nowhere", "volume:/nowhere",
      "noise:8x8:seed=0-4294967294"};

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GPtrArray) sources = input_sources_new ();
    g_autoptr (GError) error = NULL;
    g_assert_false (input_sources_add (sources, wrong[i], &error));
    g_assert_error (error, INPUT_ERROR, INPUT_ERROR_SPECIFICATION);
    g_assert_null (strchr (error->message, '\n'));
  }
}

/* Files. The picture is a row of numbers whose bits are the pixels. */

enum { WIDTH = 13, HEIGHT = 5 };

static bool
is_set (unsigned x, unsigned y)
{
  return (0x1b5du * (y + 3) >> x & 1) != 0;
}

static void
assert_is_the_picture (const char *path)
{
  g_autoptr (Input) input = load (path);

  g_assert_cmpuint (input->width, ==, WIDTH);
  g_assert_cmpuint (input->height, ==, HEIGHT);
  for (unsigned y = 0; y < HEIGHT; y++)
    for (unsigned x = 0; x < WIDTH; x++)
      g_assert_cmpint (input->pixels[y * WIDTH + x], ==, is_set (x, y) ? 255 : 0);
}

static char *
write_file (const char *name, const void *data, gssize size)
{
  char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, data, size, &error);
  g_assert_no_error (error);
  return path;
}

/* bits: 1 or 8; colour: PNG_COLOR_TYPE_GRAY, or _PALETTE with black and white. */
static char *
write_png (const char *name, int bits, int colour, int interlace)
{
  char *path = g_build_filename (folder, name, NULL);
  FILE *file = fopen (path, "wb");
  png_structp png = png_create_write_struct (PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct (png);
  png_color palette[2] = {{0, 0, 0}, {255, 255, 255}};
  png_byte rows[HEIGHT][WIDTH];
  png_bytep pointers[HEIGHT];

  for (unsigned y = 0; y < HEIGHT; y++) {
    pointers[y] = rows[y];
    for (unsigned x = 0; x < WIDTH; x++) /* any value but 0 is foreground */
      rows[y][x] = !is_set (x, y) ? 0 : bits == 1 ? 1 : (png_byte)(1 + 20 * x);
  }
  png_init_io (png, file);
  png_set_IHDR (png, info, WIDTH, HEIGHT, bits, colour, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
      PNG_FILTER_TYPE_DEFAULT);
  if (colour == PNG_COLOR_TYPE_PALETTE)
    png_set_PLTE (png, info, palette, 2);
  png_write_info (png, info);
  png_set_packing (png);
  png_set_interlace_handling (png);
  png_write_image (png, pointers);
  png_write_end (png, NULL);
  png_destroy_write_struct (&png, &info);
  fclose (file);
  return path;
}

static void
test_png_files (void)
{
  g_autofree char *one_bit = write_png ("1.png", 1, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE);
  g_autofree char *eight_bits = write_png ("8.png", 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE);
  g_autofree char *interlaced = write_png ("i.png", 1, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7);
  g_autofree char *palette = write_png ("p.png", 1, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE);

  assert_is_the_picture (one_bit);
  assert_is_the_picture (eight_bits);
  assert_is_the_picture (interlaced);
  assert_is_the_picture (palette);
}

/* libpng's simplified interface writes RGB with 8 bits, and grey with 16. */
static void
test_png_colours_and_depths (void)
{
  static const png_uint_32 formats[] = {PNG_FORMAT_RGB, PNG_FORMAT_LINEAR_Y};

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    g_autofree char *path = g_build_filename (folder, "converted.png", NULL);
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT, .format = formats[f]};
    g_autofree png_byte *pixels = g_malloc0 (PNG_IMAGE_SIZE (image));
    const size_t pixel_size = PNG_IMAGE_PIXEL_SIZE (formats[f]);
    for (unsigned y = 0; y < HEIGHT; y++)
      for (unsigned x = 0; x < WIDTH; x++)
        if (is_set (x, y))
          memset (pixels + (y * WIDTH + x) * pixel_size, 90, 2); /* red and green */
    g_assert_true (png_image_write_to_file (&image, path, 0, pixels, 0, NULL));
    assert_is_the_picture (path);
  }
}

static void
test_pnm_files (void)
{
  g_autoptr (GString) bits = g_string_new ("P1\n# a comment\n13 5\n");
  g_autoptr (GString) packed = g_string_new ("P4 13 5\n");
  g_autoptr (GString) digits = g_string_new ("P2\n13 5 255\n");
  g_autoptr (GString) bytes = g_string_new ("P5\n13 5\n# another\n255\n");

  for (unsigned y = 0; y < HEIGHT; y++) {
    unsigned row = 0;
    for (unsigned x = 0; x < WIDTH; x++) {
      g_string_append_c (bits, is_set (x, y) ? '1' : '0');
      g_string_append_printf (digits, "%u ", is_set (x, y) ? 7 * x + 1 : 0);
      g_string_append_c (bytes, is_set (x, y) ? (char)(200 + x) : 0);
      row |= is_set (x, y) ? 0x8000u >> x : 0;
    }
    g_string_append_c (bits, '\n');
    g_string_append_c (packed, (char)(row >> 8));
    g_string_append_c (packed, (char)row);
  }
  g_autofree char *p1 = write_file ("1.pbm", bits->str, (gssize)bits->len);
  g_autofree char *p4 = write_file ("4.pbm", packed->str, (gssize)packed->len);
  g_autofree char *p2 = write_file ("2.pgm", digits->str, (gssize)digits->len);
  g_autofree char *p5 = write_file ("5.pgm", bytes->str, (gssize)bytes->len);
  assert_is_the_picture (p1);
  assert_is_the_picture (p4);
  assert_is_the_picture (p2);
  assert_is_the_picture (p5);
}

/* A truncated image and a file that is no image are an error of one line. */
static void
test_damaged_files (void)
{
  g_autofree char *whole = write_png ("whole.png", 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE);
  g_autofree char *data = NULL;
  gsize size = 0;
  static const char *const others[] = {"", "P", "P5", "P5\n13 5 255\nabc", "P5\n0 5 255\n",
      "P5\n13 5 70000\nabc", "P4 100000 100000\n", "P1 2 2\n0 1 2 1", "P2 2 1 255\n3",
      "\211PNG\r\n\032\nnothing", "not an image"};

  g_assert_true (g_file_get_contents (whole, &data, &size, NULL));
  for (gsize length = 0; length + 12 < size; length++) { /* the last chunk carries no pixels */
    g_autofree char *path = write_file ("cut.png", data, (gssize)length);
    g_autoptr (GError) error = NULL;
    g_assert_null (input_read_image (path, &error));
    g_assert_error (error, INPUT_ERROR, INPUT_ERROR_DAMAGED);
    g_assert_null (strchr (error->message, '\n'));
  }
  for (gsize i = 8; i < size; i++) { /* one flipped bit: an error, or the same pixels */
    g_autofree char *path = NULL;
    g_autoptr (Input) input = NULL;
    g_autoptr (Input) intact = load (whole);
    data[i] ^= 1 << i % 8;
    path = write_file ("flipped.png", data, (gssize)size);
    data[i] ^= 1 << i % 8;
    input = input_read_image (path, NULL);
    if (input)
      g_assert_cmpmem (
          input->pixels, input_n_pixels (input), intact->pixels, input_n_pixels (intact));
  }
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autofree char *path = write_file ("other", others[i], -1);
    g_autoptr (GError) error = NULL;
    g_assert_null (input_read_image (path, &error));
    g_assert_error (error, INPUT_ERROR, INPUT_ERROR_DAMAGED);
  }
}

static void
test_folders (void)
{
  g_autofree char *set = g_build_filename (folder, "set", NULL);
  g_autofree char *nothing = g_build_filename (folder, "nothing", NULL);
  g_autoptr (GPtrArray) sources = input_sources_new ();
  g_autoptr (GError) error = NULL;

  g_mkdir (set, 0777);
  g_mkdir (nothing, 0777);
  g_free (write_png ("set/b.png", 1, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE));
  g_free (write_png ("set/a.png", 1, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE));
  g_free (write_file ("set/notes.md", "no image", -1));
  input_sources_add (sources, set, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sources->len, ==, 2);
  g_assert_cmpstr (((InputSource *)sources->pdata[0])->name, ==, "a.png");
  g_assert_cmpstr (((InputSource *)sources->pdata[1])->set, ==, "set");

  /* YACCLAB's list of files: its order, and nothing that it does not name. */
  g_free (write_file ("set/files.txt", "b.png\r\n", -1));
  g_ptr_array_set_size (sources, 0);
  input_sources_add (sources, set, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sources->len, ==, 1);
  g_assert_cmpstr (((InputSource *)sources->pdata[0])->name, ==, "b.png");

  g_assert_false (input_sources_add (sources, nothing, &error));
  g_assert_error (error, INPUT_ERROR, INPUT_ERROR_SPECIFICATION);
}

static void
test_volumes (void)
{
  g_autofree char *volumes = g_build_filename (folder, "volumes", NULL);
  g_autofree char *volume = g_build_filename (volumes, "one", NULL);
  g_autofree char *specification = g_strconcat ("volume:", volume, NULL);
  g_autoptr (GError) error = NULL;

  g_mkdir_with_parents (volume, 0777);
  g_free (write_png ("volumes/one/0.png", 1, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE));
  g_free (write_png ("volumes/one/1.png", 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE));
  for (int i = 0; i < 2; i++) { /* by its folder, and by the folder around it */
    g_autoptr (Input) input = load (i ? volumes : specification);
    g_assert_cmpuint (input->depth, ==, 2);
    for (unsigned z = 0; z < 2; z++)
      for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++)
          g_assert_cmpint (
              input->pixels[(z * HEIGHT + y) * WIDTH + x], ==, is_set (x, y) ? 255 : 0);
  }

  g_free (write_file ("volumes/one/2.pbm", "P1 1 1\n1", -1)); /* a slice of another size */
  g_autoptr (GPtrArray) sources = input_sources_new ();
  g_assert_true (input_sources_add (sources, specification, NULL));
  g_assert_null (input_source_load (sources->pdata[0], &error));
  g_assert_error (error, INPUT_ERROR, INPUT_ERROR_DAMAGED);
}

static void
test_scaling (void)
{
  g_autofree char *path = write_file ("s.pbm", "P1 2 2\n10\n01", -1);
  g_autofree char *specification = g_strconcat (path, "@6x4", NULL);
  g_autoptr (Input) input = load (specification);

  g_assert_cmpuint (input->width, ==, 6);
  g_assert_cmpuint (input->height, ==, 4);
  for (unsigned y = 0; y < 4; y++)
    for (unsigned x = 0; x < 6; x++)
      g_assert_cmpint (input->pixels[y * 6 + x], ==, x / 3 == y / 2 ? 255 : 0);
}

static void
remove_folder (const char *path)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree char *inside = g_build_filename (path, name, NULL);
    if (g_file_test (inside, G_FILE_TEST_IS_DIR))
      remove_folder (inside);
    else
      g_unlink (inside);
  }
  if (dir)
    g_dir_close (dir);
  g_rmdir (path);
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("ccl-bench-XXXXXX", NULL);
  g_test_add_func ("/noise/is-mt19937", test_noise_is_mt19937);
  g_test_add_func ("/noise/has-its-density", test_noise_has_its_density);
  g_test_add_func ("/noise/comes-in-blocks", test_noise_comes_in_blocks);
  g_test_add_func ("/noise/denser-contains-sparser", test_denser_noise_contains_sparser);
  g_test_add_func ("/noise/lists", test_lists_of_noise);
  g_test_add_func ("/hilbert/visits-all-by-single-steps", test_hilbert_visits_all_by_single_steps);
  g_test_add_func ("/hilbert/volumes-have-their-length", test_hilbert_volumes_have_their_length);
  g_test_add_func ("/drawings/look-like-what-they-are", test_drawings_look_like_what_they_are);
  g_test_add_func ("/drawings/full-and-empty", test_full_and_empty);
  g_test_add_func ("/drawings/tiny-sizes", test_tiny_sizes);
  g_test_add_func ("/specifications/wrong", test_wrong_specifications);
  g_test_add_func ("/files/png", test_png_files);
  g_test_add_func ("/files/png-colours-and-depths", test_png_colours_and_depths);
  g_test_add_func ("/files/pnm", test_pnm_files);
  g_test_add_func ("/files/damaged", test_damaged_files);
  g_test_add_func ("/files/folders", test_folders);
  g_test_add_func ("/files/volumes", test_volumes);
  g_test_add_func ("/files/scaling", test_scaling);
  status = g_test_run ();
  remove_folder (folder);
  g_free (folder);
  return status;
}
