/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ccl-bench: compares labellers with each other, with their peers and with what memory allows. */
#include "check.h"
#include "contender.h"
#if HAVE_CUDA
#include "contender-cuda.h"
#endif
#include "document.h"
#include "machine.h"
#include "memory.h"
#include "plot.h"
#include "problem.h"
#include "recorded.h"
#include "report.h"
#include "streams.h"

#include <errno.h>
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
  MODE_PLOT,
  N_MODES
} Mode;

/* The masks of the repository: where the tool is run, or where it was built. */
#define MASKS "tests/data/masks"

/* What each mode labels when no input is named; the names are the papers' where they have one. */
static const struct {
  const char *name, *summary;
  const char *inputs[40];
} modes[N_MODES] = {
    {"check", "compares every labeller with the naive reference",
        {MASKS, "noise:211x173:g=1-4,16:d=0-100+10", "noise:640x480:g=1:d=50",
            "noise:1x1:g=1:d=0,100", "noise:1x301:g=1:d=50", "noise:301x1:g=1:d=50",
            "noise:2x2:g=1:d=50:seed=1-9", "noise:63x65:g=1:d=30-70+10", "text:620x877",
            "blobs:640x480:n=0-3", "full:257x129", "empty:257x129",
            "noise:37x29x31:g=1-2:d=10-90+20", "hilbert"}},
    {"average", "mean time on each data set", {MASKS}},
    {"steps", "the same, taken apart: allocation, scan, merging, relabelling", {MASKS}},
    {"density", "time against foreground density, for each granularity",
        {"noise:2048x2048:g=1,4,16:d=0-100+10"}},
    {"size", "time against the number of pixels",
        {"noise:32x32:g=1:d=50", "noise:100x100:g=1:d=50", "noise:316x316:g=1:d=50",
            "noise:1000x1000:g=1:d=50", "noise:3162x3162:g=1:d=50", "noise:10000x10000:g=1:d=50"}},
    {"table", "component tables and label maps against floors, BKE and OpenCV",
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
    {"plot",
        "draws once more, with --plot, what runs of other modes have written with --json; "
        "inputs: these files",
        {NULL}},
};

/* The command line. */
static struct {
  char *device, *algorithms, *deliver, *connectivity, *threads, *max_components, *csv, *json, *plot;
  int repetitions, warm_up;
  double seconds, patience;
  gboolean allocation, no_peers, block_shapes, direct, list, version;
  char **words; /* the mode and its inputs */
} options = {.repetitions = 20, .warm_up = 1, .patience = 10};

static const double default_seconds = 60;

static const GOptionEntry entries[] = {
    {"device", 'd', 0, G_OPTION_ARG_STRING, &options.device,
        "cpu, cuda or all; default: all that there are", "DEVICE"},
    {"algorithms", 'a', 0, G_OPTION_ARG_STRING, &options.algorithms,
        "names with commas (see --list); default: all, but in table and growth what auto picks, "
        "and the baselines",
        "NAMES"},
    {"deliver", 0, 0, G_OPTION_ARG_STRING, &options.deliver,
        "raw, table, labels (which is the label map and the table), with commas; default: all "
        "three, but in average, steps, density, size and memory the label map as it costs least "
        "(memory: and tables of what auto picks, and of the baseline)",
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
        "turns of each contender on each input; default: 20", "N"},
    {"warm-up", 'w', 0, G_OPTION_ARG_INT, &options.warm_up,
        "untimed runs at the start of each turn; default: 1", "N"},
    {"direct", 0, 0, G_OPTION_ARG_NONE, &options.direct,
        "leaves out GPU algorithms that ask the device again and again whether to go on", NULL},
    {"seconds", 's', 0, G_OPTION_ARG_DOUBLE, &options.seconds,
        "about how long to measure at most; each contender has one turn on each input all the "
        "same; default: 60, but as long as it takes in check",
        "S"},
    {"patience", 0, 0, G_OPTION_ARG_DOUBLE, &options.patience,
        "how long the first run of an iterative GPU algorithm may take on an input before it is "
        "given up; 0: as long as it takes; default: 10",
        "S"},
    {"block-shapes", 0, 0, G_OPTION_ARG_NONE, &options.block_shapes,
        "in check and average: GPU algorithms once for every shape of thread block", NULL},
    {"no-peers", 0, 0, G_OPTION_ARG_NONE, &options.no_peers, "leaves other makers' labellers out",
        NULL},
    {"csv", 0, 0, G_OPTION_ARG_FILENAME, &options.csv,
        "writes every measurement as a line; - is standard output, instead of the tables", "FILE"},
    {"json", 0, 0, G_OPTION_ARG_FILENAME, &options.json, "the same as JSON", "FILE"},
    {"plot", 0, 0, G_OPTION_ARG_FILENAME, &options.plot,
        "draws PNG and SVG files there, with gnuplot", "FOLDER"},
    {"list", 'l', 0, G_OPTION_ARG_NONE, &options.list, "lists the contenders and ends", NULL},
    {"version", 0, 0, G_OPTION_ARG_NONE, &options.version, "prints the version and ends", NULL},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.words, NULL, "[MODE [INPUT…]]"},
    {NULL},
};

/* Ends the program at once: the command line makes no sense, so there is nothing to run, and
 * nothing to write. */
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
parse_connectivity (const char *text, ContenderSettings *settings)
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

static ContenderSettings
parse_settings (void)
{
  ContenderSettings settings = {
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
  refuse ("mode \"%s\": there is none of that name, but %s", word, names->str);
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
      problem_tell ("%s", error->message);
  }
  return sources;
}

static void
list_contenders (const GPtrArray *contenders)
{
  for (guint i = 0; i < contenders->len; i++) {
    const Contender *contender = contenders->pdata[i];
    g_autofree char *title = contender_title (contender);
    g_print ("%s (%s)\n", title, contender->maker);
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
    problem_tell ("%s", error->message);
  g_free (text);
}

/* The tables of a mode. */
static void
report (Mode mode, const Results *results, FILE *file)
{
  const bool per_pixel = mode == MODE_GROWTH;

  switch (mode) {
  case MODE_STEPS:
    report_steps (results, file);
    break;
  case MODE_TABLE:
    report_ratios (results, file);
    /* fall through */
  case MODE_DENSITY:
  case MODE_SIZE:
  case MODE_GROWTH:
    report_matrices (results, per_pixel, file);
    break;
  default:
    report_average (results, file);
    break;
  }
  report_limits (results, file);
  report_noise (results, file);
}

/* Runs streams on the first source that loads. */
static Grid *
run_streams (const GPtrArray *sources, const ContenderSettings *contenders, double seconds)
{
  g_autoptr (GArray) counts = g_array_new (FALSE, FALSE, sizeof (unsigned));
  const StreamsSettings settings = {counts, MIN (seconds, 30), 60};

  g_array_append_vals (counts, (const unsigned[]){1, 8, 32}, 3);
  for (guint i = 0; i < sources->len; i++) {
    const InputSource *source = sources->pdata[i];
    g_autofree char *name = input_source_title (source);
    g_autoptr (GError) error = NULL;
    g_autoptr (Input) input = input_source_load (source, &error);
    if (input)
      return streams (input, name, contenders, &settings);
    problem_tell ("%s", error->message);
  }
  return NULL;
}

/* The peers and devices that take part, for the header. */
static void
describe_contenders (GPtrArray *machine, const GPtrArray *contenders)
{
  g_autoptr (GHashTable) makers = g_hash_table_new (g_str_hash, g_str_equal);

#if HAVE_CUDA
  contender_cuda_describe (machine);
#endif
  for (guint i = 0; i < contenders->len; i++) {
    const Contender *contender = contenders->pdata[i];
    if (contender_is_peer (contender) && g_hash_table_add (makers, (char *)contender->maker))
      machine_add (machine, "peer", "%s", contender->maker);
  }
}

/* What a mode compares where the command line leaves it open. */
static ContenderSettings
settings_of_mode (Mode mode, const ContenderSettings *asked)
{
  ContenderSettings settings = *asked;

  settings.cheapest_labels = !options.deliver && (mode == MODE_AVERAGE || mode == MODE_STEPS ||
                                                     mode == MODE_DENSITY || mode == MODE_SIZE);
  settings.only_chosen = mode == MODE_TABLE || mode == MODE_GROWTH;
  if (mode == MODE_BLOCKSIZE)
    settings.block_shapes = true;
  if (settings.block_shapes || mode == MODE_MEMORY) { /* a matter of GPUs only */
    settings.cheapest_labels = settings.block_shapes || !options.deliver;
    settings.chosen_tables = mode == MODE_MEMORY && !options.deliver;
    settings.needs_cuda = true;
    settings.cpu = false;
  }
  return settings;
}

/* Runs one mode; its tables go to the file, if there is one, as soon as they are there. */
static Section *
run (Mode mode, const char *const *inputs, const ContenderSettings *asked, double seconds,
    FILE *file)
{
  const ContenderSettings settings = settings_of_mode (mode, asked);
  const MeasureSettings measure_settings = {
      .repetitions = (unsigned)options.repetitions,
      .warm_up = (unsigned)options.warm_up,
      .patience = options.patience,
      .steps = mode == MODE_STEPS,
  };
  GPtrArray *sources = collect_sources (mode, inputs);
  GPtrArray *contenders = contenders_new (&settings);
  Section *section = g_new0 (Section, 1);

  section->mode = modes[mode].name;
  if (mode == MODE_CHECK || mode == MODE_STREAMS || mode == MODE_MEMORY) {
    section->grid = mode == MODE_CHECK    ? check (sources, contenders, &settings, options.seconds)
                    : mode == MODE_MEMORY ? memory (sources, contenders)
                                          : run_streams (sources, &settings, seconds);
    if (file && section->grid)
      grid_print (section->grid, file);
    g_ptr_array_unref (sources);
    g_ptr_array_unref (contenders);
    return section;
  }
  section->results = results_measure (sources, contenders, &measure_settings, seconds);
  if (file && section->results->inputs->len && section->results->contenders->len)
    report (mode, section->results, file);
  if (options.plot)
    plot_results (section->results, section->mode, options.plot);
  return section;
}

/* Draws the results that files hold. */
static void
plot_recorded (const char *const *files)
{
  if (!options.plot || !*files)
    refuse ("plot takes files that --json has written, and the folder to draw in with --plot");
  for (; *files; files++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GPtrArray) sections = recorded_read (*files, &error);
    if (!sections)
      problem_tell ("%s", error->message);
    else if (!sections->len)
      problem_tell ("%s: holds nothing to draw", *files);
    for (guint i = 0; sections && i < sections->len; i++) {
      const Section *section = sections->pdata[i];
      plot_results (section->results, section->mode, options.plot);
    }
  }
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
  g_string_append (text, "\n" INPUT_SPECIFICATIONS
                         "\nProblems with one input or contender are told in one line each; the "
                         "rest runs, and the exit status is 1.\n");
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
  ContenderSettings settings;
  GPtrArray *contenders;
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
    contenders = contenders_new (&settings);
    list_contenders (contenders);
    g_ptr_array_unref (contenders);
    return problems_count () ? 1 : 0;
  }
  if (options.words)
    mode = parse_mode (options.words[0]);
  if (mode == MODE_PLOT) {
    plot_recorded ((const char *const *)options.words + 1);
    g_array_unref (settings.threads);
    g_strfreev (settings.algorithms);
    return problems_count () ? 1 : 0;
  }
  contenders = contenders_new (&settings);
  describe_contenders (machine, contenders);
  g_ptr_array_unref (contenders);
  if (g_strcmp0 (options.csv, "-") == 0 || g_strcmp0 (options.json, "-") == 0)
    file = NULL;
  if (file)
    report_header (machine, file);

  if (options.words)
    g_ptr_array_add (
        sections, run (mode, (const char *const *)options.words + 1, &settings, seconds, file));
  for (guint i = 0; !options.words && i < G_N_ELEMENTS (usual_modes); i++)
    g_ptr_array_add (sections,
        run (usual_modes[i], no_inputs, &settings, seconds / G_N_ELEMENTS (usual_modes), file));
  if (options.csv)
    write_text (options.csv, document_to_csv (sections));
  if (options.json)
    write_text (options.json, document_to_json (sections, machine));

  g_array_unref (settings.threads);
  g_strfreev (settings.algorithms);
  return problems_count () ? 1 : 0;
}
