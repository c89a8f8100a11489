/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "input.h"

#include "image.h"

#include <stdio.h>
#include <string.h>

Input *
input_new (uint32_t width, uint32_t height, uint32_t depth)
{
  Input *input = g_new (Input, 1);
  *input = (Input){.width = width, .height = height, .depth = depth};
  input->pixels = g_malloc0 (input_n_pixels (input));
  return input;
}

void
input_free (Input *input)
{
  if (!input)
    return;
  g_free (input->pixels);
  g_free (input);
}

size_t
input_n_pixels (const Input *input)
{
  return (size_t)input->width * input->height * input->depth;
}

static void
input_source_free (InputSource *source)
{
  g_free (source->set);
  g_free (source->name);
  g_free (source->path);
  g_free (source);
}

GPtrArray *
input_sources_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify)input_source_free);
}

static gboolean
refuse (GError **error, const char *specification, const char *why)
{
  g_set_error (
      error, INPUT_ERROR, INPUT_ERROR_SPECIFICATION, "input \"%s\": %s", specification, why);
  return FALSE;
}

enum {
  LONGEST_LIST = 100000,
  DEFAULT_SEED = 5489, /* of std::mt19937 */
};

char *
input_source_title (const InputSource *source)
{
  return *source->name ? g_strdup_printf ("%s %s", source->set, source->name)
                       : g_strdup (source->set);
}

/* A list of numbers: 5 or 1,4,16 or 1-6 or 0-100+10, or several of these with commas. */
static gboolean
parse_list (const char *text, unsigned minimum, unsigned maximum, GArray *numbers)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);

  for (char **part = parts; *part; part++) {
    unsigned first, last, step = 1;
    int end = 0;
    if (sscanf (*part, "%u%n", &first, &end) == 1 && !(*part)[end])
      last = first;
    else if (!((sscanf (*part, "%u-%u%n", &first, &last, &end) == 2 && !(*part)[end]) ||
                 (sscanf (*part, "%u-%u+%u%n", &first, &last, &step, &end) == 3 && !(*part)[end])))
      return FALSE;
    if (first < minimum || last > maximum || first > last || step < 1 ||
        (last - first) / step >= LONGEST_LIST)
      return FALSE;
    for (uint64_t number = first; number <= last; number += step)
      g_array_append_vals (numbers, &(unsigned){(unsigned)number}, 1);
  }
  return numbers->len > 0;
}

static gboolean
parse_size (const char *text, uint32_t *width, uint32_t *height, uint32_t *depth)
{
  int end = 0;

  *depth = 1;
  if (!(sscanf (text, "%ux%u%n", width, height, &end) == 2 && !text[end]) &&
      !(sscanf (text, "%ux%ux%u%n", width, height, depth, &end) == 3 && !text[end]))
    return FALSE;
  return *width >= 1 && *height >= 1 && *depth >= 1 && *width <= INT32_MAX &&
         *height <= INT32_MAX / *width && *depth <= INT32_MAX / (*width * *height);
}

/* The parts of a generator's specification, kind:size:key=list:… */
typedef struct Generator {
  const char *kind;
  uint32_t width, height, depth;
  GArray *granularities, *densities, *orders, *numbers;
  unsigned seed;
} Generator;

static void
add_generated (GPtrArray *sources, const Generator *generator, InputSource source)
{
  const char *kind = generator->kind;
  InputSource *copy;

  source.width = generator->width;
  source.height = generator->height;
  source.depth = generator->depth;
  source.seed = generator->seed;
  source.set = source.depth > 1 ? g_strdup_printf ("%s %ux%ux%u", kind, source.width, source.height,
                                      source.depth)
                                : g_strdup_printf ("%s %ux%u", kind, source.width, source.height);
  if (source.kind == INPUT_NOISE)
    source.name = source.seed == DEFAULT_SEED
                      ? g_strdup_printf ("g=%u d=%u", source.granularity, source.density)
                      : g_strdup_printf (
                            "g=%u d=%u seed=%u", source.granularity, source.density, source.seed);
  else if (source.kind == INPUT_HILBERT)
    source.name = g_strdup_printf ("order %u", source.order);
  else if (source.kind == INPUT_TEXT || source.kind == INPUT_BLOBS)
    source.name = g_strdup_printf ("%u", source.number);
  else
    source.name = g_strdup ("");
  copy = g_new (InputSource, 1);
  *copy = source;
  g_ptr_array_add (sources, copy);
}

static void
add_all_generated (GPtrArray *sources, const Generator *generator)
{
  static const struct {
    const char *name;
    int kind;
  } numbered[] = {
      {"text", INPUT_TEXT}, {"blobs", INPUT_BLOBS}, {"full", INPUT_FULL}, {"empty", INPUT_EMPTY}};

  if (g_str_equal (generator->kind, "noise"))
    for (guint g = 0; g < generator->granularities->len; g++)
      for (guint d = 0; d < generator->densities->len; d++)
        add_generated (sources, generator,
            (InputSource){.kind = INPUT_NOISE,
                .granularity = g_array_index (generator->granularities, unsigned, g),
                .density = g_array_index (generator->densities, unsigned, d)});
  else if (g_str_equal (generator->kind, "hilbert"))
    for (guint i = 0; i < generator->orders->len; i++)
      add_generated (sources, generator,
          (InputSource){
              .kind = INPUT_HILBERT, .order = g_array_index (generator->orders, unsigned, i)});
  else
    for (guint k = 0; k < G_N_ELEMENTS (numbered); k++)
      if (g_str_equal (generator->kind, numbered[k].name))
        for (guint i = 0; i < generator->numbers->len; i++)
          add_generated (sources, generator,
              (InputSource){.kind = numbered[k].kind,
                  .number = g_array_index (generator->numbers, unsigned, i)});
}

/* Whether the first part of a specification is a generator's name. */
static gboolean
is_generator (const char *kind)
{
  static const char *const kinds[] = {"noise", "hilbert", "text", "blobs", "full", "empty", NULL};
  return g_strv_contains (kinds, kind);
}

static gboolean
add_generator (GPtrArray *sources, const char *specification, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (specification, ":", -1);
  g_autoptr (GArray) granularities = g_array_new (FALSE, FALSE, sizeof (unsigned));
  g_autoptr (GArray) densities = g_array_new (FALSE, FALSE, sizeof (unsigned));
  g_autoptr (GArray) orders = g_array_new (FALSE, FALSE, sizeof (unsigned));
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (unsigned));
  g_autoptr (GArray) seeds = g_array_new (FALSE, FALSE, sizeof (unsigned));
  Generator generator = {
      parts[0], 128, 128, 128, granularities, densities, orders, numbers, DEFAULT_SEED};
  const gboolean noise = g_str_equal (parts[0], "noise");
  const gboolean hilbert = g_str_equal (parts[0], "hilbert");
  char **part = parts + 1;

  if (!hilbert) {
    if (!*part || !parse_size (*part, &generator.width, &generator.height, &generator.depth))
      return refuse (error, specification, "a size such as 1920x1080 is needed after the colon");
    if (generator.depth > 1 && !noise)
      return refuse (error, specification, "only noise and hilbert have volumes");
    part++;
  }
  for (; *part; part++) {
    if (noise && g_str_has_prefix (*part, "g=")) {
      if (!parse_list (*part + 2, 1, 16, granularities))
        return refuse (error, specification, "granularity is a list of numbers from 1 to 16");
    } else if (noise && g_str_has_prefix (*part, "d=")) {
      if (!parse_list (*part + 2, 0, 100, densities))
        return refuse (error, specification, "density is a list of numbers from 0 to 100");
    } else if (hilbert && g_str_has_prefix (*part, "order=")) {
      if (!parse_list (*part + 6, 1, 6, orders))
        return refuse (error, specification, "order is a list of numbers from 1 to 6");
    } else if (!noise && !hilbert && g_str_has_prefix (*part, "n=")) {
      if (!parse_list (*part + 2, 0, 99999, numbers))
        return refuse (error, specification, "n is a list of numbers from 0 to 99999");
    } else if (!hilbert && g_str_has_prefix (*part, "seed=")) {
      if (!parse_list (*part + 5, 0, UINT32_MAX - 1, seeds))
        return refuse (error, specification, "seed is a list of numbers");
    } else {
      g_autofree char *why = g_strdup_printf ("\"%s\" is not understood", *part);
      return refuse (error, specification, why);
    }
  }

  /* What the papers use, where nothing else is asked for. */
  if (!granularities->len)
    parse_list ("1-16", 1, 16, granularities);
  if (!densities->len)
    parse_list ("0-100", 0, 100, densities);
  if (!orders->len)
    parse_list ("1-6", 1, 6, orders);
  if (!numbers->len)
    parse_list ("0", 0, 0, numbers);
  if (!seeds->len)
    g_array_append_vals (seeds, &(unsigned){DEFAULT_SEED}, 1);
  for (guint i = 0; i < seeds->len; i++) {
    generator.seed = g_array_index (seeds, unsigned, i);
    add_all_generated (sources, &generator);
  }
  return TRUE;
}

static gboolean
is_image_name (const char *name)
{
  static const char *const endings[] = {".png", ".pgm", ".pbm", ".pnm"};
  g_autofree char *lower = g_ascii_strdown (name, -1);

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (lower, endings[i]))
      return TRUE;
  return FALSE;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* The entries of a folder that pass a test, sorted; where there is a files.txt, the names in it
 * instead, in its order. NULL if the folder cannot be read. */
static GPtrArray *
list_folder (const char *folder, gboolean want_folders, GError **error)
{
  g_autofree char *list = g_build_filename (folder, "files.txt", NULL);
  g_autofree char *text = NULL;
  GPtrArray *names;
  const char *name;
  GDir *dir;

  dir = g_dir_open (folder, 0, error);
  if (!dir)
    return NULL;
  names = g_ptr_array_new_with_free_func (g_free);
  if (g_file_get_contents (list, &text, NULL, NULL)) {
    g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
    for (char **line = lines; *line; line++)
      if (*g_strstrip (*line) && want_folders == !is_image_name (*line))
        g_ptr_array_add (names, g_strdup (*line));
  } else {
    while ((name = g_dir_read_name (dir))) {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      if (g_file_test (path, G_FILE_TEST_IS_DIR) ? want_folders
                                                 : !want_folders && is_image_name (name))
        g_ptr_array_add (names, g_strdup (name));
    }
    g_ptr_array_sort (names, compare_names);
  }
  g_dir_close (dir);
  return names;
}

static void
add_path (GPtrArray *sources, int kind, const char *set, const char *name, const char *path,
    uint32_t width, uint32_t height)
{
  InputSource *source = g_new (InputSource, 1);
  *source = (InputSource){.kind = kind, .width = width, .height = height};
  source->set = width ? g_strdup_printf ("%s@%ux%u", set, width, height) : g_strdup (set);
  source->name = g_strdup (name);
  source->path = g_strdup (path);
  g_ptr_array_add (sources, source);
}

static gboolean
add_folder (GPtrArray *sources, const char *specification, const char *folder, uint32_t width,
    uint32_t height, GError **error)
{
  g_autofree char *absolute = g_canonicalize_filename (folder, NULL);
  g_autofree char *set = g_path_get_basename (absolute);
  g_autoptr (GPtrArray) names = list_folder (folder, FALSE, error);
  int kind = INPUT_FILE;

  if (!names)
    return FALSE;
  if (!names->len) {
    g_ptr_array_unref (names);
    names = list_folder (folder, TRUE, error);
    kind = INPUT_SLICES;
    if (!names)
      return FALSE;
  }
  if (!names->len)
    return refuse (error, specification, "the folder holds no PNG, PBM or PGM image");
  for (guint i = 0; i < names->len; i++) {
    const char *name = names->pdata[i];
    g_autofree char *path = g_build_filename (folder, name, NULL);
    add_path (sources, kind, set, name, path, width, height);
  }
  return TRUE;
}

gboolean
input_sources_add (GPtrArray *sources, const char *specification, GError **error)
{
  g_autofree char *kind = g_strndup (specification, strcspn (specification, ":"));
  g_autofree char *path = g_strdup (specification);
  uint32_t width = 0, height = 0, depth = 1;
  char *at;

  if (is_generator (kind))
    return add_generator (sources, specification, error);
  if (g_str_equal (kind, "volume") && specification[6] == ':') {
    g_autofree char *set = g_path_get_basename (specification + 7);
    if (!g_file_test (specification + 7, G_FILE_TEST_IS_DIR))
      return refuse (error, specification, "no such folder");
    add_path (sources, INPUT_SLICES, set, set, specification + 7, 0, 0);
    return TRUE;
  }

  at = strrchr (path, '@');
  if (at && !g_file_test (path, G_FILE_TEST_EXISTS)) {
    if (!parse_size (at + 1, &width, &height, &depth) || depth != 1)
      return refuse (error, specification, "after @ comes the size to scale to, such as 1280x720");
    *at = '\0';
  }
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    return add_folder (sources, specification, path, width, height, error);
  if (g_file_test (path, G_FILE_TEST_EXISTS)) {
    g_autofree char *folder = g_path_get_dirname (path);
    g_autofree char *absolute = g_canonicalize_filename (folder, NULL);
    g_autofree char *set = g_path_get_basename (absolute);
    g_autofree char *name = g_path_get_basename (path);
    add_path (sources, INPUT_FILE, set, name, path, width, height);
    return TRUE;
  }
  return refuse (error, specification, "no such file or folder, and no generator of that name");
}

/* Takes the nearest pixel, which keeps a mask a mask. */
static Input *
scale (const Input *input, uint32_t width, uint32_t height)
{
  Input *scaled = input_new (width, height, 1);

  for (uint32_t y = 0; y < height; y++) {
    const uint8_t *from =
        input->pixels + (size_t)((uint64_t)y * input->height / height) * input->width;
    uint8_t *to = scaled->pixels + (size_t)y * width;
    for (uint32_t x = 0; x < width; x++)
      to[x] = from[(uint64_t)x * input->width / width];
  }
  return scaled;
}

Input *
input_read_image (const char *path, GError **error)
{
  g_autoptr (CclImage) image = ccl_image_read (path, error);

  if (!image)
    return NULL;
  /* One value for foreground, so that every labeller sees the same bytes. */
  Input *input = input_new (image->width, image->height, 1);
  for (size_t i = 0, n = input_n_pixels (input); i < n; i++)
    input->pixels[i] = (image->pixels[i] != 0) != image->is_bitmap ? 255 : 0;
  return input;
}

static Input *
load_slices (const InputSource *source, GError **error)
{
  g_autoptr (GPtrArray) names = list_folder (source->path, FALSE, error);
  g_autoptr (Input) volume = NULL;

  if (!names)
    return NULL;
  if (!names->len) {
    refuse (error, source->path, "the folder holds no PNG, PBM or PGM image");
    return NULL;
  }
  for (guint z = 0; z < names->len; z++) {
    g_autofree char *path = g_build_filename (source->path, names->pdata[z], NULL);
    g_autoptr (Input) slice = input_read_image (path, error);
    if (!slice)
      return NULL;
    if (!volume) {
      if (input_n_pixels (slice) * names->len > INT32_MAX) {
        refuse (error, source->path, "the volume has more voxels than can be labelled");
        return NULL;
      }
      volume = input_new (slice->width, slice->height, names->len);
    }
    if (slice->width != volume->width || slice->height != volume->height) {
      g_set_error (error, INPUT_ERROR, INPUT_ERROR_DAMAGED,
          "%s: a slice of %u×%u pixels in a volume of %u×%u", path, slice->width, slice->height,
          volume->width, volume->height);
      return NULL;
    }
    memcpy (volume->pixels + z * input_n_pixels (slice), slice->pixels, input_n_pixels (slice));
  }
  return g_steal_pointer (&volume);
}

Input *
input_source_load (const InputSource *source, GError **error)
{
  Input *input;

  if (source->kind == INPUT_SLICES)
    return load_slices (source, error);
  if (source->kind == INPUT_FILE) {
    input = input_read_image (source->path, error);
    if (input && source->width) {
      Input *scaled = scale (input, source->width, source->height);
      input_free (input);
      input = scaled;
    }
    return input;
  }

  input = input_new (source->width, source->height, source->depth);
  switch (source->kind) {
  case INPUT_NOISE:
    input_draw_noise (input, source->granularity, source->density, source->seed);
    break;
  case INPUT_HILBERT:
    input_draw_hilbert (input, source->order);
    break;
  case INPUT_TEXT:
    input_draw_text (input, source->number, source->seed);
    break;
  case INPUT_BLOBS:
    input_draw_blobs (input, source->number, source->seed);
    break;
  case INPUT_FULL:
    memset (input->pixels, 255, input_n_pixels (input));
    break;
  default: /* empty already */
    break;
  }
  return input;
}
