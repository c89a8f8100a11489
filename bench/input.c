/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "input.h"

#include <stdio.h>
#include <string.h>

enum {
  LONGEST_LIST = 100000,
  DEFAULT_SEED = 5489, /* of std::mt19937 */
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

char *
input_source_title (const InputSource *source)
{
  return *source->name ? g_strdup_printf ("%s %s", source->set, source->name)
                       : g_strdup (source->set);
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

/* The keys of the generators' specifications, with their ranges and defaults. */
typedef enum Key { KEY_GRANULARITY, KEY_DENSITY, KEY_ORDER, KEY_NUMBER, KEY_SEED, N_KEYS } Key;

static const struct {
  const char *prefix;
  unsigned minimum, maximum;
  const char *usual; /* the papers' values where they have any */
  const char *range; /* the error message if a list is outside */
} keys[N_KEYS] = {
    [KEY_GRANULARITY] = {"g=", 1, 16, "1-16", "granularity is a list of numbers from 1 to 16"},
    [KEY_DENSITY] = {"d=", 0, 100, "0-100", "density is a list of numbers from 0 to 100"},
    [KEY_ORDER] = {"order=", 1, 6, "1-6", "order is a list of numbers from 1 to 6"},
    [KEY_NUMBER] = {"n=", 0, 99999, "0", "n is a list of numbers from 0 to 99999"},
    [KEY_SEED] = {"seed=", 0, UINT32_MAX - 1, G_STRINGIFY (5489), "seed is a list of numbers"},
};

#define HAS(key) (1u << KEY_##key)

static const struct {
  const char *name;
  int kind;
  unsigned keys; /* a bit per key */
} generators[] = {
    {"noise", INPUT_NOISE, HAS (GRANULARITY) | HAS (DENSITY) | HAS (SEED)},
    {"hilbert", INPUT_HILBERT, HAS (ORDER)},
    {"text", INPUT_TEXT, HAS (NUMBER) | HAS (SEED)},
    {"blobs", INPUT_BLOBS, HAS (NUMBER) | HAS (SEED)},
    {"full", INPUT_FULL, 0},
    {"empty", INPUT_EMPTY, 0},
};

/* Adds the source of one combination of the keys' values. */
static void
add_generated (GPtrArray *sources, const char *set, InputSource source, const unsigned values[])
{
  source.granularity = values[KEY_GRANULARITY];
  source.density = values[KEY_DENSITY];
  source.seed = values[KEY_SEED];
  source.number = values[source.kind == INPUT_HILBERT ? KEY_ORDER : KEY_NUMBER];
  source.set = g_strdup (set);
  if (source.kind == INPUT_NOISE && source.seed == DEFAULT_SEED)
    source.name = g_strdup_printf ("g=%u d=%u", source.granularity, source.density);
  else if (source.kind == INPUT_NOISE)
    source.name =
        g_strdup_printf ("g=%u d=%u seed=%u", source.granularity, source.density, source.seed);
  else if (source.kind == INPUT_HILBERT)
    source.name = g_strdup_printf ("order %u", source.number);
  else if (source.kind == INPUT_TEXT || source.kind == INPUT_BLOBS)
    source.name = g_strdup_printf ("%u", source.number);
  else
    source.name = g_strdup ("");
  g_ptr_array_add (sources, g_memdup2 (&source, sizeof source));
}

/* Adds all combinations of the lists' numbers, from a key on; the last key varies fastest. */
static void
add_combinations (GPtrArray *sources, const char *set, const InputSource *source, GArray **lists,
    unsigned values[N_KEYS], Key key)
{
  static const Key order[] = {KEY_SEED, KEY_GRANULARITY, KEY_DENSITY, KEY_ORDER, KEY_NUMBER};

  if (key == N_KEYS) {
    add_generated (sources, set, *source, values);
    return;
  }
  values[order[key]] = 0;
  for (guint i = 0; i < MAX (1, lists[order[key]]->len); i++) {
    if (lists[order[key]]->len)
      values[order[key]] = g_array_index (lists[order[key]], unsigned, i);
    add_combinations (sources, set, source, lists, values, key + 1);
  }
}

/* Reads the parts key=list of a specification into the lists of the keys that a generator has. */
static gboolean
parse_keys (
    char **parts, unsigned allowed, GArray **lists, const char *specification, GError **error)
{
  for (; *parts; parts++) {
    Key key = 0;
    while (key < N_KEYS && !(allowed >> key & 1 && g_str_has_prefix (*parts, keys[key].prefix)))
      key++;
    if (key == N_KEYS) {
      g_autofree char *reason = g_strdup_printf ("\"%s\" is not understood", *parts);
      return refuse (error, specification, reason);
    }
    if (!parse_list (
            *parts + strlen (keys[key].prefix), keys[key].minimum, keys[key].maximum, lists[key]))
      return refuse (error, specification, keys[key].range);
  }
  for (Key key = 0; key < N_KEYS; key++)
    if (allowed >> key & 1 && !lists[key]->len)
      parse_list (keys[key].usual, keys[key].minimum, keys[key].maximum, lists[key]);
  return TRUE;
}

static gboolean
add_generator (GPtrArray *sources, guint generator, const char *specification, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (specification, ":", -1);
  InputSource source = {
      .kind = generators[generator].kind, .width = 128, .height = 128, .depth = 128};
  g_autofree char *set = NULL;
  GArray *lists[N_KEYS];
  unsigned values[N_KEYS];
  char **rest = parts + 1;
  gboolean ok;

  if (source.kind != INPUT_HILBERT) {
    if (!*rest || !parse_size (*rest, &source.width, &source.height, &source.depth))
      return refuse (error, specification, "a size such as 1920x1080 is needed after the colon");
    if (source.depth > 1 && source.kind != INPUT_NOISE)
      return refuse (error, specification, "only noise and hilbert offer volumes");
    rest++;
  }
  set = source.depth > 1
            ? g_strdup_printf ("%s %ux%ux%u", parts[0], source.width, source.height, source.depth)
            : g_strdup_printf ("%s %ux%u", parts[0], source.width, source.height);
  for (Key key = 0; key < N_KEYS; key++)
    lists[key] = g_array_new (FALSE, FALSE, sizeof (unsigned));
  ok = parse_keys (rest, generators[generator].keys, lists, specification, error);
  if (ok)
    add_combinations (sources, set, &source, lists, values, 0);
  for (Key key = 0; key < N_KEYS; key++)
    g_array_unref (lists[key]);
  return ok;
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

/* The images or the folders in a folder, sorted; if it has a files.txt, the names in that file, in
 * its order. NULL if the folder cannot be read. */
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

  for (guint i = 0; i < G_N_ELEMENTS (generators); i++)
    if (g_str_equal (kind, generators[i].name))
      return add_generator (sources, i, specification, error);
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
      return refuse (error, specification, "a size such as 1280x720 is needed after @");
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
    input_draw_hilbert (input, source->number);
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
