/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "options.h"

#include "error.h"
#include "parse-size.h"

#include <cudaccl/distance.h>
#include <cudaccl/periodic.h>

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Less cannot hold the tile of a usual row: in --memory 1, the unit is missing. */
#define LEAST_MEMORY ((uint64_t)1 << 20)

const char options_help[] =
    "usage: ccl-label [OPTION…] INPUT…\n"
    "\n"
    "Labels the connected components of a picture and prints their number. INPUT is a PNG, JPEG,\n"
    "PNM, NPY, TIFF or raw file, or - for standard input; a folder or several files are the "
    "slices\n"
    "of a volume, as are the pages of a TIFF file.\n"
    "\n"
    "  -o, --output FILE     write the label map: .npy, .raw or .tif (BigTIFF)\n"
    "  -t, --table FILE      write the component table: .csv, .ndjson or .npy\n"
    "      --columns NAMES   columns of the table, by the names of scikit-image's properties:\n"
    "                        label,bbox,perimeter,euler_number,inertia_tensor,…\n"
    "      --intensity FILE  a picture of the same size, for intensity_mean and the like\n"
    "      --ignore-nan      leave pixels of --intensity out that are not a number\n"
    "      --spacing Z,Y,X   sides of a pixel, or one for all axes: the unit of --columns\n"
    "      --sort-by NAME    order of the table's rows: area, or one of --columns\n"
    "      --largest N       only N rows, those with the greatest area or --sort-by\n"
    "      --contours FILE   write the contours: COCO annotations (.json) or GeoJSON (.geojson)\n"
    "      --adjacency FILE  write which labels touch, and along how many sides of pixels: .csv, "
    ".ndjson\n"
    "      --tolerance X     leave out points of contours within X pixels of the others\n"
    "  -c, --connectivity N  4 or 8 for frames (8), 6, 18 or 26 for volumes (26)\n"
    "      --values          connect pixels where they are equal; those of value 0 are background\n"
    "      --value-tolerance X\n"
    "                        the same where they differ by at most X\n"
    "      --background X    another value of the background of --values than 0\n"
    "      --periodic AXES   opposite borders touch along these axes: x, y, z or several, as in "
    "xy\n"
    "      --threshold X     a pixel is foreground when it is greater than X (0)\n"
    "      --invert          swap foreground and background\n"
    "      --foreground otsu Otsu's threshold, of uint8 or uint16, in place of --threshold\n"
    "      --denoise FILTER  median-3x3, median-5x5, opening-3x3 or opening-5x5 (none)\n"
    "      --closing-width N, --closing-height N\n"
    "                        fill gaps that are narrower or lower than N pixels (1)\n"
    "      --roi-mask FILE   no foreground where this picture is 0\n"
    "      --fill-holes N    fill holes of at most N pixels; 0 fills all\n"
    "      --fill-label-holes N\n"
    "                        the same for the holes of each component or value, with its label\n"
    "      --clear-border    components that touch the border of the picture get no label\n"
    "      --keep-largest N  only the N largest components get a label\n"
    "      --split N         split objects that touch; N: the radius in which one has one peak\n"
    "      --distances FILE  write the squared distances to the components' borders: a map as -o\n"
    "      --min-area N, --remove-small N\n"
    "                        components of fewer pixels get no label\n"
    "      --max-area N      components of more pixels get no label\n"
    "      --bits 32|64      bits of a label (32, or 64 if there are more than 2^32 − 1)\n"
    "      --compress NAME   of a BigTIFF: none, deflate, lzw or zstd\n"
    "      --memory SIZE     the most memory for tiles, for example 500M or 2GiB (1GiB)\n"
    "      --tile N          rows or slices of a tile, instead of --memory\n"
    "      --n-threads N     threads (all processors)\n"
    "      --gpu[=N]         label on an NVIDIA GPU: the first one, or number N\n"
    "      --page N          label page, slice or file number N alone, as a frame\n"
    "      --channel N       label a channel of colours, 1 (red), 2 or 3, in place of grey\n"
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
  raw->is_volume = n == 3;
  return true;
}

enum {
  THRESHOLD = 256,
  COLUMNS,
  INTENSITIES,
  SPACING,
  SORT_BY,
  LARGEST,
  CONTOURS,
  ADJACENCY,
  TOLERANCE,
  INVERT,
  FOREGROUND,
  DENOISE,
  CLOSING_WIDTH,
  CLOSING_HEIGHT,
  ROI_MASK,
  VALUES,
  VALUE_TOLERANCE,
  BACKGROUND,
  PERIODIC,
  IGNORE_NAN,
  SPLIT,
  DISTANCES,
  FILL_HOLES,
  FILL_LABEL_HOLES,
  CLEAR_BORDER,
  KEEP_LARGEST,
  PAGE,
  CHANNEL,
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
    {"columns", required_argument, NULL, COLUMNS},
    {"intensity", required_argument, NULL, INTENSITIES},
    {"ignore-nan", no_argument, NULL, IGNORE_NAN},
    {"spacing", required_argument, NULL, SPACING},
    {"sort-by", required_argument, NULL, SORT_BY},
    {"largest", required_argument, NULL, LARGEST},
    {"contours", required_argument, NULL, CONTOURS},
    {"adjacency", required_argument, NULL, ADJACENCY},
    {"tolerance", required_argument, NULL, TOLERANCE},
    {"connectivity", required_argument, NULL, 'c'},
    {"threshold", required_argument, NULL, THRESHOLD},
    {"invert", no_argument, NULL, INVERT},
    {"foreground", required_argument, NULL, FOREGROUND},
    {"denoise", required_argument, NULL, DENOISE},
    {"closing-width", required_argument, NULL, CLOSING_WIDTH},
    {"closing-height", required_argument, NULL, CLOSING_HEIGHT},
    {"roi-mask", required_argument, NULL, ROI_MASK},
    {"values", no_argument, NULL, VALUES},
    {"value-tolerance", required_argument, NULL, VALUE_TOLERANCE},
    {"background", required_argument, NULL, BACKGROUND},
    {"periodic", required_argument, NULL, PERIODIC},
    {"distances", required_argument, NULL, DISTANCES},
    {"split", required_argument, NULL, SPLIT},
    {"fill-holes", required_argument, NULL, FILL_HOLES},
    {"fill-label-holes", required_argument, NULL, FILL_LABEL_HOLES},
    {"clear-border", no_argument, NULL, CLEAR_BORDER},
    {"keep-largest", required_argument, NULL, KEEP_LARGEST},
    {"page", required_argument, NULL, PAGE},
    {"channel", required_argument, NULL, CHANNEL},
    {"min-area", required_argument, NULL, MIN_AREA},
    {"remove-small", required_argument, NULL, MIN_AREA}, /* another name of it */
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
  for (int i = 0; ccl_denoise_name ((CclDenoise)i); i++) {
    if (strcmp (ccl_denoise_name ((CclDenoise)i), name) == 0) {
      *denoise = (CclDenoise)i;
      return true;
    }
  }
  return false;
}

/* Parses the letters of axes, each once. */
static bool
parse_axes (const char *text, uint32_t *axes)
{
  static const char letters[] = "xyz";

  *axes = 0;
  for (; *text; text++) {
    const char *letter = strchr (letters, *text);
    if (!letter || *axes & 1u << (letter - letters))
      return false;
    *axes |= 1u << (letter - letters);
  }
  return *axes != 0;
}

static bool
parse_real (const char *text, double *number)
{
  char *end;
  *number = strtod (text, &end);
  return end != text && !*end && isfinite (*number);
}

/* Parses the sides of a pixel: those of y and x, of z, y and x, or one for all. */
static bool
parse_spacing (const char *text, Options *options)
{
  double sides[3];
  uint32_t n = 0;
  char *end;

  for (;; text = end + 1) {
    if (n == 3)
      return false;
    sides[n] = strtod (text, &end);
    if (end == text || !isfinite (sides[n]) || sides[n] <= 0)
      return false;
    n++;
    if (*end != ',')
      break;
  }
  for (uint32_t i = 0; i < 3; i++)
    options->spacing[i] = n == 1 ? sides[0] : i + n < 3 ? 1 : sides[i + n - 3];
  options->n_spacing = n;
  return !*end;
}

/* Takes an option whose value is any text. Returns false if it is another option. */
static bool
take_text (Options *options, int option, const char *value)
{
  const struct {
    int option;
    const char **text;
  } texts[] = {{'o', &options->labels}, {'t', &options->table}, {INTENSITIES, &options->intensity},
      {SORT_BY, &options->sort_by}, {CONTOURS, &options->contours}, {ADJACENCY, &options->contacts},
      {DISTANCES, &options->distances}, {COMPRESS, &options->compression},
      {ROI_MASK, &options->mask.roi_mask}};

  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].option == option) {
      *texts[i].text = value;
      return true;
    }
  return false;
}

/* Takes an option without a value. Returns false if it is another option. */
static bool
take_flag (Options *options, int option)
{
  switch (option) {
  case INVERT:
    return options->mask.invert = true;
  case VALUES:
    return options->many_values = true;
  case CLEAR_BORDER:
    return options->clears_border = true;
  case IGNORE_NAN:
    return options->ignores_nan = true;
  case 'q':
    return options->quiet = true;
  case STATISTICS:
    return options->statistics = true;
  default:
    return false;
  }
}

/* Takes the value of an option that defines the foreground. Returns false if it is not valid. */
static bool
take_mask_option (MaskSettings *mask, int option, const char *value)
{
  uint64_t number = 0;
  char *end = "";
  bool is_valid = true;

  switch (option) {
  case THRESHOLD:
    mask->threshold = strtod (value, &end);
    is_valid = end != value && !*end && !isnan (mask->threshold);
    break;
  case FOREGROUND:
    mask->use_otsu = strcmp (value, "otsu") == 0;
    is_valid = mask->use_otsu || strcmp (value, "threshold") == 0;
    break;
  case DENOISE:
    is_valid = parse_denoise (value, &mask->denoise);
    break;
  case CLOSING_WIDTH:
    is_valid = parse_number (value, CUDACCL_MAX_CLOSING, &number);
    mask->closing_width = (uint32_t)number;
    break;
  case CLOSING_HEIGHT:
    is_valid = parse_number (value, CUDACCL_MAX_CLOSING, &number);
    mask->closing_height = (uint32_t)number;
    break;
  case THREADS:
    is_valid = parse_number (value, 4096, &number);
    mask->n_threads = (uint32_t)number;
    break;
  }
  return is_valid;
}

/* Takes an option's value. Returns false if it is not valid. */
static bool
take_option (Options *options, int option, const char *value)
{
  uint64_t number = 0;
  char *end = "";
  bool is_valid = true;

  if (take_text (options, option, value) || take_flag (options, option))
    return true;
  switch (option) {
  case 'c':
    is_valid = parse_number (value, 26, &number);
    options->connectivity = (uint32_t)number;
    break;
  case LARGEST:
    is_valid = parse_number (value, INT64_MAX, &options->largest) && options->largest > 0;
    break;
  case TOLERANCE:
    options->tolerance = strtod (value, &end);
    is_valid = end != value && !*end && options->tolerance >= 0;
    break;
  case SPACING:
    is_valid = parse_spacing (value, options);
    break;
  case VALUE_TOLERANCE:
    is_valid = parse_real (value, &options->value_tolerance) && options->value_tolerance >= 0;
    break;
  case BACKGROUND:
    is_valid = parse_real (value, &options->background);
    break;
  case PERIODIC:
    is_valid = parse_axes (value, &options->axes);
    break;
  case SPLIT:
    is_valid = parse_number (value, CUDACCL_MAX_PEAK_RADIUS, &number) && number > 0;
    options->split_radius = (uint32_t)number;
    break;
  case FILL_HOLES:
    is_valid = parse_number (value, INT64_MAX, &options->max_hole);
    options->fills_holes = true;
    break;
  case FILL_LABEL_HOLES:
    is_valid = parse_number (value, UINT32_MAX, &options->max_hole);
    options->fills_labels = true;
    break;
  case KEEP_LARGEST:
    is_valid = parse_number (value, INT64_MAX, &options->kept) && options->kept > 0;
    break;
  case PAGE:
    is_valid = parse_number (value, INT64_MAX, &options->picture.page) && options->picture.page > 0;
    break;
  case CHANNEL:
    is_valid = parse_number (value, 3, &number) && number > 0;
    options->picture.channel = (uint32_t)number;
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
  case MEMORY:
    is_valid = parse_size (value, &options->memory) && options->memory >= LEAST_MEMORY;
    break;
  case TILE:
    is_valid = parse_number (value, INT64_MAX, &options->tile);
    break;
  case GPU:
    options->use_gpu = true;
    if (value) {
      is_valid = parse_number (value, 1024, &number);
      options->gpu = (int)number;
    }
    break;
  case SIZE:
    is_valid = parse_sides (value, &options->picture.raw);
    break;
  case TYPE:
    is_valid = sample_type_parse (value, &options->picture.raw.type);
    break;
  default:
    return take_mask_option (&options->mask, option, value);
  }
  return is_valid;
}

/* Says why an option's value is refused. */
static void
fail_option (CclError *error, int option, const char *value)
{
  const struct option *found = long_options;

  while (found->val != option)
    found++;
  if (option == MEMORY)
    fail (error, "--memory cannot be '%s': at least 1MiB, in units of " SIZE_UNITS, value);
  else
    fail (error, "--%s cannot be '%s'", found->name, value);
}

bool
options_are_whole (const Options *options)
{
  return options->split_radius || options->distances;
}

/* Checks the options beside those with which a picture is labelled as a whole. */
static bool
check_whole (const Options *options, CclError *error)
{
  const char *name = options->split_radius ? "split" : "distances";

  if (options->fills_holes)
    return fail (error, "--fill-holes and --%s do not go together", name);
  if (options->tile)
    return fail (error, "with --%s, a picture is labelled as a whole", name);
  if (options->bits == 64)
    return fail (error, "with --%s, labels have 32 bits", name);
  return true;
}

/* Checks the options beside --values. */
static bool
check_values (const Options *options, CclError *error)
{
  const MaskSettings *mask = &options->mask;

  if (mask_is_needed (mask) || mask->threshold != 0 || mask->invert || options->split_radius)
    return fail (
        error, "--values takes pixels as they are: without threshold, filters, masks and --split");
  if (options->use_gpu && (options->value_tolerance > 0 || options->background != 0))
    return fail (error, "--value-tolerance and --background run on the CPU, without --gpu");
  if (options->fills_holes)
    return fail (error, "--fill-holes and --values do not go together");
  return true;
}

/* Checks the options beside those with which components change when they are known. */
static bool
check_changes (const Options *options, CclError *error)
{
  if (options->axes && options->many_values)
    return fail (error, "--periodic is for masks, not for --values");
  if (options->axes && (options->split_radius || options->distances || options->fills_labels ||
                           options->clears_border))
    return fail (error,
        "--periodic goes without --split, --distances, --fill-label-holes and --clear-border");
  if (options->axes && columns_beyond_boxes (&options->columns))
    return fail (error, "--periodic and the column '%s' do not go together",
        columns_beyond_boxes (&options->columns));
  if (options->fills_holes && (options->axes || options->fills_labels))
    return fail (error, "--fill-holes and --%s do not go together",
        options->axes ? "periodic" : "fill-label-holes");
  return true;
}

/* Checks options that depend on each other. */
static bool
check_together (const Options *options, CclError *error)
{
  const bool needs_values = options->columns.measured & CUDACCL_COLUMN_INTENSITY;

  if (options->columns.n && !options->table)
    return fail (error, "--columns are those of a --table");
  if (options->n_spacing && !options->columns.n)
    return fail (error, "--spacing is for --columns");
  if ((options->sort_by || options->largest) && !options->table)
    return fail (error, "--sort-by and --largest are for the rows of a --table");
  if (needs_values && !options->intensity)
    return fail (error, "columns of intensity need the file of --intensity");
  if (options->intensity && !needs_values)
    return fail (error, "no column needs --intensity");
  if (options->ignores_nan && !options->intensity)
    return fail (error, "--ignore-nan is for --intensity");
  if (!options->many_values && (options->value_tolerance > 0 || options->background != 0))
    return fail (error, "--value-tolerance and --background are for --values");
  return check_changes (options, error) &&
         (!options->many_values || check_values (options, error)) &&
         (!options_are_whole (options) || check_whole (options, error));
}

Request
options_parse (int argc, char **argv, Options *options, int *first, CclError *error)
{
  int option, index = 0;

  *options = (Options){
      .picture.formats = picture_formats, .compression = "none", .tolerance = -1, .gpu = -1};
  opterr = 0;
  while ((option = getopt_long (argc, argv, "o:t:c:qh", long_options, &index)) != -1) {
    if (option == '?' || option == ':') {
      fail (error, "%s is not an option, or lacks its value; --help lists all", argv[optind - 1]);
      return REQUEST_INVALID;
    }
    if (option == 'h' || option == VERSION)
      return option == 'h' ? REQUEST_HELP : REQUEST_VERSION;
    if (option == COLUMNS) {
      if (!columns_parse (optarg, &options->columns, error))
        return REQUEST_INVALID;
    } else if (!take_option (options, option, optarg)) {
      fail_option (error, option, optarg);
      return REQUEST_INVALID;
    }
  }
  if (optind == argc) {
    fail (error, "no input; --help lists the options");
    return REQUEST_INVALID;
  }
  if (!check_together (options, error))
    return REQUEST_INVALID;
  *first = optind;
  return REQUEST_LABEL;
}
