/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* With a label map: a component of several objects side by side, as of people
 * who walk together, is divided where its columns are low, from their first
 * pixel to their last. Those of a standing person are nearly as tall as the
 * person; between two people there are arms, bags and shadows at most. Holes,
 * as where clothes have the colour of the background, do not matter. From a
 * single object, a shadow beside it is removed.
 *
 * The heights of columns are a form of the vertical projection histogram of I.
 * Haritaoglu, D. Harwood and L. S. Davis, "W4: real-time surveillance of people
 * and their activities", IEEE Transactions on Pattern Analysis and Machine
 * Intelligence 22(8), 2000. */
#include "tracking/tracker-private.h"

#include <string.h>

#define MAX_OBJECTS 64 /* into which a component is divided */
#define MIN_WIDTH                                                                                  \
  0.75                   /* typical heights; a narrower component is one object                    \
                          */
#define HALF_WINDOW 0.06 /* typical heights; columns are averaged over a window */
#define HALF_FOOT 0.1    /* the same; the lowest row within it is where an object stands */
#define MIN_COLUMN 0.65  /* least height of a tall column, typical heights */
#define N_LEVELS                                                                                   \
  3                      /* that are tried for it; the first one that gives most objects is taken  \
                          */
#define LEVEL_STEP 0.1   /* typical heights from one to the next */
#define MIN_OBJECT 0.08  /* least width of an object's tall columns, typical heights */
#define MAX_OUTSIDE 0.1  /* typical heights that an object is wider on each side */
#define MAX_SHADOW 0.35  /* heights; what is lower beside an object is its shadow */
#define MAX_UPRIGHT 0.75 /* heights that the tall columns of an upright object are wide */

/* Columns, from `begin` to before `end`, counted from the component's left one. */
typedef struct Columns {
  uint32_t begin, end;
} Columns;

/* The component that is divided, in pixels of the label map, which may be a
 * sample of the frame's. */
typedef struct Projection {
  const CclLabels *labels;
  uint32_t label;
  uint32_t left, top, bottom, n_columns;
  const uint32_t *sums; /* of the heights of the columns before each one */
  double typical;       /* height */
  double step;          /* pixels of the frame from one to the next */
  const CclTypicalSize *sizes;
} Projection;

static inline const uint32_t *
row_of (const Projection *p, uint32_t y)
{
  return (const uint32_t *)((const char *)p->labels->data + y * p->labels->stride) + p->left;
}

/* The lowest row that the component reaches near a column. */
static uint32_t
foot_near (const Projection *p, const uint32_t *feet, uint32_t x)
{
  const uint32_t half = (uint32_t)(HALF_FOOT * p->typical);
  const uint32_t end = p->n_columns - x > half ? x + half + 1 : p->n_columns;
  uint32_t foot = 0;
  for (uint32_t i = x > half ? x - half : 0; i < end; i++)
    foot = feet[i] > foot ? feet[i] : foot;
  return foot;
}

/* People farther away have their feet higher up and are smaller. So each column gets the height
 * that it would have if the object stood where the component ends. */
static void
scale_columns (const Projection *p, const uint32_t *feet, uint32_t *heights)
{
  for (uint32_t x = 0; x < p->n_columns; x++) {
    const double foot = p->step * foot_near (p, feet, x);
    const double typical = ccl_typical_height (p->sizes, foot) / p->step;
    heights[x] = (uint32_t)(heights[x] * p->typical / typical + 0.5);
  }
}

/* Measures each column from its first pixel to its last, in the rows that the
 * label maps are compared in. tops: scratch memory for the first pixels. */
static void
measure_columns (const Projection *p, uint32_t step, uint32_t *tops, uint32_t *sums)
{
  memset (sums, 0, (p->n_columns + 1) * sizeof *sums);
  for (uint32_t y = p->top; y < p->bottom; y += step) {
    const uint32_t *row = row_of (p, y);
    for (uint32_t x = 0; x < p->n_columns; x++)
      if (row[x] == p->label) {
        tops[x] = sums[x + 1] > 0 ? tops[x] : y;
        sums[x + 1] = y + step - tops[x];
      }
  }
  for (uint32_t x = 0; x < p->n_columns; x++)
    tops[x] = sums[x + 1] > 0 ? tops[x] + sums[x + 1] : 0; /* now the feet */
  scale_columns (p, tops, sums + 1);
  for (uint32_t x = 0; x < p->n_columns; x++)
    sums[x + 1] += sums[x];
}

static bool
is_tall (const Projection *p, uint32_t x, double least)
{
  const uint32_t half = (uint32_t)(HALF_WINDOW * p->typical);
  const uint32_t begin = x > half ? x - half : 0;
  const uint32_t end = p->n_columns - x > half ? x + half + 1 : p->n_columns;
  return p->sums[end] - p->sums[begin] >= least * (2 * half + 1);
}

/* Finds the tall columns of each object, those of a least height. Returns the
 * number of objects. */
static uint32_t
find_tall (const Projection *p, double least, Columns objects[MAX_OBJECTS])
{
  uint32_t n = 0;
  for (uint32_t x = 0; x < p->n_columns && n < MAX_OBJECTS; x++) {
    const uint32_t begin = x;
    while (x < p->n_columns && is_tall (p, x, least))
      x++;
    if (x > begin && x - begin >= MIN_OBJECT * p->typical)
      objects[n++] = (Columns){begin, x};
  }
  return n;
}

/* The same, with the least height that tells most objects apart: people who
 * stand close to each other are apart only at their heads, and low ones have no
 * columns of a greater height. */
static uint32_t
find_objects (const Projection *p, Columns objects[MAX_OBJECTS])
{
  Columns found[MAX_OBJECTS];
  uint32_t most = 0;
  for (uint32_t level = 0; level < N_LEVELS; level++) {
    const uint32_t n = find_tall (p, (MIN_COLUMN + level * LEVEL_STEP) * p->typical, found);
    if (n <= most)
      continue;
    most = n;
    memcpy (objects, found, n * sizeof *found);
  }
  return most;
}

static bool
has_pixel (const Projection *p, uint32_t y, const Columns *columns)
{
  const uint32_t *row = row_of (p, y);
  bool found = false;
  for (uint32_t x = columns->begin; x < columns->end; x++)
    found |= row[x] == p->label;
  return found;
}

/* The box of columns and rows. Where they end with the component, the box does. */
static CclBox
box_in_frame (const Projection *p, const Component *whole, Columns columns, Columns rows)
{
  CclBox box = whole->box;
  if (columns.begin > 0)
    box.left = p->step * (p->left + columns.begin);
  if (columns.end < p->n_columns)
    box.right = p->step * (p->left + columns.end);
  if (rows.begin > p->top)
    box.top = p->step * rows.begin;
  if (rows.end < p->bottom)
    box.bottom = p->step * rows.end;
  return box;
}

/* An object has the rows of its tall columns, and is a little wider, at most to
 * the middle between two objects. Its area includes holes. */
static Component
make_object (
    const Projection *p, const Component *whole, const Columns *objects, uint32_t n, uint32_t i)
{
  const Columns *tall = &objects[i];
  const uint32_t outside = (uint32_t)(MAX_OUTSIDE * p->typical);
  const uint32_t least = i > 0 ? (objects[i - 1].end + tall->begin) / 2 : 0;
  const uint32_t most = i + 1 < n ? (tall->end + objects[i + 1].begin) / 2 : p->n_columns;
  const uint32_t begin = tall->begin - least > outside ? tall->begin - outside : least;
  const uint32_t end = most - tall->end > outside ? tall->end + outside : most;
  uint32_t top = p->top, bottom = p->bottom;
  while (top + 1 < bottom && !has_pixel (p, top, tall))
    top++;
  while (bottom - 1 > top && !has_pixel (p, bottom - 1, tall))
    bottom--;
  double moment = 0;
  for (uint32_t x = begin; x < end; x++)
    moment += (x + 0.5) * (p->sums[x + 1] - p->sums[x]);
  const double area = p->sums[end] - p->sums[begin];
  Component object = *whole;
  object.box = box_in_frame (p, whole, (Columns){begin, end}, (Columns){top, bottom});
  object.area = area * p->step * p->step;
  object.centroid_x = p->step * (p->left + moment / area);
  object.centroid_y = 0.5 * (object.box.top + object.box.bottom);
  object.pixels = NONE;
  object.fragmented = object.divided = true;
  return object;
}

/* Whether all columns from begin to before end are as low as a cast shadow. */
static bool
are_low (const Projection *p, uint32_t begin, uint32_t end)
{
  while (begin < end && !is_tall (p, begin, MAX_SHADOW * p->typical))
    begin++;
  return begin >= end;
}

/* Removes the shadow that an object casts to the side, hard and long, where the sun is low. Such an
 * object is upright, and a shadow lies on the ground, on one side; the legs of somebody who walks
 * are low on both sides. A car is not narrower than it is tall, and its bonnet is not as low.
 * Heights are parts of the component's own. */
static void
trim_shadow (const Projection *whole, Component *c)
{
  Projection p = *whole;
  Columns tall[MAX_OBJECTS];
  p.typical = p.bottom - p.top;
  if (find_tall (&p, MIN_COLUMN * p.typical, tall) != 1)
    return;
  const uint32_t outside = (uint32_t)(MAX_OUTSIDE * p.typical);
  const uint32_t begin = tall->begin > outside ? tall->begin - outside : 0;
  const uint32_t end = tall->end + outside;
  if (tall->end - tall->begin > MAX_UPRIGHT * p.typical || (begin > 0 && end < p.n_columns) ||
      !are_low (&p, 0, begin) || !are_low (&p, end, p.n_columns))
    return;
  Component object = make_object (&p, c, tall, 1, 0);
  object.pixels = c->pixels;
  object.fragmented = c->fragmented;
  object.divided = c->divided;
  *c = object;
}

static void
divide_component (CclTracker *tracker, const Projection *p, uint32_t component)
{
  Columns objects[MAX_OBJECTS];
  const uint32_t n = p->n_columns < MIN_WIDTH * p->typical ? 1 : find_objects (p, objects);
  if (n < 2)
    trim_shadow (p, &tracker->components[component]);
  if (n < 2 || n - 1 > tracker->plan.max_components - tracker->n_components ||
      ccl_tracker_is_fast_object (tracker, &tracker->components[component].box))
    return;
  Component *first = &tracker->components[component];
  const Component whole = *first;
  memmove (first + n, first + 1, (tracker->n_components - component - 1) * sizeof *first);
  tracker->n_components += n - 1;
  for (uint32_t i = 0; i < n; i++)
    first[i] = make_object (p, &whole, objects, n, i);
}

void
ccl_tracker_divide (CclTracker *tracker, const CclTable *table, const CclLabels *labels)
{
  if (!labels)
    return;
  for (uint32_t j = tracker->n_components; j-- > 0;) {
    const CclBox *box = &tracker->components[j].box;
    const double typical = ccl_typical_height (&tracker->typical, box->bottom);
    const double height = box->bottom - box->top;
    if (typical <= 0 || height < CUDACCL_MIN_HEIGHT * typical)
      continue;
    const uint32_t step = tracker->label_step;
    const uint32_t left = ccl_sampled ((uint32_t)box->left, step);
    const uint32_t right = ccl_sampled ((uint32_t)box->right, step);
    const Projection p = {
        .labels = labels,
        .label = table->rows[tracker->components[j].row].label,
        .left = left,
        .top = ccl_sampled ((uint32_t)box->top, step),
        .bottom = ccl_sampled ((uint32_t)box->bottom, step),
        .n_columns = right - left,
        .sums = tracker->column_sums,
        .typical = typical / step,
        .step = step,
        .sizes = &tracker->typical,
    };
    measure_columns (&p, tracker->overlap.step, tracker->column_tops, tracker->column_sums);
    divide_component (tracker, &p, j);
  }
}

void
ccl_tracker_join_row (CclTracker *tracker, uint32_t first)
{
  Component *whole = &tracker->components[first];
  whole->box = whole->row_box;
  whole->divided = whole->fragmented = false;
  for (uint32_t j = first + 1;
       j < tracker->n_components && tracker->components[j].row == whole->row; j++) {
    Component *part = &tracker->components[j];
    part->stack = first;
    whole->area += part->area;
    whole->centroid_x += (part->centroid_x - whole->centroid_x) * part->area / whole->area;
    if (tracker->has_colours)
      ccl_colours_add (&tracker->colours[first], &tracker->colours[j]);
  }
}
