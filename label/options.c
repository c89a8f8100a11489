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
    "      --quantiles A,B   quantiles of 0…1 for the column 'intensity_quantile'\n"
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
parse_number (const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
  char *end;
  errno = 0;
  const unsigned long long value = strtoull (text, &end, 10);
  if (!isdigit ((unsigned char)*text) || *end || errno || value < least || value > most)
    return false;
  *number = value;
  return true;
}

static bool
parse_real (const char *text, double *number)
{
  char *end;
  *number = strtod (text, &end);
  return end != text && !*end && !isnan (*number);
}

/* Readers of single options. They return false if the value is not valid. */

static bool
read_columns (Options *options, const char *names, CclError *error)
{
  return columns_parse (names, &options->columns, error);
}

static bool
read_quantiles (Options *options, const char *text, CclError *error)
{
  char *end;

  for (options->n_quantiles = 0; options->n_quantiles < MOST_QUANTILES; text = end + 1) {
    const double share = strtod (text, &end);
    if (end == text || !(share >= 0 && share <= 1))
      return false;
    options->quantiles[options->n_quantiles++] = share + 0.0; /* no −0 */
    if (*end != ',')
      return !*end;
  }
  return false;
}

/* The sides of a pixel: those of y and x, of z, y and x, or one for all. */
static bool
read_spacing (Options *options, const char *text, CclError *error)
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

static bool
read_tolerance (Options *options, const char *value, CclError *error)
{
  return parse_real (value, &options->tolerance) && options->tolerance >= 0;
}

static bool
read_value_tolerance (Options *options, const char *value, CclError *error)
{
  return parse_real (value, &options->value_tolerance) && isfinite (options->value_tolerance) &&
         options->value_tolerance >= 0;
}

static bool
read_background (Options *options, const char *value, CclError *error)
{
  char *end;
  options->background = strtold (value, &end);
  return end != value && !*end && isfinite (options->background);
}

static bool
read_threshold (Options *options, const char *value, CclError *error)
{
  return parse_real (value, &options->mask.threshold);
}

/* The letters of axes, each once. */
static bool
read_axes (Options *options, const char *text, CclError *error)
{
  static const char letters[] = "xyz";

  options->axes = 0;
  for (; *text; text++) {
    const char *letter = strchr (letters, *text);
    if (!letter || options->axes & 1u << (letter - letters))
      return false;
    options->axes |= 1u << (letter - letters);
  }
  return options->axes != 0;
}

static bool
read_foreground (Options *options, const char *value, CclError *error)
{
  options->mask.use_otsu = strcmp (value, "otsu") == 0;
  return options->mask.use_otsu || strcmp (value, "threshold") == 0;
}

static bool
read_denoise (Options *options, const char *name, CclError *error)
{
  for (int i = 0; ccl_denoise_name ((CclDenoise)i); i++) {
    if (strcmp (ccl_denoise_name ((CclDenoise)i), name) == 0) {
      options->mask.denoise = (CclDenoise)i;
      return true;
    }
  }
  return false;
}

static bool
read_holes (Options *options, const char *value, CclError *error)
{
  options->fills_holes = true;
  return parse_number (value, 0, INT64_MAX, &options->max_hole);
}

static bool
read_label_holes (Options *options, const char *value, CclError *error)
{
  options->fills_labels = true;
  return parse_number (value, 0, UINT32_MAX, &options->max_hole);
}

static bool
read_bits (Options *options, const char *value, CclError *error)
{
  options->bits = strcmp (value, "64") == 0 ? 64 : 32;
  return options->bits == 64 || strcmp (value, "32") == 0;
}

static bool
read_memory (Options *options, const char *value, CclError *error)
{
  return (parse_size (value, &options->memory) && options->memory >= LEAST_MEMORY) ||
         fail (error, "--memory cannot be '%s': at least 1MiB, in units of " SIZE_UNITS, value);
}

static bool
read_gpu (Options *options, const char *value, CclError *error)
{
  uint64_t number = 0;

  options->use_gpu = true;
  if (!value)
    return true;
  options->gpu = parse_number (value, 0, 1024, &number) ? (int)number : -1;
  return options->gpu >= 0;
}

static bool
read_sides (Options *options, const char *text, CclError *error)
{
  unsigned long long sides[3] = {0, 0, 1};
  int length = 0;
  const int n =
      sscanf (text, "%llux%llu%nx%llu%n", &sides[0], &sides[1], &length, &sides[2], &length);
  if (n < 2 || text[length] || strchr (text, '-') || !sides[0] || !sides[1] || !sides[2])
    return false;
  options->picture.raw.width = sides[0];
  options->picture.raw.height = sides[1];
  options->picture.raw.depth = sides[2];
  options->picture.raw.is_volume = n == 3;
  return true;
}

static bool
read_type (Options *options, const char *value, CclError *error)
{
  return sample_type_parse (value, &options->picture.raw.type);
}

/* How the value of an option is stored. */
typedef enum Kind {
  FLAG,   /* a bool that becomes true: there is no value */
  TEXT,   /* a const char * */
  COUNT,  /* an uint64_t */
  NUMBER, /* an uint32_t */
  READ,   /* what a reader makes of it */
  READ_IF_ANY,
  REQUEST, /* the option is no setting, but asks for something else */
} Kind;

typedef struct OptionRow {
  const char *name;
  char letter; /* 0: none */
  Kind kind;
  size_t offset; /* of the field in Options */
  uint64_t least, most;
  bool (*read) (Options *options, const char *value, CclError *error);
} OptionRow;

#define FIELD(field) offsetof (Options, field)

/* clang-format off */
static const OptionRow rows[] = {
    {"output", 'o', TEXT, FIELD (outputs[LABEL_MAP])},
    {"table", 't', TEXT, FIELD (outputs[TABLE])},
    {"columns", 0, READ, .read = read_columns},
    {"intensity", 0, TEXT, FIELD (intensity)},
    {"ignore-nan", 0, FLAG, FIELD (ignores_nan)},
    {"quantiles", 0, READ, .read = read_quantiles},
    {"spacing", 0, READ, .read = read_spacing},
    {"sort-by", 0, TEXT, FIELD (sort_by)},
    {"largest", 0, COUNT, FIELD (largest), 1, INT64_MAX},
    {"contours", 0, TEXT, FIELD (outputs[CONTOURS])},
    {"adjacency", 0, TEXT, FIELD (outputs[CONTACTS])},
    {"tolerance", 0, READ, .read = read_tolerance},
    {"connectivity", 'c', NUMBER, FIELD (connectivity), 0, 26},
    {"threshold", 0, READ, .read = read_threshold},
    {"invert", 0, FLAG, FIELD (mask.invert)},
    {"foreground", 0, READ, .read = read_foreground},
    {"denoise", 0, READ, .read = read_denoise},
    {"closing-width", 0, NUMBER, FIELD (mask.closing_width), 0, CUDACCL_MAX_CLOSING},
    {"closing-height", 0, NUMBER, FIELD (mask.closing_height), 0, CUDACCL_MAX_CLOSING},
    {"roi-mask", 0, TEXT, FIELD (mask.roi_mask)},
    {"values", 0, FLAG, FIELD (many_values)},
    {"value-tolerance", 0, READ, .read = read_value_tolerance},
    {"background", 0, READ, .read = read_background},
    {"periodic", 0, READ, .read = read_axes},
    {"distances", 0, TEXT, FIELD (outputs[DISTANCES])},
    {"split", 0, NUMBER, FIELD (split_radius), 1, CUDACCL_MAX_PEAK_RADIUS},
    {"fill-holes", 0, READ, .read = read_holes},
    {"fill-label-holes", 0, READ, .read = read_label_holes},
    {"clear-border", 0, FLAG, FIELD (clears_border)},
    {"keep-largest", 0, COUNT, FIELD (kept), 1, INT64_MAX},
    {"page", 0, COUNT, FIELD (picture.page), 1, INT64_MAX},
    {"channel", 0, NUMBER, FIELD (picture.channel), 1, 3},
    {"min-area", 0, COUNT, FIELD (min_area), 0, INT64_MAX},
    {"remove-small", 0, COUNT, FIELD (min_area), 0, INT64_MAX}, /* another name of it */
    {"max-area", 0, COUNT, FIELD (max_area), 0, INT64_MAX},
    {"bits", 0, READ, .read = read_bits},
    {"compress", 0, TEXT, FIELD (compression)},
    {"memory", 0, READ, .read = read_memory},
    {"tile", 0, COUNT, FIELD (tile), 0, INT64_MAX},
    {"n-threads", 0, NUMBER, FIELD (mask.n_threads), 0, 4096},
    {"threads", 0, NUMBER, FIELD (mask.n_threads), 0, 4096}, /* another name of it */
    {"gpu", 0, READ_IF_ANY, .read = read_gpu},
    {"size", 0, READ, .read = read_sides},
    {"type", 0, READ, .read = read_type},
    {"quiet", 'q', FLAG, FIELD (quiet)},
    {"statistics", 0, FLAG, FIELD (statistics)},
    {"help", 'h', REQUEST},
    {"version", 0, REQUEST},
};
/* clang-format on */

enum { N_ROWS = sizeof rows / sizeof *rows, FIRST_LONG = 256 };

static const OptionRow *
find_row (int option)
{
  const OptionRow *row = rows;

  if (option >= FIRST_LONG)
    return &rows[option - FIRST_LONG];
  while (row->letter != option)
    row++;
  return row;
}

/* Takes an option's value. Fills the error if it is not valid. */
static bool
take_option (Options *options, const OptionRow *row, const char *value, CclError *error)
{
  void *field = (char *)options + row->offset;
  uint64_t number = 0;
  bool is_valid = true;

  error->status = CUDACCL_OK;
  if (row->kind == FLAG)
    *(bool *)field = true;
  else if (row->kind == TEXT)
    *(const char **)field = value;
  else if (row->read)
    is_valid = row->read (options, value, error);
  else
    is_valid = parse_number (value, row->least, row->most, &number);
  if (row->kind == COUNT)
    *(uint64_t *)field = number;
  else if (row->kind == NUMBER)
    *(uint32_t *)field = (uint32_t)number;
  if (!is_valid && error->status == CUDACCL_OK)
    fail (error, "--%s cannot be '%s'", row->name, value);
  return is_valid;
}

bool
options_are_whole (const Options *options)
{
  return options->use_gpu && (options->split_radius || options->outputs[DISTANCES]);
}

/* Checks the options beside those with which a picture is labelled as a whole. */
static bool
check_whole (const Options *options, CclError *error)
{
  const char *name = options->split_radius ? "split" : "distances";

  if (options->fills_holes)
    return fail (error, "--fill-holes, --%s and --gpu do not go together", name);
  if (options->tile)
    return fail (error, "with --%s and --gpu, a picture is labelled as a whole", name);
  if (options->bits == 64)
    return fail (error, "with --%s and --gpu, labels have 32 bits", name);
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
  if (options->axes && (options->split_radius || options->outputs[DISTANCES] ||
                           options->fills_labels || options->clears_border))
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

  if (options->columns.n && !options->outputs[TABLE])
    return fail (error, "--columns are those of a --table");
  if (options->n_spacing && !options->columns.n)
    return fail (error, "--spacing is for --columns");
  if ((options->sort_by || options->largest) && !options->outputs[TABLE])
    return fail (error, "--sort-by and --largest are for the rows of a --table");
  if (needs_values && !options->intensity)
    return fail (error, "columns of intensity need the file of --intensity");
  if (options->intensity && !needs_values)
    return fail (error, "no column needs --intensity");
  if (columns_have_quantiles (&options->columns) != (options->n_quantiles > 0))
    return fail (error, "--quantiles and the column 'intensity_quantile' go together");
  if (options->ignores_nan && !options->intensity)
    return fail (error, "--ignore-nan is for --intensity");
  if (!options->many_values && (options->value_tolerance > 0 || options->background != 0))
    return fail (error, "--value-tolerance and --background are for --values");
  return check_changes (options, error) &&
         (!options->many_values || check_values (options, error)) &&
         (!options_are_whole (options) || check_whole (options, error));
}

/* Converts the rows to the options of getopt_long(). */
static void
list_options (struct option *options)
{
  for (int i = 0; i < N_ROWS; i++)
    options[i] = (struct option){rows[i].name,
        rows[i].kind == READ_IF_ANY                       ? optional_argument
        : rows[i].kind == FLAG || rows[i].kind == REQUEST ? no_argument
                                                          : required_argument,
        NULL, FIRST_LONG + i};
}

Request
options_parse (int argc, char **argv, Options *options, int *first, CclError *error)
{
  struct option long_options[N_ROWS + 1] = {0};
  int option, index = 0;

  *options = (Options){
      .picture.formats = picture_formats, .compression = "none", .tolerance = -1, .gpu = -1};
  list_options (long_options);
  opterr = 0;
  while ((option = getopt_long (argc, argv, "o:t:c:qh", long_options, &index)) != -1) {
    if (option == '?' || option == ':') {
      fail (error, "%s is not an option, or lacks its value; --help lists all", argv[optind - 1]);
      return REQUEST_INVALID;
    }
    const OptionRow *row = find_row (option);
    if (row->kind == REQUEST)
      return row->letter == 'h' ? REQUEST_HELP : REQUEST_VERSION;
    if (!take_option (options, row, optarg, error))
      return REQUEST_INVALID;
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
