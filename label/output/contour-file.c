/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "contour-file.h"

#include "error.h"
#include "label/relabel/unnamed-file.h"

#include <cudaccl/contours.h>
#include <cudaccl/rle.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ContourFile {
  FILE *file;
  char *name, *picture;
  bool is_geojson;
  uint32_t width, height;
  double tolerance;
  const GeoReference *geo; /* NULL: points are in pixels */
  CclContours *contours;
  FileMemory map;     /* the label map, width × height of 32 bits */
  CclComponent *rows; /* of the component table */
  size_t n_rows, capacity;
};

/* The rings of one component, a polygon after the other. */
typedef struct Rings {
  const CclContour *rows;
  size_t n;
  const CclContourPoint *points; /* of all components */
} Rings;

static void
contour_file_free (ContourFile *self)
{
  if (self->file)
    fclose (self->file);
  ccl_contours_free (&self->contours);
  free (self->name);
  free (self->picture);
  file_memory_free (&self->map);
  free (self->rows);
  free (self);
}

static bool
check_picture (const char *name, const OutputFormat *format, CclError *error)
{
  if (!has_suffix (name, ".json") && !has_suffix (name, ".geojson"))
    return fail (error, "%s: the name of a file of contours ends in .json or .geojson", name);
  if (format->processes.n_ranks > 1)
    return fail (error, "%s: one process alone can write contours", name);
  if (format->is_volume)
    return fail (error, "%s: volumes have no contours", name);
  if (format->width > CUDACCL_MAX_CONTOUR_SIDE || format->height > CUDACCL_MAX_CONTOUR_SIDE ||
      format->width * format->height > CUDACCL_MAX_CONTOUR_PIXELS)
    return fail (error, "%s: contours need pictures of at most %d pixels a side and %d in all",
        name, CUDACCL_MAX_CONTOUR_SIDE, CUDACCL_MAX_CONTOUR_PIXELS);
  return true;
}

/* Makes the label map in a file beside the output, so that it need not fit into memory. */
static bool
make_map (ContourFile *self, const char *path, CclError *error)
{
  char *const folder = folder_of (path);
  const size_t size = (size_t)self->width * self->height * sizeof (uint32_t);
  const bool succeeded =
      folder ? file_memory_grow (&self->map, folder, size, error) : fail_without_memory (error);

  free (folder);
  return succeeded;
}

ContourFile *
contour_file_open (const char *name, const char *path, const char *picture,
    const OutputFormat *format, double tolerance, CclError *error)
{
  if (!check_picture (name, format, error))
    return NULL;
  ContourFile *self = calloc (1, sizeof *self);
  if (!self) {
    fail_without_memory (error);
    return NULL;
  }
  CclContoursPlan plan = CUDACCL_CONTOURS_PLAN_DEFAULT;
  plan.width = self->width = (uint32_t)format->width;
  plan.height = self->height = (uint32_t)format->height;
  plan.connectivity = CUDACCL_CONNECTIVITY_4; /* as polygons need it (ccl_contour_rings()) */
  plan.kind = CUDACCL_CONTOUR_CRACKS;
  self->tolerance = tolerance;
  self->is_geojson = has_suffix (name, ".geojson");
  self->geo = self->is_geojson && format->geo && format->geo->has_affine ? format->geo : NULL;
  self->name = strdup (name);
  self->picture = strdup (picture);
  if (!self->name || !self->picture)
    fail_without_memory (error);
  else if (!(self->file = fopen (path, "w")))
    fail (error, "%s: %s", path, strerror (errno));
  else if (make_map (self, path, error) && (self->contours = ccl_cpu_contours_new (&plan, error)))
    return self;
  contour_file_free (self);
  return NULL;
}

bool
contour_file_add_labels (ContourFile *self, uint64_t first_layer, uint64_t n_layers,
    const void *labels, uint32_t label_bytes, CclError *error)
{
  const size_t n = (size_t)n_layers * self->width;
  uint32_t *to = (uint32_t *)self->map.data + (size_t)first_layer * self->width;

  if (label_bytes == sizeof *to)
    memcpy (to, labels, n * sizeof *to);
  else
    for (size_t i = 0; i < n; i++)
      to[i] = (uint32_t)((const uint64_t *)labels)[i];
  return true;
}

/* Replaces a side of a box that reaches over the border, along a periodic axis, by that of the
 * whole picture. */
static void
unwrap (uint32_t side, uint32_t *start, uint32_t *length)
{
  if ((uint64_t)*start + *length > side) {
    *start = 0;
    *length = side;
  }
}

bool
contour_file_add_rows (ContourFile *self, const CclTiledComponent *rows, size_t n, CclError *error)
{
  if (self->n_rows + n > self->capacity) {
    const size_t capacity = 2 * (self->n_rows + n);
    CclComponent *grown = realloc (self->rows, capacity * sizeof *grown);
    if (!grown)
      return fail_without_memory (error);
    self->rows = grown;
    self->capacity = capacity;
  }
  for (size_t i = 0; i < n; i++) {
    CclComponent *row = &self->rows[self->n_rows++];
    *row = (CclComponent){
        .label = (uint32_t)rows[i].label,
        .area = (uint32_t)rows[i].area,
        .x = (uint32_t)rows[i].x,
        .y = (uint32_t)rows[i].y,
        .width = (uint32_t)rows[i].width,
        .height = (uint32_t)rows[i].height,
    };
    unwrap (self->width, &row->x, &row->width);
    unwrap (self->height, &row->y, &row->height);
  }
  return true;
}

/* Writes a string of JSON; bytes that are no ASCII stay as they are. */
static void
write_string (FILE *file, const char *text)
{
  fputc ('"', file);
  for (; *text; text++)
    if (*text == '"' || *text == '\\')
      fprintf (file, "\\%c", *text);
    else if ((unsigned char)*text < 0x20)
      fprintf (file, "\\u%04x", (unsigned)*text);
    else
      fputc (*text, file);
  fputc ('"', file);
}

/* The points of a ring that stay, in place. A ring that would become a line, or turn over, keeps
 * all of its points: GeoJSON has no rings of fewer corners than three, and in COCO four numbers are
 * a box. 0: there is no memory. */
static uint32_t
simplify_ring (ContourFile *self, const CclContour *ring, CclContourPoint *points)
{
  CclContourPoint *simplified = malloc (ring->n_points * sizeof *simplified);
  if (!simplified)
    return 0;
  uint32_t n = ccl_contour_simplify (points, ring->n_points, self->tolerance, simplified);
  const int64_t area = ccl_contour_area_2 (simplified, n);

  if (n > 0 && (ring->is_hole ? area < 0 : area > 0))
    memcpy (points, simplified, n * sizeof *points);
  else if (n > 0)
    n = ring->n_points;
  free (simplified);
  return n;
}

/* Whether the transform makes clockwise rings of counter-clockwise ones, as most do: y of the Earth
 * points upwards. */
static bool
is_mirrored (const GeoReference *geo)
{
  const double *a = geo->affine;
  return a[1] * a[5] - a[2] * a[4] < 0;
}

static void
write_point (const ContourFile *self, CclContourPoint point)
{
  double x, y;

  if (!self->geo) {
    fprintf (self->file, self->is_geojson ? "[%d,%d]" : "%d,%d", point.x, point.y);
    return;
  }
  geo_transform (self->geo->affine, point.x, point.y, &x, &y);
  fprintf (self->file, "[%.17g,%.17g]", x, y);
}

/* Writes the points of a ring: pairs that end with the first one again, as GeoJSON has them, or
 * numbers, as COCO has them. GeoJSON's outer rings are counter-clockwise in x and y, which are
 * clockwise as seen with y pointing downwards: from the last point to the first one. */
static bool
write_ring (ContourFile *self, const Rings *rings, const CclContour *ring)
{
  CclContourPoint *points = (CclContourPoint *)rings->points + ring->first_point;
  const bool is_forward = self->geo && is_mirrored (self->geo);
  uint32_t n = ring->n_points;

  if (self->tolerance >= 0) {
    n = simplify_ring (self, ring, points);
    if (n == 0)
      return false;
  }
  fputc ('[', self->file);
  for (uint32_t i = 0; i < n + self->is_geojson; i++) {
    if (i)
      fputc (',', self->file);
    write_point (self, points[is_forward ? i % n : (n - i % n) % n]);
  }
  fputc (']', self->file);
  return true;
}

static size_t
count_holes (const Rings *rings)
{
  size_t n = 0;
  for (size_t i = 0; i < rings->n; i++)
    n += rings->rows[i].is_hole;
  return n;
}

/* Writes one polygon, or one after the other. */
static bool
write_polygons (ContourFile *self, const Rings *rings, bool are_many)
{
  bool succeeded = true;

  for (size_t i = 0; i < rings->n && succeeded; i++) {
    const bool is_next = i > 0 && !rings->rows[i].is_hole;
    fputs (i == 0 ? (are_many ? "[[" : "[") : is_next ? "],[" : ",", self->file);
    succeeded = write_ring (self, rings, &rings->rows[i]);
  }
  fputs (are_many ? "]]" : "]", self->file);
  return succeeded;
}

static bool
write_feature (ContourFile *self, const Rings *rings, const CclComponent *row)
{
  const bool are_many = rings->n - count_holes (rings) > 1;

  fprintf (self->file,
      "{\"type\":\"Feature\",\"id\":%u,\"properties\":{\"label\":%u,\"area\":%u},"
      "\"geometry\":{\"type\":\"%s\",\"coordinates\":",
      row->label, row->label, row->area, are_many ? "MultiPolygon" : "Polygon");
  const bool succeeded = write_polygons (self, rings, are_many);
  fputs ("}}", self->file);
  return succeeded;
}

/* Polygons of COCO have no holes: a component with holes is written as run lengths. */
static bool
write_run_lengths (ContourFile *self, const CclComponent *row)
{
  const CclLabels labels = {self->map.data, self->width * sizeof (uint32_t)};
  uint32_t *counts = malloc (ccl_rle_most_counts (row) * sizeof *counts);
  if (!counts)
    return false;
  const uint64_t n = ccl_rle_encode (&labels, self->width, self->height, row, counts);
  char *text = malloc (ccl_rle_most_characters (n));
  if (text) {
    ccl_rle_compress (counts, n, text);
    fprintf (self->file, "{\"size\":[%u,%u],\"counts\":", self->height, self->width);
    write_string (self->file, text);
    fputc ('}', self->file);
  }
  free (counts);
  free (text);
  return text != NULL;
}

static bool
write_annotation (ContourFile *self, const Rings *rings, const CclComponent *row)
{
  const bool has_holes = count_holes (rings) > 0;
  FILE *file = self->file;

  fprintf (file,
      "{\"id\":%u,\"image_id\":1,\"category_id\":1,\"area\":%u,\"bbox\":[%u,%u,%u,%u],"
      "\"iscrowd\":%d,\"segmentation\":",
      row->label, row->area, row->x, row->y, row->width, row->height, has_holes);
  bool succeeded = true;
  if (has_holes)
    succeeded = write_run_lengths (self, row);
  for (size_t i = 0; i < rings->n && succeeded && !has_holes; i++) {
    fputc (i ? ',' : '[', file);
    succeeded = write_ring (self, rings, &rings->rows[i]);
  }
  fputs (has_holes ? "}" : "]}", file);
  return succeeded;
}

/* Writes the components, whose rings are in their order. */
static bool
write_components (
    ContourFile *self, const CclContour *rings, uint32_t n_rings, const CclContourPoint *points)
{
  const CclContour *end = rings + n_rings;
  bool succeeded = true;

  for (size_t i = 0; i < self->n_rows && succeeded; i++) {
    const CclComponent *row = &self->rows[i];
    Rings own = {rings, 0, points};
    while (rings < end && rings->component == row->label)
      rings++;
    own.n = (size_t)(rings - own.rows);
    fputs (i ? ",\n" : "\n", self->file);
    succeeded =
        self->is_geojson ? write_feature (self, &own, row) : write_annotation (self, &own, row);
  }
  return succeeded;
}

/* Makes polygons of the contours, and writes them. */
static bool
write_contours (ContourFile *self, const CclContourTable *table, CclError *error)
{
  CclContour *rings = malloc ((table->n_points / 4 + 1) * sizeof *rings);
  CclContourPoint *points = malloc (((size_t)table->n_points + 1) * sizeof *points);
  uint32_t n_rings = 0;
  bool succeeded = rings && points;

  if (!succeeded)
    fail_without_memory (error);
  else if (ccl_contour_rings (table, rings, points, &n_rings, error) != CUDACCL_OK)
    succeeded = false;
  else if (!write_components (self, rings, n_rings, points))
    succeeded = fail_without_memory (error);
  free (rings);
  free (points);
  return succeeded;
}

static bool
write_file (ContourFile *self, CclError *error)
{
  const CclLabels labels = {self->map.data, self->width * sizeof (uint32_t)};
  CclContourTable table;

  if (ccl_contours_of_labels (self->contours, &labels, &table, error) != CUDACCL_OK)
    return false;
  if (self->is_geojson) {
    fputs ("{\"type\":\"FeatureCollection\",", self->file);
    if (self->geo && self->geo->epsg)
      fprintf (self->file,
          "\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"urn:ogc:def:crs:EPSG::%u\"}},",
          self->geo->epsg);
    fputs ("\"features\":[", self->file);
  } else {
    fputs ("{\"images\":[{\"id\":1,\"file_name\":", self->file);
    write_string (self->file, self->picture);
    fprintf (self->file,
        ",\"width\":%u,\"height\":%u}],\n\"categories\":[{\"id\":1,\"name\":\"component\"}],\n"
        "\"annotations\":[",
        self->width, self->height);
  }
  if (!write_contours (self, &table, error))
    return false;
  fputs ("\n]}\n", self->file);
  return true;
}

bool
contour_file_close (ContourFile *self, bool failed, CclError *error)
{
  if (!self)
    return true;
  bool succeeded = failed || write_file (self, error);
  const bool is_written = !ferror (self->file);
  const bool is_closed = fclose (self->file) == 0;
  self->file = NULL;
  if (!failed && succeeded && !(is_written && is_closed))
    succeeded = fail (error, "%s: %s", self->name, strerror (errno));
  contour_file_free (self);
  return succeeded;
}
