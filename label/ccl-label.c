/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ccl-label: labels the connected components of a picture in files, of any size. docs/ccl-label.md
 * describes it. ccl-label-mpi is the same program for several processes. */
#include "error.h"
#include "mask.h"
#include "output.h"
#include "phases.h"
#include "picture.h"
#include "processes.h"

#include <cudaccl/cudaccl.h>

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Options {
  RawFormat raw;
  const char *labels, *table, *compression;
  uint32_t connectivity;
  MaskSettings mask;
  uint64_t min_area, max_area, memory, tile;
  uint32_t bits;
  bool use_gpu;
  int gpu; /* −1: the one of the local rank */
  bool quiet, statistics;
} Options;

/* A picture while it is labelled. */
typedef struct Job {
  const Options *options;
  Processes processes;
  Picture *picture;
  Mask *mask; /* NULL: the labeller compares pixels with the threshold */
  bool is_volume;
  PendingName map_name, table_name;
  LabelMap *map;
  Table *table;
  bool shows_progress;
  Phases phases;
  double shown; /* seconds after the begin when the progress was last shown */
} Job;

static const char usage[] =
    "usage: ccl-label [OPTION…] INPUT…\n"
    "\n"
    "Labels the connected components of a picture and prints their number. INPUT is a PNG, PGM,\n"
    "NPY, TIFF or raw file; a folder or several files are the slices of a volume, as are the "
    "pages\n"
    "of a TIFF file.\n"
    "\n"
    "  -o, --output FILE     write the label map: .npy, .raw or .tif (BigTIFF)\n"
    "  -t, --table FILE      write the component table: .csv, .ndjson or .npy\n"
    "  -c, --connectivity N  4 or 8 for frames (8), 6, 18 or 26 for volumes (26)\n"
    "      --threshold X     a pixel is foreground when it is greater than X (0)\n"
    "      --invert          swap foreground and background\n"
    "      --foreground otsu Otsu's threshold, of uint8 or uint16, in place of --threshold\n"
    "      --denoise FILTER  median-3x3, median-5x5, opening-3x3 or opening-5x5 (none)\n"
    "      --closing-width N, --closing-height N\n"
    "                        fill gaps that are narrower or lower than N pixels (1)\n"
    "      --roi-mask FILE   no foreground where this picture is 0\n"
    "      --min-area N      components of fewer pixels get no label\n"
    "      --max-area N      components of more pixels get no label\n"
    "      --bits 32|64      bits of a label (32, or 64 if there are more than 2^32 − 1)\n"
    "      --compress NAME   of a BigTIFF: none, deflate, lzw or zstd\n"
    "      --memory SIZE     the most memory for tiles, for example 2G (1G)\n"
    "      --tile N          rows or slices of a tile, instead of --memory\n"
    "      --n-threads N     threads (all processors)\n"
    "      --gpu[=N]         label on an NVIDIA GPU: the first one, or number N\n"
    "      --size WxH[xD]    the input is raw, of this size\n"
    "      --type TYPE       of raw samples: uint8, int16, float32, … (uint8)\n"
    "  -q, --quiet           no progress bar\n"
    "      --statistics      print time, memory and messages to standard error\n"
    "  -h, --help            this text\n"
    "      --version         the version\n"
    "\n"
    "mpirun -n N ccl-label … shares the work between N processes.\n";

/* Parses a whole number. */
static bool
parse_number (const char *text, uint64_t most, uint64_t *number)
{
  char *end;
  errno = 0;
  const unsigned long long value = strtoull (text, &end, 10);
  if (!isdigit ((unsigned char)*text) || *end || errno || value > most)
    return false;
  *number = value;
  return true;
}

/* Parses a number of bytes with an optional K, M, G or T. */
static bool
parse_size (const char *text, uint64_t *size)
{
  static const char units[] = "KMGT";
  char *end;
  errno = 0;
  double value = strtod (text, &end);
  const char *unit = *end ? strchr (units, toupper ((unsigned char)*end)) : NULL;
  if (unit) {
    value *= (double)((uint64_t)1 << (10 * (unit - units + 1)));
    end++;
  }
  if (end == text || *end || errno || !(value >= 1 && value < 0x1p60))
    return false;
  *size = (uint64_t)value;
  return true;
}

static bool
parse_sides (const char *text, RawFormat *raw)
{
  unsigned long long sides[3] = {0, 0, 1};
  int length = 0;
  const int n =
      sscanf (text, "%llux%llu%nx%llu%n", &sides[0], &sides[1], &length, &sides[2], &length);
  if (n < 2 || text[length] || strchr (text, '-') || !sides[0] || !sides[1] || !sides[2])
    return false;
  raw->width = sides[0];
  raw->height = sides[1];
  raw->depth = sides[2];
  return true;
}

enum {
  THRESHOLD = 256,
  INVERT,
  FOREGROUND,
  DENOISE,
  CLOSING_WIDTH,
  CLOSING_HEIGHT,
  ROI_MASK,
  MIN_AREA,
  MAX_AREA,
  BITS,
  COMPRESS,
  MEMORY,
  TILE,
  THREADS,
  GPU,
  SIZE,
  TYPE,
  STATISTICS,
  VERSION
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"table", required_argument, NULL, 't'},
    {"connectivity", required_argument, NULL, 'c'},
    {"threshold", required_argument, NULL, THRESHOLD},
    {"invert", no_argument, NULL, INVERT},
    {"foreground", required_argument, NULL, FOREGROUND},
    {"denoise", required_argument, NULL, DENOISE},
    {"closing-width", required_argument, NULL, CLOSING_WIDTH},
    {"closing-height", required_argument, NULL, CLOSING_HEIGHT},
    {"roi-mask", required_argument, NULL, ROI_MASK},
    {"min-area", required_argument, NULL, MIN_AREA},
    {"max-area", required_argument, NULL, MAX_AREA},
    {"bits", required_argument, NULL, BITS},
    {"compress", required_argument, NULL, COMPRESS},
    {"memory", required_argument, NULL, MEMORY},
    {"tile", required_argument, NULL, TILE},
    {"n-threads", required_argument, NULL, THREADS},
    {"threads", required_argument, NULL, THREADS}, /* another name of it */
    {"gpu", optional_argument, NULL, GPU},
    {"size", required_argument, NULL, SIZE},
    {"type", required_argument, NULL, TYPE},
    {"quiet", no_argument, NULL, 'q'},
    {"statistics", no_argument, NULL, STATISTICS},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, VERSION},
    {0},
};

static bool
parse_denoise (const char *name, CclDenoise *denoise)
{
  static const char *const names[] = {
      [CCL_DENOISE_NONE] = "none",
      [CCL_DENOISE_MEDIAN_3] = "median-3x3",
      [CCL_DENOISE_MEDIAN_5] = "median-5x5",
      [CCL_DENOISE_OPENING_3] = "opening-3x3",
      [CCL_DENOISE_OPENING_5] = "opening-5x5",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp (names[i], name) == 0) {
      *denoise = (CclDenoise)i;
      return true;
    }
  }
  return false;
}

/* Takes an option's value. Returns false if it is not valid. */
static bool
take_option (Options *options, int option, const char *value)
{
  uint64_t number = 0;
  char *end = "";
  bool is_valid = true;

  switch (option) {
  case 'o':
    options->labels = value;
    break;
  case 't':
    options->table = value;
    break;
  case 'c':
    is_valid = parse_number (value, 26, &number);
    options->connectivity = (uint32_t)number;
    break;
  case THRESHOLD:
    options->mask.threshold = strtod (value, &end);
    is_valid = end != value && !*end && !isnan (options->mask.threshold);
    break;
  case INVERT:
    options->mask.invert = true;
    break;
  case FOREGROUND:
    options->mask.use_otsu = strcmp (value, "otsu") == 0;
    is_valid = options->mask.use_otsu || strcmp (value, "threshold") == 0;
    break;
  case DENOISE:
    is_valid = parse_denoise (value, &options->mask.denoise);
    break;
  case CLOSING_WIDTH:
    is_valid = parse_number (value, CCL_MAX_CLOSING, &number);
    options->mask.closing_width = (uint32_t)number;
    break;
  case CLOSING_HEIGHT:
    is_valid = parse_number (value, CCL_MAX_CLOSING, &number);
    options->mask.closing_height = (uint32_t)number;
    break;
  case ROI_MASK:
    options->mask.roi_mask = value;
    break;
  case MIN_AREA:
    is_valid = parse_number (value, INT64_MAX, &options->min_area);
    break;
  case MAX_AREA:
    is_valid = parse_number (value, INT64_MAX, &options->max_area);
    break;
  case BITS:
    is_valid = parse_number (value, 64, &number) && (number == 32 || number == 64);
    options->bits = (uint32_t)number;
    break;
  case COMPRESS:
    options->compression = value;
    break;
  case MEMORY:
    is_valid = parse_size (value, &options->memory);
    break;
  case TILE:
    is_valid = parse_number (value, INT64_MAX, &options->tile);
    break;
  case THREADS:
    is_valid = parse_number (value, 4096, &number);
    options->mask.n_threads = (uint32_t)number;
    break;
  case GPU:
    options->use_gpu = true;
    if (value) {
      is_valid = parse_number (value, 1024, &number);
      options->gpu = (int)number;
    }
    break;
  case SIZE:
    is_valid = parse_sides (value, &options->raw);
    break;
  case TYPE:
    is_valid = sample_type_parse (value, &options->raw.type);
    break;
  case 'q':
    options->quiet = true;
    break;
  case STATISTICS:
    options->statistics = true;
    break;
  }
  return is_valid;
}

/* Parses the arguments. Returns the index of the first input, or 0 with the error filled. */
static int
parse_arguments (int argc, char **argv, Options *options, CclError *error)
{
  int option, index = 0;

  *options = (Options){.compression = "none", .gpu = -1};
  opterr = 0;
  while ((option = getopt_long (argc, argv, "o:t:c:qh", long_options, &index)) != -1) {
    if (option == '?' || option == ':') {
      fail (error, "%s is not an option, or lacks its value; --help lists all", argv[optind - 1]);
      return 0;
    }
    if (option == 'h' || option == VERSION) {
      fputs (option == 'h' ? usage : "ccl-label " CCL_VERSION "\n", stdout);
      processes_end ();
      exit (0);
    }
    if (!take_option (options, option, optarg)) {
      const struct option *found = long_options;
      while (found->val != option)
        found++;
      fail (error, "--%s cannot be '%s'", found->name, optarg);
      return 0;
    }
  }
  if (optind == argc) {
    fail (error, "no input; --help lists the options");
    return 0;
  }
  return optind;
}

static void
show_progress (void *data, uint64_t done, uint64_t total)
{
  Job *job = data;
  const double seconds = phases_total (&job->phases), share = (double)done / (double)total;
  enum { LENGTH = 30 };
  char bar[LENGTH + 1];

  if (!job->shows_progress || (seconds - job->shown < 0.1 && done < total))
    return;
  job->shown = seconds;
  for (int i = 0; i < LENGTH; i++)
    bar[i] = i < share * LENGTH ? '#' : '.';
  bar[LENGTH] = '\0';
  fprintf (stderr, "\r[%s] %3.0f %%, %.0f s left \033[K", bar, 100 * share,
      done ? seconds / share - seconds : 0);
  if (done == total)
    fputs ("\r\033[K", stderr);
}

static CclStatus
to_status (bool succeeded)
{
  return succeeded ? CCL_OK : CCL_ERROR_IO;
}

static uint64_t
rows_per_layer (const Job *job)
{
  return job->is_volume ? job->picture->height : 1;
}

static CclStatus
read_layers (void *data, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error)
{
  Job *job = data;
  const uint64_t rows = rows_per_layer (job), first_row = first_layer * rows;
  const Phase before = phases_enter (&job->phases, PHASE_READ);
  const bool succeeded = job->mask
                             ? mask_read (job->mask, first_row, n_layers * rows, pixels, error)
                             : picture_read (job->picture, first_row, n_layers * rows,
                                   job->options->mask.threshold, pixels, error);
  phases_enter (&job->phases, before);
  return to_status (succeeded);
}

static CclStatus
begin_outputs (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
    uint32_t label_bytes, CclError *error)
{
  Job *job = data;
  bool succeeded;
  (void)n_labels;
  const Phase before = phases_enter (&job->phases, PHASE_MAP);
  succeeded = !job->map || label_map_begin (job->map, label_bytes, error);
  phases_enter (&job->phases, PHASE_TABLE);
  if (succeeded && job->table)
    succeeded = table_begin (job->table, n_components, first_label, error);
  phases_enter (&job->phases, before);
  return to_status (succeeded);
}

static CclStatus
write_layers (
    void *data, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error)
{
  Job *job = data;
  const Phase before = phases_enter (&job->phases, PHASE_MAP);
  const bool succeeded = label_map_write (job->map, first_layer, n_layers, labels, error);
  phases_enter (&job->phases, before);
  return to_status (succeeded);
}

static CclStatus
write_rows (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  Job *job = data;
  const Phase before = phases_enter (&job->phases, PHASE_TABLE);
  const bool succeeded = table_write (job->table, rows, n, error);
  phases_enter (&job->phases, before);
  return to_status (succeeded);
}

/* Opens the outputs under temporary names. Collective. */
static bool
open_outputs (Job *job, CclError *error)
{
  const Options *options = job->options;
  const OutputFormat format = {
      .processes = job->processes,
      .width = job->picture->width,
      .height = job->picture->height,
      .depth = job->picture->depth,
      .is_volume = job->is_volume,
      .compression = options->compression,
  };
  const uint64_t number = processes_share ((uint64_t)getpid ());
  bool succeeded = true;

  pending_names_watch_signals ();
  if (options->labels) {
    pending_name_init (&job->map_name, options->labels, number);
    job->map = label_map_open (options->labels, job->map_name.temporary, &format, error);
    succeeded = processes_agree (job->map != NULL, error);
  }
  if (options->table && succeeded) {
    pending_name_init (&job->table_name, options->table, number);
    job->table = table_open (options->table, job->table_name.temporary, &format, error);
    succeeded = processes_agree (job->table != NULL, error);
  }
  return succeeded;
}

/* Makes the outputs complete, or removes them if a rank has failed. Collective. */
static bool
close_outputs (Job *job, bool succeeded, CclError *error)
{
  succeeded = label_map_close (job->map, !succeeded, error) && succeeded;
  succeeded = table_close (job->table, !succeeded, error) && succeeded;
  succeeded = processes_agree (succeeded, error);
  if (succeeded && job->processes.rank == 0) {
    if (job->map)
      succeeded = pending_name_commit (&job->map_name, error);
    if (job->table && succeeded)
      succeeded = pending_name_commit (&job->table_name, error);
  }
  succeeded = processes_agree (succeeded, error);
  pending_name_clear (&job->map_name);
  pending_name_clear (&job->table_name);
  return succeeded;
}

/* The folder of a file, for scratch files; "." without one. */
static char *
folder_of (const char *path)
{
  char *copy = strdup (path), *folder = strdup (dirname (copy));
  free (copy);
  return folder;
}

/* The layer where the block of a rank begins; n_layers after the last rank. */
static uint64_t
block_begin (const Job *job, uint64_t n_layers, uint64_t rank)
{
  const uint64_t unit = job->map ? label_map_unit (job->map) : 1, n_ranks = job->processes.n_ranks;
  const uint64_t n_units = (n_layers + unit - 1) / unit, rest = n_units % n_ranks;
  const uint64_t begin = (n_units / n_ranks * rank + (rank < rest ? rank : rest)) * unit;
  return begin < n_layers ? begin : n_layers;
}

/* Fills the plan. */
static bool
make_plan (const Job *job, CclTiledPlan *plan, CclError *error)
{
  const Options *options = job->options;
  const Picture *picture = job->picture;
  const uint64_t n_layers = job->is_volume ? picture->depth : picture->height;
  const uint64_t begin = block_begin (job, n_layers, job->processes.rank);

  *plan = (CclTiledPlan){
      .width = picture->width,
      .height = picture->height,
      .depth = picture->depth,
      .connectivity = options->connectivity ? options->connectivity
                      : job->is_volume      ? 26
                                            : 8,
      .invert = options->mask.invert && !mask_is_needed (&options->mask),
      .min_area = options->min_area,
      .max_area = options->max_area,
      .first_layer = begin,
      .n_layers = block_begin (job, n_layers, job->processes.rank + 1) - begin,
      .tile_layers = options->tile,
      .memory = options->memory,
      .n_threads = options->mask.n_threads,
      .label_bytes = options->bits / 8,
  };
  if (picture->type == SAMPLE_UINT8) {
    const double threshold = options->mask.threshold;
    if (!(threshold >= 0 && threshold < 256))
      return fail (error, "the threshold of 8-bit pixels must be 0…255, not %g", threshold);
    plan->threshold = mask_is_needed (&options->mask) ? 0 : (uint32_t)threshold;
  }
  return true;
}

static bool
label (Job *job, CclTiledResult *result, CclError *error)
{
  const Options *options = job->options;
  const CclTiledIo io = {
      .data = job,
      .read = read_layers,
      .begin = begin_outputs,
      .write = job->map ? write_layers : NULL,
      .rows = job->table ? write_rows : NULL,
      .progress = show_progress,
  };
  CclTiledPlan plan;
  bool succeeded = make_plan (job, &plan, error);

  phases_enter (&job->phases, PHASE_DEVICE);
  if (succeeded && options->use_gpu) {
    plan.device = ccl_cuda_device_open (
        options->gpu >= 0 ? options->gpu : (int)job->processes.local_rank, error);
    succeeded = plan.device != NULL;
  }
  succeeded = processes_agree (succeeded, error);
  phases_enter (&job->phases, PHASE_READ);
  if (succeeded && mask_is_needed (&options->mask)) {
    const uint64_t rows = rows_per_layer (job);
    job->mask = mask_new (
        job->picture, &options->mask, plan.first_layer * rows, plan.n_layers * rows, error);
    succeeded = job->mask != NULL;
  }
  char *folder = options->labels || options->table
                     ? folder_of (options->labels ? options->labels : options->table)
                     : NULL;
  plan.scratch_folder = folder;
  phases_enter (&job->phases, PHASE_LABEL);
  if (succeeded) {
    const CclTiledPeers *peers = job->processes.peers;
    CclTiledPeers watched;
    if (peers)
      watched = phases_watch_peers (&job->phases, peers);
    succeeded = ccl_tiled_run (&plan, &io, peers ? &watched : NULL, result, error) == CCL_OK;
  }
  if (plan.device)
    ccl_cuda_device_unref (&plan.device);
  free (folder);
  return succeeded;
}

/* The most memory that this process has had resident, in KiB; 0 if the system does not say. Unlike
 * getrusage() it does not count the process that started this one. */
static uint64_t
most_resident (void)
{
  FILE *file = fopen ("/proc/self/status", "r");
  unsigned long long most = 0;
  char line[128];

  while (file && fgets (line, sizeof line, file))
    if (sscanf (line, "VmHWM: %llu", &most) == 1)
      break;
  if (file)
    fclose (file);
  return most;
}

/* Prints time, memory and messages of the run, over all ranks; of the phases, the mean of the
 * ranks. Collective. */
static void
print_statistics (const Job *job, const CclTiledResult *result)
{
  const double seconds = phases_total (&job->phases);
  const uint64_t memory = processes_sum (most_resident ());
  const uint64_t tiles = processes_sum (result->n_tiles);
  const uint64_t seam_components = processes_sum (result->n_seam_components);
  const uint64_t bytes = processes_sum (result->bytes_sent);
  const uint64_t messages = processes_sum (result->n_messages);
  double phases[N_PHASES];

  for (int i = 0; i < N_PHASES; i++)
    phases[i] = 1e-9 * (double)processes_sum ((uint64_t)(1e9 * job->phases.seconds[i])) /
                job->processes.n_ranks;
  if (job->processes.rank != 0)
    return;
  fprintf (stderr, "{\"ranks\":%u,\"seconds\":%.3f,\"phases\":{", job->processes.n_ranks, seconds);
  for (int i = 0; i < N_PHASES; i++)
    fprintf (stderr, "%s\"%s\":%.3f", i ? "," : "", phase_name ((Phase)i), phases[i]);
  fprintf (stderr,
      "},\"resident_kib\":%llu,\"tiles\":%llu,\"seam_components\":%llu,\"messages\":%llu,"
      "\"message_bytes\":%llu}\n",
      (unsigned long long)memory, (unsigned long long)tiles, (unsigned long long)seam_components,
      (unsigned long long)messages, (unsigned long long)bytes);
}

/* Labels the picture. Collective. */
static bool
run (Job *job, char **inputs, uint32_t n_inputs, CclError *error)
{
  CclTiledResult result = {0};
  bool succeeded;

  phases_init (&job->phases);
  job->shows_progress = !job->options->quiet && job->processes.rank == 0 && isatty (STDERR_FILENO);
  job->picture = picture_open (inputs, n_inputs, &job->options->raw, error);
  if (!processes_agree (job->picture != NULL, error))
    return false;
  job->is_volume = job->picture->depth > 1 || job->options->connectivity == 6 ||
                   job->options->connectivity == 18 || job->options->connectivity == 26;
  succeeded = open_outputs (job, error) && label (job, &result, error);
  if (job->shows_progress && !succeeded)
    fputs ("\r\033[K", stderr);
  phases_enter (&job->phases, PHASE_CLOSE);
  succeeded = close_outputs (job, succeeded, error);
  phases_enter (&job->phases, PHASE_OPEN);
  if (succeeded && job->processes.rank == 0)
    printf ("%llu components\n", (unsigned long long)result.n_components);
  if (succeeded && job->options->statistics)
    print_statistics (job, &result);
  return succeeded;
}

#if !CCL_LABEL_MPI
/* Started by mpirun, the program for several processes takes over. */
static void
hand_over (char **argv)
{
  const char *n_ranks = getenv ("OMPI_COMM_WORLD_SIZE");
  char path[PATH_MAX + 8];
  const ssize_t n = readlink ("/proc/self/exe", path, PATH_MAX);

  if (!n_ranks || strcmp (n_ranks, "1") == 0 || n < 0)
    return;
  strcpy (path + n, "-mpi");
  execv (path, argv);
  fprintf (stderr, "ccl-label: mpirun needs %s: %s\n", path, strerror (errno));
  exit (1);
}
#endif

int
main (int argc, char **argv)
{
  CclError error = {CCL_OK, ""};
  Options options;

#if !CCL_LABEL_MPI
  hand_over (argv);
#endif
  const Processes processes = processes_start (&argc, &argv, pending_names_remove);
  const int first = parse_arguments (argc, argv, &options, &error);
  Job job = {.options = &options, .processes = processes};
  const bool succeeded = first > 0 && run (&job, argv + first, (uint32_t)(argc - first), &error);
  mask_free (job.mask);
  picture_free (job.picture);
  if (!succeeded && processes.rank == 0)
    fprintf (stderr, "ccl-label: %s\n", error.message);
  processes_end ();
  return !succeeded;
}
