/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ccl-bench: compares labellers with each other, with their peers and with the bandwidth bound. */
#include "measure.h"
#include "modes.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The masks of the repository: where the tool is run, or where it was built. */
#define MASKS "tests/data/masks"

/* The modes, with the papers' names where they have one. */
static const struct Mode {
  const char *name, *summary;
  enum {
    CHEAPEST_LABELS = 1, /* without --deliver: the label map in its cheapest form */
    ONLY_CHOSEN = 2,     /* without --algorithms: the one that "auto" selects, and the baselines */
    ONLY_GPU = 4,
    BLOCK_SHAPES = 8,
    STEPS = 16,
    USUAL = 32, /* runs if no mode is named */
  } flags;
  enum { MEASURES, CHECKS, COUNTS, STREAMS } work;
  const char *inputs[16]; /* by default */
} modes[] = {
    {"check", "compares every labeller with a flood fill", 0, CHECKS,
        {MASKS, "noise:211x173:g=1-4,16:d=0-100+10", "noise:640x480:g=1:d=50",
            "noise:1x1:g=1:d=0,100", "noise:1x301:g=1:d=50", "noise:301x1:g=1:d=50",
            "noise:2x2:g=1:d=50:seed=1-9", "noise:63x65:g=1:d=30-70+10", "text:620x877",
            "blobs:640x480:n=0-3", "full:257x129", "empty:257x129",
            "noise:37x29x31:g=1-2:d=10-90+20", "hilbert"}},
    {"average", "mean time on each data set", CHEAPEST_LABELS, MEASURES, {MASKS}},
    {"steps", "the same, and of each step: allocation, scan, merging, relabelling",
        CHEAPEST_LABELS | STEPS, MEASURES, {MASKS}},
    {"density", "time against foreground density, for each granularity", CHEAPEST_LABELS, MEASURES,
        {"noise:2048x2048:g=1,4,16:d=0-100+10"}},
    {"size", "time against the number of pixels", CHEAPEST_LABELS, MEASURES,
        {"noise:32x32:g=1:d=50", "noise:100x100:g=1:d=50", "noise:316x316:g=1:d=50",
            "noise:1000x1000:g=1:d=50", "noise:3162x3162:g=1:d=50", "noise:10000x10000:g=1:d=50"}},
    {"table", "component tables and label maps beside bandwidth bounds, BKE and OpenCV",
        ONLY_CHOSEN | USUAL, MEASURES, {MASKS, "noise:2048x2048:g=1,4,16:d=10,30,50,70,90"}},
    {"growth", "time a pixel from 720p to 8K and for 16384×16384", ONLY_CHOSEN | USUAL, MEASURES,
        {MASKS "/vtest200_2160.png@1280x720", MASKS "/vtest200_2160.png@1920x1080",
            MASKS "/vtest200_2160.png@3840x2160", MASKS "/vtest200_2160.png@7680x4320",
            "noise:1280x720:g=4:d=30", "noise:1920x1080:g=4:d=30", "noise:3840x2160:g=4:d=30",
            "noise:7680x4320:g=4:d=30", "empty:1920x1080", "full:16384x16384"}},
    {"streams", "many labellers at once: frames a second, and CPU time at 60 frames/s", USUAL,
        STREAMS, {MASKS "/vtest200_1080.png"}},
    {"blocksize", "GPU algorithms once for every shape of thread block", ONLY_GPU | BLOCK_SHAPES,
        MEASURES, {MASKS, "noise:2048x2048:g=1,4:d=50"}},
    {"memory", "reads, writes and atomics of each GPU kernel, counted exactly",
        CHEAPEST_LABELS | ONLY_GPU, COUNTS, {MASKS}},
};

/* The command line. */
static struct {
  char *device, *algorithms, *deliver, *connectivity, *threads, *max_components, *csv, *json;
  int repetitions, warm_up;
  double seconds, patience;
  gboolean allocation, no_peers, block_shapes, direct, list, version;
  char **words; /* the mode and its inputs */
} options = {.repetitions = 20, .warm_up = 1, .patience = 10};

static const GOptionEntry entries[] = {
    {"device", 'd', 0, G_OPTION_ARG_STRING, &options.device,
        "cpu, cuda or all; default: all that are found", "DEVICE"},
    {"algorithms", 'a', 0, G_OPTION_ARG_STRING, &options.algorithms,
        "names with commas (see --list); default: all, but in table and growth the one that auto "
        "selects and the baselines",
        "NAMES"},
    {"deliver", 0, 0, G_OPTION_ARG_STRING, &options.deliver,
        "raw, table, labels (label map and table), with commas; default: all three, but in "
        "average, steps, density, size and memory the label map in its cheapest form (memory: also "
        "tables of the one that auto selects and of the baseline)",
        "WHAT"},
    {"connectivity", 'c', 0, G_OPTION_ARG_STRING, &options.connectivity,
        "of images: 4 or 8; of volumes: 6, 18 or 26; one of each with a comma; default: 8,26", "N"},
    {"threads", 't', 0, G_OPTION_ARG_STRING, &options.threads,
        "CPU threads that share a frame, numbers or all, with commas; default: 1,all", "LIST"},
    {"max-components", 0, 0, G_OPTION_ARG_STRING, &options.max_components,
        "rows of the component table, or all; default: all on a CPU, as OpenCV delivers, and 4096 "
        "on a GPU, as the elements do",
        "N"},
    {"allocation", 0, 0, G_OPTION_ARG_NONE, &options.allocation,
        "every run allocates and frees its memory, as the papers define the time", NULL},
    {"repetitions", 'r', 0, G_OPTION_ARG_INT, &options.repetitions,
        "turns of each implementation on each input; default: 20", "N"},
    {"warm-up", 'w', 0, G_OPTION_ARG_INT, &options.warm_up,
        "untimed runs at the start of each turn; default: 1", "N"},
    {"direct", 0, 0, G_OPTION_ARG_NONE, &options.direct, "leaves out iterative GPU algorithms",
        NULL},
    {"seconds", 's', 0, G_OPTION_ARG_DOUBLE, &options.seconds,
        "time limit of the measurement; each implementation takes at least one turn on each input; "
        "default: 60, but no limit in check",
        "S"},
    {"patience", 0, 0, G_OPTION_ARG_DOUBLE, &options.patience,
        "time limit of the first run of an iterative GPU algorithm on an input, which is then "
        "given up; 0: no limit; default: 10",
        "S"},
    {"block-shapes", 0, 0, G_OPTION_ARG_NONE, &options.block_shapes,
        "in check and average: GPU algorithms once for every shape of thread block", NULL},
    {"no-peers", 0, 0, G_OPTION_ARG_NONE, &options.no_peers, "leaves other makers' labellers out",
        NULL},
    {"csv", 0, 0, G_OPTION_ARG_FILENAME, &options.csv,
        "writes every measurement as a line; - is standard output, without a header; default: "
        "standard output, with a header",
        "FILE"},
    {"json", 0, 0, G_OPTION_ARG_FILENAME, &options.json, "the same as JSON", "FILE"},
    {"list", 'l', 0, G_OPTION_ARG_NONE, &options.list, "lists the implementations", NULL},
    {"version", 0, 0, G_OPTION_ARG_NONE, &options.version, "prints the version", NULL},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.words, NULL, "[MODE [INPUT…]]"},
    {NULL},
};

/* Ends the program because of a wrong command line. */
G_NORETURN static void
refuse (const char *format, ...)
{
  va_list arguments;
  g_autofree char *line = NULL;

  va_start (arguments, format);
  line = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_printerr ("ccl-bench: %s\n", line);
  _exit (2);
}

/* A bit for each of the words with commas, by its place among the names. */
static unsigned
parse_words (const char *option, const char *text, const char *const *names)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  unsigned bits = 0;

  for (char **word = words; *word; word++) {
    guint i = 0;
    while (names[i] && !g_str_equal (*word, names[i]))
      i++;
    if (!names[i])
      refuse ("--%s takes %s, not \"%s\"", option, g_strjoinv (", ", (char **)names), *word);
    bits |= 1u << i;
  }
  return bits;
}

static GArray *
parse_threads (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text ? text : "1,all", ",", -1);
  GArray *threads = g_array_new (FALSE, FALSE, sizeof (unsigned));

  for (char **word = words; *word; word++) {
    guint64 number = g_get_num_processors ();
    bool known = false;
    if (!g_str_equal (*word, "all") &&
        !g_ascii_string_to_unsigned (*word, 10, 1, 1024, &number, NULL))
      refuse ("--threads takes numbers from 1 to 1024 and all, not \"%s\"", *word);
    for (guint i = 0; i < threads->len; i++)
      known |= g_array_index (threads, unsigned, i) == number;
    if (!known)
      g_array_append_vals (threads, &(unsigned){(unsigned)number}, 1);
  }
  return threads;
}

static ImplementationSettings
parse_settings (void)
{
  enum { CPU = 1, CUDA = 2 };
  static const char *const devices[] = {"cpu", "cuda", "all", NULL};
  static const char *const deliveries[] = {"-", "raw", "table", "labels", NULL};
  static const char *const connectivities[] = {"4", "8", "6", "18", "26", NULL};
  const unsigned device = parse_words ("device", options.device ? options.device : "all", devices);
  const unsigned connectivity = parse_words (
      "connectivity", options.connectivity ? options.connectivity : "8,26", connectivities);
  ImplementationSettings settings = {
      .cpu = device != CUDA,
      .cuda = device != CPU,
      .needs_cuda = options.device && device != CPU,
      .peers = !options.no_peers,
      .algorithms = options.algorithms ? g_strsplit (options.algorithms, ",", -1) : NULL,
      .deliveries = parse_words (
          "deliver", options.deliver ? options.deliver : "raw,table,labels", deliveries),
      .connectivity = connectivity & 1 ? CCL_CONNECTIVITY_4 : CCL_CONNECTIVITY_8,
      .volume_connectivity = connectivity & 4   ? 6
                             : connectivity & 8 ? 18
                                                : 26,
      .allocation = options.allocation,
      .only_direct = options.direct,
      .patience = options.patience,
      .block_shapes = options.block_shapes,
      .threads = parse_threads (options.threads),
  };
  guint64 max_components = 0;

  if (options.repetitions < 1 || options.warm_up < 0 || !(options.seconds >= 0) ||
      !(options.patience >= 0))
    refuse ("--repetitions takes 1 and more, --warm-up, --seconds and --patience 0 and more");
  if (options.max_components && !g_str_equal (options.max_components, "all") &&
      !g_ascii_string_to_unsigned (
          options.max_components, 10, 1, UINT32_MAX, &max_components, NULL))
    refuse (
        "--max-components takes a number from 1 on, or all, not \"%s\"", options.max_components);
  settings.max_components =
      g_strcmp0 (options.max_components, "all") == 0 ? UINT_MAX : (unsigned)max_components;
  return settings;
}

static const struct Mode *
parse_mode (const char *word)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    if (g_str_equal (word, modes[i].name))
      return &modes[i];
    g_string_append_printf (names, "%s%s", i ? ", " : "", modes[i].name);
  }
  refuse ("unknown mode \"%s\"; the modes are %s", word, names->str);
}

/* The sources of the named inputs, or of the mode's own if there are none. */
static GPtrArray *
collect_sources (const struct Mode *mode, char *const *inputs)
{
  GPtrArray *sources = input_sources_new ();
  const bool has_masks = *inputs || g_file_test (MASKS, G_FILE_TEST_IS_DIR);

  for (const char *const *input = *inputs ? (const char *const *)inputs : mode->inputs; *input;
       input++) {
    g_autofree char *built_from = g_build_filename (BENCH_SOURCE_ROOT, *input, NULL);
    const bool is_elsewhere = !has_masks && g_str_has_prefix (*input, MASKS);
    g_autoptr (GError) error = NULL;
    if (!input_sources_add (sources, is_elsewhere ? built_from : *input, &error))
      problem_report ("%s", error->message);
  }
  return sources;
}

static void
list_implementations (const GPtrArray *implementations)
{
  for (guint i = 0; i < implementations->len; i++) {
    const Implementation *implementation = implementations->pdata[i];
    g_autofree char *title = implementation_title (implementation);
    g_print ("%s (%s)\n", title, implementation->maker);
  }
}

/* Writes a text to a file, or to standard output for "-". */
static void
write_text (const char *path, const char *text)
{
  g_autoptr (GError) error = NULL;

  if (g_str_equal (path, "-"))
    fputs (text, stdout);
  else if (!g_file_set_contents (path, text, -1, &error))
    problem_report ("%s", error->message);
}

/* Adds the devices and peers that take part to the header. */
static void
describe_implementations (JsonObject *machine, const GPtrArray *implementations)
{
  g_autoptr (GString) peers = g_string_new (NULL);

#if HAVE_CUDA
  implementation_describe_cuda (machine);
#endif
  for (guint i = 0; i < implementations->len; i++) {
    const Implementation *implementation = implementations->pdata[i];
    if (implementation_is_peer (implementation) && !strstr (peers->str, implementation->maker))
      g_string_append_printf (peers, "%s%s", peers->len ? ", " : "", implementation->maker);
  }
  if (peers->len)
    machine_add (machine, "peer", "%s", peers->str);
}

/* Fills the settings that the command line leaves open with those of a mode. */
static ImplementationSettings
settings_of_mode (const struct Mode *mode, const ImplementationSettings *asked)
{
  ImplementationSettings settings = *asked;
  const bool is_memory = mode->work == COUNTS;

  settings.only_chosen = mode->flags & ONLY_CHOSEN;
  settings.block_shapes |= (mode->flags & BLOCK_SHAPES) != 0;
  settings.cheapest_labels =
      settings.block_shapes || (mode->flags & CHEAPEST_LABELS && !options.deliver);
  settings.chosen_tables = is_memory && !options.deliver;
  if (settings.block_shapes || mode->flags & ONLY_GPU) {
    settings.needs_cuda = true;
    settings.cpu = false;
  }
  return settings;
}

static Table *
run (const struct Mode *mode, char *const *inputs, const ImplementationSettings *asked,
    double seconds)
{
  const ImplementationSettings settings = settings_of_mode (mode, asked);
  const MeasureSettings measure_settings = {
      .repetitions = (unsigned)options.repetitions,
      .warm_up = (unsigned)options.warm_up,
      .steps = mode->flags & STEPS,
  };
  g_autoptr (GPtrArray) sources = collect_sources (mode, inputs);
  g_autoptr (GPtrArray) implementations = implementations_new (&settings);

  switch (mode->work) {
  case CHECKS:
    return check (sources, implementations, &settings, options.seconds);
  case COUNTS:
    return memory (sources, implementations);
  case STREAMS:
    return streams (sources, &settings, seconds);
  default:
    return measure_sources (
        mode->name, sources, implementations, &measure_settings, seconds, options.patience);
  }
}

/* The rows of a mode as a member of "runs". */
static JsonObject *
run_to_json (const struct Mode *mode, const Table *table)
{
  JsonObject *object = json_object_new ();

  json_object_set_string_member (object, "mode", mode->name);
  json_object_set_int_member (
      object, "repetitions", mode->work == MEASURES ? options.repetitions : 0);
  json_object_set_array_member (object, "rows", json_array_ref (table->rows));
  return object;
}

static void
print_machine_line (JsonObject *machine, const char *name, JsonNode *value, gpointer data)
{
  printf ("# %s: %s\n", name, json_node_get_string (value));
}

static char *
make_description (void)
{
  GString *text = g_string_new ("Modes; without one: table, growth and streams\n");

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    g_autofree char *inputs = g_strjoinv (" ", (char **)modes[i].inputs);
    g_string_append_printf (
        text, "  %-12s %s\n               default: %s\n", modes[i].name, modes[i].summary, inputs);
  }
  g_string_append (text,
      "\n" INPUT_SPECIFICATIONS
      "\nA problem with one input or implementation is reported in one line; the "
      "others run, and the exit status is 1. bench/plot.py prints tables and "
      "draws plots from the JSON.\n");
  return g_string_free (text, FALSE);
}

/* Runs a mode, or all usual ones for NULL, and writes their results. */
static void
run_modes (const struct Mode *named, JsonObject *machine, const ImplementationSettings *settings)
{
  char *const *inputs = options.words ? options.words + 1 : (char *[]){NULL};
  const double seconds = (options.seconds > 0 ? options.seconds : 60) / (named ? 1 : 3);
  const bool prints = g_strcmp0 (options.csv, "-") != 0 && g_strcmp0 (options.json, "-") != 0;
  g_autoptr (JsonNode) document = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new ();
  JsonArray *runs = json_array_new ();
  g_autoptr (GString) csv = g_string_new (NULL);
  Table *before = NULL;

  if (prints) {
    json_object_foreach_member (machine, print_machine_line, NULL);
    putchar ('\n');
  }
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    Table *table;
    if (named ? &modes[i] != named : !(modes[i].flags & USUAL))
      continue;
    table = run (&modes[i], inputs, settings, seconds);
    if (prints)
      table_print (table);
    table_append_csv (table, before, csv);
    json_array_add_object_element (runs, run_to_json (&modes[i], table));
    g_clear_pointer (&before, table_free);
    before = table;
  }
  table_free (before);
  if (options.csv)
    write_text (options.csv, csv->str);
  json_object_set_object_member (root, "machine", json_object_ref (machine));
  json_object_set_array_member (root, "problems", json_array_ref (problems_reported ()));
  json_object_set_array_member (root, "runs", runs);
  json_node_take_object (document, root);
  if (options.json) {
    g_autofree char *text = json_to_string (document, TRUE);
    write_text (options.json, text);
  }
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("- compares labellers");
  g_autofree char *description = make_description ();
  g_autoptr (JsonObject) machine = machine_describe (argc, argv);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) implementations = NULL;
  ImplementationSettings settings;
  const struct Mode *named;

  setlocale (LC_CTYPE, "");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_description (context, description);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    refuse ("%s", error->message);
  if (options.version) {
    g_print ("ccl-bench %s\n", BENCH_VERSION);
    return 0;
  }
  settings = parse_settings ();
  named = options.words ? parse_mode (options.words[0]) : NULL;
  implementations = implementations_new (&settings);
  if (options.list) {
    list_implementations (implementations);
  } else {
    describe_implementations (machine, implementations);
    run_modes (named, machine, &settings);
  }
  g_array_unref (settings.threads);
  g_strfreev (settings.algorithms);
  return problems_count () ? 1 : 0;
}
