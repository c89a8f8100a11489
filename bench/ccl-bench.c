/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ccl-bench: compares labellers with each other, with their peers and with the bandwidth bound. */
#include "machine.h"
#include "modes.h"
#include "problem.h"
#include "results.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum Mode {
  MODE_CHECK,
  MODE_AVERAGE,
  MODE_STEPS,
  MODE_DENSITY,
  MODE_SIZE,
  MODE_TABLE,
  MODE_GROWTH,
  MODE_STREAMS,
  MODE_BLOCKSIZE,
  MODE_MEMORY,
  N_MODES
} Mode;

/* The masks of the repository: where the tool is run, or where it was built. */
#define MASKS "tests/data/masks"

/* The default inputs of each mode. The modes have the papers' names where they have one. */
static const struct {
  const char *name, *summary;
  const char *inputs[40];
} modes[N_MODES] = {
    {"check", "compares every labeller with a flood fill",
        {MASKS, "noise:211x173:g=1-4,16:d=0-100+10", "noise:640x480:g=1:d=50",
            "noise:1x1:g=1:d=0,100", "noise:1x301:g=1:d=50", "noise:301x1:g=1:d=50",
            "noise:2x2:g=1:d=50:seed=1-9", "noise:63x65:g=1:d=30-70+10", "text:620x877",
            "blobs:640x480:n=0-3", "full:257x129", "empty:257x129",
            "noise:37x29x31:g=1-2:d=10-90+20", "hilbert"}},
    {"average", "mean time on each data set", {MASKS}},
    {"steps", "the same, and of each step: allocation, scan, merging, relabelling", {MASKS}},
    {"density", "time against foreground density, for each granularity",
        {"noise:2048x2048:g=1,4,16:d=0-100+10"}},
    {"size", "time against the number of pixels",
        {"noise:32x32:g=1:d=50", "noise:100x100:g=1:d=50", "noise:316x316:g=1:d=50",
            "noise:1000x1000:g=1:d=50", "noise:3162x3162:g=1:d=50", "noise:10000x10000:g=1:d=50"}},
    {"table", "component tables and label maps beside bandwidth bounds, BKE and OpenCV",
        {MASKS, "noise:2048x2048:g=1,4,16:d=10,30,50,70,90"}},
    {"growth", "time a pixel from 720p to 8K and for 16384×16384",
        {MASKS "/vtest200_2160.png@1280x720", MASKS "/vtest200_2160.png@1920x1080",
            MASKS "/vtest200_2160.png@3840x2160", MASKS "/vtest200_2160.png@7680x4320",
            "noise:1280x720:g=4:d=30", "noise:1920x1080:g=4:d=30", "noise:3840x2160:g=4:d=30",
            "noise:7680x4320:g=4:d=30", "empty:1920x1080", "full:16384x16384"}},
    {"streams", "many labellers at once: frames a second, and CPU time at 60 frames/s",
        {MASKS "/vtest200_1080.png"}},
    {"blocksize", "GPU algorithms once for every shape of thread block",
        {MASKS, "noise:2048x2048:g=1,4:d=50"}},
    {"memory", "reads, writes and atomics of each GPU kernel, counted exactly", {MASKS}},
};

/* The command line. */
static struct {
  char *device, *algorithms, *deliver, *connectivity, *threads, *max_components, *csv, *json;
  int repetitions, warm_up;
  double seconds, patience;
  gboolean allocation, no_peers, block_shapes, direct, list, version;
  char **words; /* the mode and its inputs */
} options = {.repetitions = 20, .warm_up = 1, .patience = 10};

static const double default_seconds = 60;

static const GOptionEntry entries[] = {
    {"device", 'd', 0, G_OPTION_ARG_STRING, &options.device,
        "cpu, cuda or all; default: all that are found", "DEVICE"},
    {"algorithms", 'a', 0, G_OPTION_ARG_STRING, &options.algorithms,
        "names with commas (see --list); default: all, but in table and growth the one that auto "
        "selects and the baselines",
        "NAMES"},
    {"deliver", 0, 0, G_OPTION_ARG_STRING, &options.deliver,
        "raw, table, labels (label map and table), with commas; default: all three, but in "
        "average, "
        "steps, density, size and memory the label map in its cheapest form (memory: also tables "
        "of "
        "the one that auto selects and of the baseline)",
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
        "given "
        "up; 0: no limit; default: 10",
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

static unsigned
parse_deliveries (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  unsigned deliveries = 0;

  for (char **word = words; *word; word++)
    if (g_str_equal (*word, "raw"))
      deliveries |= 1u << DELIVER_RAW_LABELS;
    else if (g_str_equal (*word, "table"))
      deliveries |= 1u << DELIVER_TABLE;
    else if (g_str_equal (*word, "labels"))
      deliveries |= 1u << DELIVER_LABELS_AND_TABLE;
    else
      refuse ("--deliver takes raw, table and labels, not \"%s\"", *word);
  return deliveries;
}

static void
parse_connectivity (const char *text, ImplementationSettings *settings)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);

  for (char **word = words; *word; word++)
    if (g_str_equal (*word, "4") || g_str_equal (*word, "8"))
      settings->connectivity = (CclConnectivity)atoi (*word);
    else if (g_str_equal (*word, "6") || g_str_equal (*word, "18") || g_str_equal (*word, "26"))
      settings->volume_connectivity = (unsigned)atoi (*word);
    else
      refuse ("--connectivity takes 4 or 8 for images, 6, 18 or 26 for volumes, not \"%s\"", *word);
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
  ImplementationSettings settings = {
      .cpu = true,
      .cuda = true,
      .peers = !options.no_peers,
      .algorithms = options.algorithms ? g_strsplit (options.algorithms, ",", -1) : NULL,
      .deliveries = parse_deliveries (options.deliver ? options.deliver : "raw,table,labels"),
      .connectivity = CCL_CONNECTIVITY_8,
      .volume_connectivity = 26,
      .allocation = options.allocation,
      .only_direct = options.direct,
      .patience = options.patience,
      .block_shapes = options.block_shapes,
      .threads = parse_threads (options.threads),
  };
  guint64 max_components = 0;

  if (options.device) {
    settings.cpu = !g_str_equal (options.device, "cuda");
    settings.cuda = settings.needs_cuda = !g_str_equal (options.device, "cpu");
    if (settings.cpu && settings.cuda && !g_str_equal (options.device, "all"))
      refuse ("--device takes cpu, cuda or all, not \"%s\"", options.device);
  }
  if (options.connectivity)
    parse_connectivity (options.connectivity, &settings);
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

static Mode
parse_mode (const char *word)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (Mode mode = 0; mode < N_MODES; mode++) {
    if (g_str_equal (word, modes[mode].name))
      return mode;
    g_string_append_printf (names, "%s%s", mode ? ", " : "", modes[mode].name);
  }
  refuse ("unknown mode \"%s\"; the modes are %s", word, names->str);
}

static GPtrArray *
collect_sources (Mode mode, const char *const *words)
{
  GPtrArray *sources = input_sources_new ();

  for (const char *const *word = *words ? words : modes[mode].inputs; *word; word++) {
    g_autofree char *built_from = g_build_filename (BENCH_SOURCE_ROOT, *word, NULL);
    const bool is_elsewhere =
        !*words && g_str_has_prefix (*word, MASKS) && !g_file_test (MASKS, G_FILE_TEST_IS_DIR);
    g_autoptr (GError) error = NULL;
    if (!input_sources_add (sources, is_elsewhere ? built_from : *word, &error))
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
write_text (const char *path, char *text)
{
  g_autoptr (GError) error = NULL;

  if (g_str_equal (path, "-"))
    fputs (text, stdout);
  else if (!g_file_set_contents (path, text, -1, &error))
    problem_report ("%s", error->message);
  g_free (text);
}

/* Runs streams on the first source that loads. */
static Table *
run_streams (
    const GPtrArray *sources, const ImplementationSettings *implementations, double seconds)
{
  g_autoptr (GArray) counts = g_array_new (FALSE, FALSE, sizeof (unsigned));
  const StreamsSettings settings = {counts, MIN (seconds, 30), 60};

  g_array_append_vals (counts, (const unsigned[]){1, 8, 32}, 3);
  for (guint i = 0; i < sources->len; i++) {
    const InputSource *source = sources->pdata[i];
    g_autoptr (GError) error = NULL;
    g_autoptr (Input) input = input_source_load (source, &error);
    if (input)
      return streams (input, implementations, &settings);
    problem_report ("%s", error->message);
  }
  return NULL;
}

/* Adds the devices and peers that take part to the header. */
static void
describe_implementations (GPtrArray *machine, const GPtrArray *implementations)
{
  g_autoptr (GHashTable) makers = g_hash_table_new (g_str_hash, g_str_equal);

#if HAVE_CUDA
  implementation_describe_cuda (machine);
#endif
  for (guint i = 0; i < implementations->len; i++) {
    const Implementation *implementation = implementations->pdata[i];
    if (implementation_is_peer (implementation) &&
        g_hash_table_add (makers, (char *)implementation->maker))
      machine_add (machine, "peer", "%s", implementation->maker);
  }
}

/* The machine, the versions and the command, one line each. */
static void
print_header (const GPtrArray *machine, FILE *file)
{
  for (guint i = 0; i + 1 < machine->len; i += 2)
    fprintf (
        file, "# %s: %s\n", (const char *)machine->pdata[i], (const char *)machine->pdata[i + 1]);
  fputc ('\n', file);
}

/* Fills the settings that the command line leaves open with those of a mode. */
static ImplementationSettings
settings_of_mode (Mode mode, const ImplementationSettings *asked)
{
  ImplementationSettings settings = *asked;

  settings.cheapest_labels = !options.deliver && (mode == MODE_AVERAGE || mode == MODE_STEPS ||
                                                     mode == MODE_DENSITY || mode == MODE_SIZE);
  settings.only_chosen = mode == MODE_TABLE || mode == MODE_GROWTH;
  if (mode == MODE_BLOCKSIZE)
    settings.block_shapes = true;
  if (settings.block_shapes || mode == MODE_MEMORY) { /* GPUs only */
    settings.cheapest_labels = settings.block_shapes || !options.deliver;
    settings.chosen_tables = mode == MODE_MEMORY && !options.deliver;
    settings.needs_cuda = true;
    settings.cpu = false;
  }
  return settings;
}

/* The result of one mode. */
typedef struct Section {
  const char *mode;
  Table *table;
  unsigned repetitions;
  double noisy_share;
} Section;

static void
section_free (Section *section)
{
  table_free (section->table);
  g_free (section);
}

/* Runs a mode that measures. */
static void
run_measurement (
    Mode mode, GPtrArray *sources, GPtrArray *implementations, double seconds, Section *section)
{
  const MeasureSettings settings = {
      .repetitions = (unsigned)options.repetitions,
      .warm_up = (unsigned)options.warm_up,
      .patience = options.patience,
      .steps = mode == MODE_STEPS,
  };
  Results *results = results_measure (sources, implementations, &settings, seconds);

  section->table = results_to_table (results, section->mode);
  section->repetitions = settings.repetitions;
  section->noisy_share = results_noisy_share (results);
  results_free (results);
}

/* Runs one mode; prints its table to the file, if there is one. */
static Section *
run (Mode mode, const char *const *inputs, const ImplementationSettings *asked, double seconds,
    FILE *file)
{
  const ImplementationSettings settings = settings_of_mode (mode, asked);
  GPtrArray *sources = collect_sources (mode, inputs);
  GPtrArray *implementations = implementations_new (&settings);
  Section *section = g_new0 (Section, 1);

  section->mode = modes[mode].name;
  if (mode != MODE_CHECK && mode != MODE_STREAMS && mode != MODE_MEMORY) {
    run_measurement (mode, sources, implementations, seconds, section);
  } else {
    section->table = mode == MODE_CHECK
                         ? check (sources, implementations, &settings, options.seconds)
                     : mode == MODE_MEMORY ? memory (sources, implementations)
                                           : run_streams (sources, &settings, seconds);
    g_ptr_array_unref (sources);
    g_ptr_array_unref (implementations);
  }
  if (file && section->table)
    table_print (section->table, file);
  return section;
}

static char *
to_csv (const GPtrArray *sections)
{
  GString *csv = g_string_new (NULL);
  const Table *before = NULL;

  for (guint i = 0; i < sections->len; i++) {
    const Section *section = sections->pdata[i];
    if (section->table)
      table_append_csv (section->table, before, csv);
    before = section->table;
  }
  return g_string_free (csv, FALSE);
}

/* One object with the members "machine", "problems" and "runs". */
static char *
to_json (const GPtrArray *sections, const GPtrArray *machine)
{
  JsonObject *root = json_object_new (), *description = json_object_new ();
  JsonArray *problems = json_array_new (), *runs = json_array_new ();
  g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), root);

  for (guint i = 0; i + 1 < machine->len; i += 2)
    json_object_set_string_member (description, machine->pdata[i], machine->pdata[i + 1]);
  for (const char *const *line = problems_reported (); *line; line++)
    json_array_add_string_element (problems, *line);
  for (guint i = 0; i < sections->len; i++) {
    const Section *section = sections->pdata[i];
    JsonObject *object = json_object_new ();
    json_object_set_string_member (object, "mode", section->mode);
    json_object_set_int_member (object, "repetitions", section->repetitions);
    json_object_set_double_member (object, "noisy_share", section->noisy_share);
    if (section->table)
      json_object_set_array_member (object, "rows", table_to_json (section->table));
    json_array_add_object_element (runs, object);
  }
  json_object_set_object_member (root, "machine", description);
  json_object_set_array_member (root, "problems", problems);
  json_object_set_array_member (root, "runs", runs);
  json_object_unref (root);
  return json_to_string (node, TRUE);
}

static char *
make_description (void)
{
  GString *text = g_string_new ("Modes; without one: table, growth and streams\n");

  for (Mode mode = 0; mode < N_MODES; mode++) {
    g_string_append_printf (text, "  %-12s %s\n", modes[mode].name, modes[mode].summary);
    if (*modes[mode].inputs)
      g_string_append (text, "               default:");
    for (const char *const *input = modes[mode].inputs; *input; input++)
      g_string_append_printf (text, " %s", *input);
    if (*modes[mode].inputs)
      g_string_append_c (text, '\n');
  }
  g_string_append (text,
      "\n" INPUT_SPECIFICATIONS
      "\nA problem with one input or implementation is reported in one line; the "
      "others run, and the exit status is 1. bench/plot.py prints tables and "
      "draws plots from the JSON.\n");
  return g_string_free (text, FALSE);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("- compares labellers");
  g_autofree char *description = make_description ();
  g_autoptr (GPtrArray) machine = machine_describe (argc, argv);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) sections = g_ptr_array_new_with_free_func ((GDestroyNotify)section_free);
  const Mode usual_modes[] = {MODE_TABLE, MODE_GROWTH, MODE_STREAMS};
  const char *const no_inputs[] = {NULL};
  ImplementationSettings settings;
  GPtrArray *implementations;
  FILE *file = stdout;
  double seconds;
  Mode mode = MODE_TABLE;

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
  seconds = options.seconds > 0 ? options.seconds : default_seconds;
  if (options.list) {
    implementations = implementations_new (&settings);
    list_implementations (implementations);
    g_ptr_array_unref (implementations);
    return problems_count () ? 1 : 0;
  }
  if (options.words)
    mode = parse_mode (options.words[0]);
  implementations = implementations_new (&settings);
  describe_implementations (machine, implementations);
  g_ptr_array_unref (implementations);
  if (g_strcmp0 (options.csv, "-") == 0 || g_strcmp0 (options.json, "-") == 0)
    file = NULL;
  if (file)
    print_header (machine, file);

  if (options.words)
    g_ptr_array_add (
        sections, run (mode, (const char *const *)options.words + 1, &settings, seconds, file));
  for (guint i = 0; !options.words && i < G_N_ELEMENTS (usual_modes); i++)
    g_ptr_array_add (sections,
        run (usual_modes[i], no_inputs, &settings, seconds / G_N_ELEMENTS (usual_modes), file));
  if (options.csv)
    write_text (options.csv, to_csv (sections));
  if (options.json)
    write_text (options.json, to_json (sections, machine));

  g_array_unref (settings.threads);
  g_strfreev (settings.algorithms);
  return problems_count () ? 1 : 0;
}
