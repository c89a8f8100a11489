/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "input.h"

#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LIST = 100000 };

static const struct {
  const char *prefix;
  unsigned minimum, maximum;
  const char *usual; /* the papers' values where they have any */
  const char *range; /* the error message if a list is outside */
} keys[N_KEYS] = {
    [KEY_SEED] = {"seed=", 0, UINT32_MAX - 1, "5489", "seed is a list of numbers"},
    [KEY_GRANULARITY] = {"g=", 1, 16, "1-16", "granularity is a list of numbers from 1 to 16"},
    [KEY_DENSITY] = {"d=", 0, 100, "0-100", "density is a list of numbers from 0 to 100"},
    [KEY_ORDER] = {"order=", 1, 6, "1-6", "order is a list of numbers from 1 to 6"},
    [KEY_NUMBER] = {"n=", 0, 99999, "0", "n is a list of numbers from 0 to 99999"},
};

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
refuse (GError **error, const char *specification, const char *reason)
{
  g_set_error (
      error, INPUT_ERROR, INPUT_ERROR_SPECIFICATION, "input \"%s\": %s", specification, reason);
  return FALSE;
}

/* A list of numbers: 5 or 1,4,16 or 1-6 or 0-100+10, or several of these with commas. */
static gboolean
parse_list (const char *text, Key key, GArray *numbers)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);

  for (char **part = parts; *part; part++) {
    unsigned first, last, step = 1;
    int end[3] = {0};
    const int n = sscanf (*part, "%u%n-%u%n+%u%n", &first, &end[0], &last, &end[1], &step, &end[2]);
    if (n < 1 || (*part)[end[n - 1]])
      return FALSE;
    if (n == 1)
      last = first;
    if (first < keys[key].minimum || last > keys[key].maximum || first > last || step < 1 ||
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
  int end[2] = {0};
  const int n = sscanf (text, "%ux%u%nx%u%n", width, height, &end[0], depth, &end[1]);

  if (n == 2)
    *depth = 1;
  return n >= 2 && !text[end[n - 2]] && *width >= 1 && *height >= 1 && *depth >= 1 &&
         *width <= INT32_MAX && *height <= INT32_MAX / *width &&
         *depth <= INT32_MAX / (*width * *height);
}

/* The name of a generated input inside its set. */
static char *
name_of_values (const InputSource *source)
{
  const unsigned *values = source->values;
  g_autofree char *seed = NULL;

  if (values[KEY_ORDER])
    return g_strdup_printf ("order %u", values[KEY_ORDER]);
  if (!values[KEY_GRANULARITY])
    return source->generator->keys ? g_strdup_printf ("%u", values[KEY_NUMBER]) : g_strdup ("");
  seed = g_strdup_printf (" seed=%u", values[KEY_SEED]);
  return g_strdup_printf ("g=%u d=%u%s", values[KEY_GRANULARITY], values[KEY_DENSITY],
      values[KEY_SEED] == strtoul (keys[KEY_SEED].usual, NULL, 10) ? "" : seed);
}

/* Adds all combinations of the lists' numbers, from a key on; the last key varies fastest. */
static void
add_combinations (
    GPtrArray *sources, const char *set, InputSource *source, GArray *const *lists, Key key)
{
  for (guint i = 0; key < N_KEYS && i < lists[key]->len; i++) {
    source->values[key] = g_array_index (lists[key], unsigned, i);
    add_combinations (sources, set, source, lists, key + 1);
  }
  if (key == N_KEYS) {
    InputSource *added = g_memdup2 (source, sizeof *source);
    added->set = g_strdup (set);
    added->name = name_of_values (source);
    g_ptr_array_add (sources, added);
  }
}

/* Fills the lists of the keys that a generator uses from the parts key=list of a specification;
 * the other lists hold 0. */
static gboolean
parse_keys (
    char **parts, unsigned allowed, GArray *const *lists, const char *specification, GError **error)
{
  for (; *parts; parts++) {
    Key key = 0;
    while (key < N_KEYS && !(allowed >> key & 1 && g_str_has_prefix (*parts, keys[key].prefix)))
      key++;
    if (key == N_KEYS) {
      g_autofree char *reason = g_strdup_printf ("\"%s\" is not understood", *parts);
      return refuse (error, specification, reason);
    }
    if (!parse_list (*parts + strlen (keys[key].prefix), key, lists[key]))
      return refuse (error, specification, keys[key].range);
  }
  for (Key key = 0; key < N_KEYS; key++)
    if (!(allowed >> key & 1))
      g_array_set_size (lists[key], 1);
    else if (!lists[key]->len)
      parse_list (keys[key].usual, key, lists[key]);
  return TRUE;
}

static gboolean
add_generated (
    GPtrArray *sources, const Generator *generator, const char *specification, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (specification, ":", -1);
  const bool has_size = !(generator->keys >> KEY_ORDER & 1);
  InputSource source = {.generator = generator, .width = 128, .height = 128, .depth = 128};
  g_autoptr (GString) set = g_string_new (generator->name);
  GArray *lists[N_KEYS];
  gboolean ok;

  if (has_size &&
      (!parts[1] || !parse_size (parts[1], &source.width, &source.height, &source.depth)))
    return refuse (error, specification, "a size such as 1920x1080 is needed after the colon");
  if (has_size && source.depth > 1 && !(generator->keys >> KEY_GRANULARITY & 1))
    return refuse (error, specification, "only noise and hilbert offer volumes");
  g_string_append_printf (set, " %ux%u", source.width, source.height);
  if (source.depth > 1)
    g_string_append_printf (set, "x%u", source.depth);
  for (Key key = 0; key < N_KEYS; key++)
    lists[key] = g_array_new (FALSE, TRUE, sizeof (unsigned));
  ok = parse_keys (parts + 1 + has_size, generator->keys, lists, specification, error);
  if (ok)
    add_combinations (sources, set->str, &source, lists, 0);
  for (Key key = 0; key < N_KEYS; key++)
    g_array_unref (lists[key]);
  return ok;
}

static gboolean
is_image_name (const char *name)
{
  return g_regex_match_simple ("\\.(png|p[bgn]m)$", name, G_REGEX_CASELESS, 0);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* The images or the folders in a folder, sorted; if it has a files.txt, the names in that file, in
 * its order. NULL if the folder cannot be read. */
static GPtrArray *
list_folder (const char *folder, gboolean want_folders, GError **error)
{
  g_autofree char *list = g_build_filename (folder, "files.txt", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GDir) dir = g_dir_open (folder, 0, error);
  GPtrArray *names;
  const char *name;

  if (!dir)
    return NULL;
  names = g_ptr_array_new_with_free_func (g_free);
  if (g_file_get_contents (list, &text, NULL, NULL)) {
    g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
    for (char **line = lines; *line; line++)
      if (*g_strstrip (*line) && want_folders == !is_image_name (*line))
        g_ptr_array_add (names, g_strdup (*line));
    return names;
  }
  while ((name = g_dir_read_name (dir))) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    const gboolean is_folder = g_file_test (path, G_FILE_TEST_IS_DIR);
    if (is_folder == want_folders && (is_folder || is_image_name (name)))
      g_ptr_array_add (names, g_strdup (name));
  }
  g_ptr_array_sort (names, compare_names);
  return names;
}

/* Adds an image or a folder of slices; size: "" or "@1280x720". */
static void
add_path (GPtrArray *sources, const char *path, const char *folder, const char *size,
    uint32_t width, uint32_t height)
{
  g_autofree char *absolute = g_canonicalize_filename (folder, NULL);
  g_autofree char *base = g_path_get_basename (absolute);
  InputSource *source = g_new0 (InputSource, 1);

  *source = (InputSource){
      .set = g_strconcat (base, size, NULL),
      .name = g_path_get_basename (path),
      .path = g_strdup (path),
      .width = width,
      .height = height,
  };
  g_ptr_array_add (sources, source);
}

gboolean
input_sources_add (GPtrArray *sources, const char *specification, GError **error)
{
  const char *colon = strchr (specification, ':');
  g_autofree char *kind = g_strndup (specification, strcspn (specification, ":"));
  g_autofree char *path = g_strdup (specification);
  g_autofree char *folder = NULL, *size = NULL;
  g_autoptr (GPtrArray) names = NULL;
  uint32_t width = 0, height = 0, depth = 1;
  char *at = strrchr (path, '@');

  for (const Generator *generator = generators; generator->name; generator++)
    if (g_str_equal (kind, generator->name))
      return add_generated (sources, generator, specification, error);
  if (colon && g_str_equal (kind, "volume")) {
    if (!g_file_test (colon + 1, G_FILE_TEST_IS_DIR))
      return refuse (error, specification, "no such folder");
    add_path (sources, colon + 1, colon + 1, "", 0, 0);
    return TRUE;
  }

  if (at && !g_file_test (path, G_FILE_TEST_EXISTS)) {
    if (!parse_size (at + 1, &width, &height, &depth) || depth != 1)
      return refuse (error, specification, "a size such as 1280x720 is needed after @");
    *at = '\0';
  }
  size = width ? g_strdup_printf ("@%ux%u", width, height) : g_strdup ("");
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return refuse (error, specification, "no such file or folder, and no generator of that name");
  if (!g_file_test (path, G_FILE_TEST_IS_DIR)) {
    folder = g_path_get_dirname (path);
    add_path (sources, path, folder, size, width, height);
    return TRUE;
  }
  for (int want_folders = 0; want_folders < 2 && !(names && names->len); want_folders++) {
    g_clear_pointer (&names, g_ptr_array_unref);
    if (!(names = list_folder (path, want_folders, error)))
      return FALSE;
  }
  if (!names->len)
    return refuse (error, specification, "the folder holds no PNG, PBM or PGM image");
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *inside = g_build_filename (path, names->pdata[i], NULL);
    add_path (sources, inside, path, size, width, height);
  }
  return TRUE;
}

/* Nearest neighbour, so that a mask stays binary. */
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
  g_autoptr (Input) input = NULL;

  if (source->generator) {
    input = input_new (source->width, source->height, source->depth);
    if (source->generator->draw)
      source->generator->draw (input, source->values);
    return g_steal_pointer (&input);
  }
  if (g_file_test (source->path, G_FILE_TEST_IS_DIR))
    return load_slices (source, error);
  input = input_read_image (source->path, error);
  return input && source->width ? scale (input, source->width, source->height)
                                : g_steal_pointer (&input);
}

guint
inputs_visit (const GPtrArray *sources, InputVisitor visit, gpointer data)
{
  gboolean goes_on = TRUE;
  guint i;

  for (i = 0; i < sources->len && goes_on; i++) {
    const InputSource *source = sources->pdata[i];
    g_autofree char *title =
        g_strconcat (source->set, *source->name ? " " : "", source->name, NULL);
    g_autoptr (GError) error = NULL;
    g_autoptr (Input) input = NULL;

    progress_show (i, sources->len, title);
    input = input_source_load (source, &error);
    if (input)
      goes_on = visit (input, source, title, data);
    else
      problem_report ("%s", error->message);
  }
  progress_show (sources->len, sources->len, "");
  return i;
}
