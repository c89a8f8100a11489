/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ccl-bench: compares labellers with each other, with their peers and with what memory allows. */
#include "check.h"
#include "contender.h"
#include "machine.h"
#include "plot.h"
#include "problem.h"
#include "report.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

typedef enum Mode {
  MODE_CHECK,
  MODE_AVERAGE,
  MODE_STEPS,
  MODE_DENSITY,
  MODE_SIZE,
  MODE_TABLE,
  MODE_GROWTH,
  N_MODES
} Mode;

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
            "noise:7680x4320:g=4:d=30", "full:16384x16384"}},
};

/* The command line. */
static struct {
  char *device, *algorithms, *deliver, *threads, *max_components, *csv, *json, *plot;
  int connectivity, volume_connectivity, repetitions, warm_up;
  double seconds;
  gboolean allocation, no_peers, list, version;
  char **words; /* the mode and its inputs */
} options = {
    .connectivity = 8, .volume_connectivity = 26, .repetitions = 20, .warm_up = 1, .seconds = 60};

static const GOptionEntry entries[] = {
    {"device", 'd', 0, G_OPTION_ARG_STRING, &options.device,
        "cpu, cuda or all; default: all that there are", "DEVICE"},
    {"algorithms", 'a', 0, G_OPTION_ARG_STRING, &options.algorithms,
        "names with commas; default: all (see --list)", "NAMES"},
    {"deliver", 0, 0, G_OPTION_ARG_STRING, &options.deliver,
        "raw, table, labels (which is the label map and the table), with commas; default: all",
        "WHAT"},
    {"connectivity", 'c', 0, G_OPTION_ARG_INT, &options.connectivity,
        "of images: 4 or 8; default: 8", "N"},
    {"volume-connectivity", 0, 0, G_OPTION_ARG_INT, &options.volume_connectivity,
        "of volumes: 6, 18 or 26; default: 26", "N"},
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
    {"seconds", 's', 0, G_OPTION_ARG_DOUBLE, &options.seconds,
        "about how long to measure at most; default: 60", "S"},
    {"no-peers", 0, 0, G_OPTION_ARG_NONE, &options.no_peers, "leaves other makers' labellers out",
        NULL},
    {"csv", 0, 0, G_OPTION_ARG_FILENAME, &options.csv,
        "writes every measurement as a line; - is standard output, instead of the tables", "FILE"},
    {"json", 0, 0, G_OPTION_ARG_FILENAME, &options.json, "the same as JSON", "FILE"},
    {"plot", 0, 0, G_OPTION_ARG_FILENAME, &options.plot,
        "draws PNG and SVG files there, with gnuplot", "FOLDER"},
    {"list", 'l', 0, G_OPTION_ARG_NONE, &options.list, "lists the contenders and ends", NULL},
    {"version", 0, 0, G_OPTION_ARG_NONE, &options.version, "prints the version and ends", NULL},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.words, NULL, "MODE [INPUT…]"},
    {NULL},
};

/* Ends the program: the command line makes no sense, so there is nothing to run. */
G_NORETURN static void
refuse (const char *format, ...)
{
  va_list arguments;
  g_autofree char *line = NULL;

  va_start (arguments, format);
  line = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_printerr ("ccl-bench: %s\n", line);
  exit (2);
}

static unsigned
parse_deliveries (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text ? text : "raw,table,labels", ",", -1);
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
      .peers = !options.no_peers,
      .algorithms = options.algorithms ? g_strsplit (options.algorithms, ",", -1) : NULL,
      .deliveries = parse_deliveries (options.deliver),
      .connectivity = (CclConnectivity)options.connectivity,
      .volume_connectivity = (unsigned)options.volume_connectivity,
      .allocation = options.allocation,
      .threads = parse_threads (options.threads),
  };
  guint64 max_components = 0;

  if (options.device) {
    settings.cpu = !g_str_equal (options.device, "cuda");
    settings.cuda = !g_str_equal (options.device, "cpu");
    if (settings.cpu && settings.cuda && !g_str_equal (options.device, "all"))
      refuse ("--device takes cpu, cuda or all, not \"%s\"", options.device);
  }
  if (options.connectivity != 4 && options.connectivity != 8)
    refuse ("--connectivity takes 4 or 8, not %d", options.connectivity);
  if (options.volume_connectivity != 6 && options.volume_connectivity != 18 &&
      options.volume_connectivity != 26)
    refuse ("--volume-connectivity takes 6, 18 or 26, not %d", options.volume_connectivity);
  if (options.repetitions < 1 || options.warm_up < 0 || !(options.seconds > 0))
    refuse ("--repetitions takes 1 and more, --warm-up 0 and more, --seconds more than 0");
  if (options.max_components && !g_str_equal (options.max_components, "all") &&
      !g_ascii_string_to_unsigned (
          options.max_components, 10, 1, UINT32_MAX, &max_components, NULL))
    refuse (
        "--max-components takes a number from 1 on, or all, not \"%s\"", options.max_components);
  settings.max_components = (unsigned)max_components;
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
    g_autoptr (GError) error = NULL;
    if (!input_sources_add (sources, *word, &error))
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
write_text (const char *path, const char *text)
{
  g_autoptr (GError) error = NULL;

  if (g_str_equal (path, "-"))
    fputs (text, stdout);
  else if (!g_file_set_contents (path, text, -1, &error))
    problem_tell ("%s", error->message);
}

static void
write_json (const char *path, Mode mode, const GPtrArray *machine, const Results *results)
{
  JsonObject *root = json_object_new (), *description = json_object_new ();
  JsonArray *problems = json_array_new ();
  g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), root);
  g_autofree char *text = NULL;

  for (guint i = 0; i + 1 < machine->len; i += 2)
    json_object_set_string_member (description, machine->pdata[i], machine->pdata[i + 1]);
  for (const char *const *line = problems_told (); *line; line++)
    json_array_add_string_element (problems, *line);
  json_object_set_string_member (root, "mode", modes[mode].name);
  json_object_set_object_member (root, "machine", description);
  json_object_set_double_member (root, "noisy_share", results_noisy_share (results));
  json_object_set_array_member (root, "measurements", results_to_json (results));
  json_object_set_array_member (root, "problems", problems);
  json_object_unref (root);
  text = json_to_string (node, TRUE);
  write_text (path, text);
  if (g_str_equal (path, "-"))
    fputc ('\n', stdout);
}

static void
report (Mode mode, const Results *results, FILE *file)
{
  switch (mode) {
  case MODE_STEPS:
    report_steps (results, file);
    break;
  case MODE_TABLE:
    report_ratios (results, file);
    report_matrix (results, CLOCK_DEVICE, false, file);
    report_matrix (results, CLOCK_WALL, false, file);
    break;
  case MODE_DENSITY:
  case MODE_SIZE:
    report_matrix (results, CLOCK_DEVICE, false, file);
    report_matrix (results, CLOCK_WALL, false, file);
    break;
  case MODE_GROWTH:
    report_matrix (results, CLOCK_DEVICE, true, file);
    report_matrix (results, CLOCK_WALL, true, file);
    break;
  default:
    report_average (results, file);
    break;
  }
  report_noise (results, file);
}

/* The peers and devices that take part, for the header. */
static void
describe_contenders (GPtrArray *machine, const GPtrArray *contenders)
{
  g_autoptr (GHashTable) makers = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < contenders->len; i++) {
    const Contender *contender = contenders->pdata[i];
    if (!g_str_equal (contender->maker, "cudaccl") &&
        g_hash_table_add (makers, (char *)contender->maker))
      machine_add (machine, "peer", "%s", contender->maker);
  }
}

static void
run (Mode mode, GPtrArray *sources, GPtrArray *contenders, const ContenderSettings *settings,
    const GPtrArray *machine)
{
  const bool tables = g_strcmp0 (options.csv, "-") != 0 && g_strcmp0 (options.json, "-") != 0;
  const MeasureSettings measure_settings = {
      .repetitions = (unsigned)options.repetitions,
      .warm_up = (unsigned)options.warm_up,
      .steps = mode == MODE_STEPS,
  };
  Results *results;

  if (tables)
    report_header (machine, stdout);
  if (mode == MODE_CHECK) {
    check (sources, contenders, settings, stdout);
    g_ptr_array_unref (sources);
    g_ptr_array_unref (contenders);
    return;
  }
  results = results_measure (sources, contenders, &measure_settings, options.seconds);
  if (tables)
    report (mode, results, stdout);
  if (options.csv) {
    g_autofree char *csv = results_to_csv (results);
    write_text (options.csv, csv);
  }
  if (options.json)
    write_json (options.json, mode, machine, results);
  if (options.plot)
    plot_results (results, modes[mode].name, options.plot);
  results_free (results);
}

static char *
make_description (void)
{
  GString *text = g_string_new ("Modes:\n");

  for (Mode mode = 0; mode < N_MODES; mode++) {
    g_string_append_printf (
        text, "  %-12s %s\n               default:", modes[mode].name, modes[mode].summary);
    for (const char *const *input = modes[mode].inputs; *input; input++)
      g_string_append_printf (text, " %s", *input);
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
  ContenderSettings settings;
  GPtrArray *sources, *contenders;
  Mode mode;

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
  if (options.list) {
    contenders = contenders_new (&settings);
    list_contenders (contenders);
    g_ptr_array_unref (contenders);
    return problems_count () ? 1 : 0;
  }
  if (!options.words)
    refuse ("a mode is needed, such as average (see --help)");

  mode = parse_mode (options.words[0]);
  sources = collect_sources (mode, (const char *const *)options.words + 1);
  contenders = contenders_new (&settings);
  describe_contenders (machine, contenders);
  run (mode, sources, contenders, &settings, machine);

  g_array_unref (settings.threads);
  g_strfreev (settings.algorithms);
  return problems_count () ? 1 : 0;
}
