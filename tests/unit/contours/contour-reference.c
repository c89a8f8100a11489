/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/contours/contour-reference.h"

#include <stdlib.h>

static ContourReference *
reference_new (void)
{
  ContourReference *self = g_new (ContourReference, 1);
  self->contours = g_array_new (FALSE, FALSE, sizeof (CclContour));
  self->points = g_array_new (FALSE, FALSE, sizeof (CclContourPoint));
  return self;
}

void
contour_reference_free (ContourReference *self)
{
  g_array_unref (self->contours);
  g_array_unref (self->points);
  g_free (self);
}

static CclContour *
contour_at (const ContourReference *self, uint32_t i)
{
  return &g_array_index (self->contours, CclContour, i);
}

/* Begins a contour. left: the one that was met last in this row, or CUDACCL_NO_CONTOUR. */
static void
begin_contour (ContourReference *self, bool is_hole, uint32_t left)
{
  uint32_t n_outer = 0;
  CclContour contour = {.is_hole = is_hole, .first_point = self->points->len};

  for (uint32_t i = 0; i < self->contours->len; i++)
    n_outer += !contour_at (self, i)->is_hole;
  contour.parent = left == CUDACCL_NO_CONTOUR || contour_at (self, left)->is_hole != is_hole
                       ? left
                       : contour_at (self, left)->parent;
  contour.component = is_hole ? contour_at (self, contour.parent)->component : n_outer + 1;
  g_array_append_val (self->contours, contour);
}

static void
append_point (ContourReference *self, int x, int y)
{
  const CclContourPoint point = {x, y};
  g_array_append_val (self->points, point);
  contour_at (self, self->contours->len - 1)->n_points++;
}

/* The eight neighbours, counter-clockwise as seen, from the right one on. */
static const int around_x[8] = {1, 1, 0, -1, -1, -1, 0, 1};
static const int around_y[8] = {0, -1, -1, -1, 0, 1, 1, 1};

typedef struct Borders {
  int *f;     /* the paper's picture, with a border of background */
  int stride; /* of f */
} Borders;

static int *
pixel_at (const Borders *self, int x, int y)
{
  return &self->f[(y + 1) * self->stride + x + 1];
}

/* Follows the border that starts at (x, y), from the neighbour `from`, and marks it. */
static void
follow_border (Borders *self, ContourReference *reference, int x, int y, int from, int number)
{
  int first = from, n = 0;

  while (n < 8 && !*pixel_at (self, x + around_x[first], y + around_y[first])) {
    first = (first + 7) % 8;
    n++;
  }
  if (n == 8) {
    *pixel_at (self, x, y) = -number;
    append_point (reference, x, y);
    return;
  }
  const int last_x = x + around_x[first], last_y = y + around_y[first];
  int here_x = x, here_y = y, back = first;
  for (;;) {
    bool saw_right = false;
    int next = (back + 1) % 8;
    while (!*pixel_at (self, here_x + around_x[next], here_y + around_y[next])) {
      saw_right |= next == 0;
      next = (next + 1) % 8;
    }
    int *here = pixel_at (self, here_x, here_y);
    if (saw_right)
      *here = -number;
    else if (*here == 1)
      *here = number;
    append_point (reference, here_x, here_y);
    const int next_x = here_x + around_x[next], next_y = here_y + around_y[next];
    if (next_x == x && next_y == y && here_x == last_x && here_y == last_y)
      return;
    here_x = next_x;
    here_y = next_y;
    back = (next + 4) % 8;
  }
}

ContourReference *
contour_reference_by_borders (const Mask *mask)
{
  ContourReference *reference = reference_new ();
  const int width = (int)mask->width, height = (int)mask->height;
  Borders self = {.stride = width + 2};

  self.f = g_new0 (int, (size_t)(width + 2) * (height + 2));
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      *pixel_at (&self, x, y) = mask->pixels[y * width + x];
  for (int y = 0; y < height; y++) {
    uint32_t left = CUDACCL_NO_CONTOUR; /* numbers begin with 2 */
    for (int x = 0; x < width; x++) {
      int *f = pixel_at (&self, x, y);
      const bool is_outer = *f == 1 && !f[-1], is_hole = !is_outer && *f >= 1 && !f[1];
      if (is_hole && *f > 1)
        left = (uint32_t)*f - 2;
      if (is_outer || is_hole) {
        begin_contour (reference, is_hole, left);
        follow_border (&self, reference, x, y, is_hole ? 0 : 4, (int)reference->contours->len + 1);
      }
      if (*f != 0 && *f != 1)
        left = (uint32_t)abs (*f) - 2;
    }
  }
  g_free (self.f);
  return reference;
}

/* Directions: 0 right, 1 up, 2 left, 3 down. */
static const int step_x[4] = {1, 0, -1, 0}, step_y[4] = {0, -1, 0, 1};

static bool
is_foreground (const Mask *mask, int x, int y)
{
  return x >= 0 && y >= 0 && x < (int)mask->width && y < (int)mask->height &&
         mask->pixels[y * (int)mask->width + x];
}

/* The pixel on one side of the edge that leaves a corner in a direction. */
static void
pixel_beside (int x, int y, int direction, bool left, int *pixel_x, int *pixel_y)
{
  static const int left_x[4] = {0, -1, -1, 0}, left_y[4] = {-1, -1, 0, 0};
  const int quarter = left ? direction : (direction + 3) % 4;
  *pixel_x = x + left_x[quarter];
  *pixel_y = y + left_y[quarter];
}

static bool
is_beside (const Mask *mask, int x, int y, int direction, bool left)
{
  int pixel_x, pixel_y;
  pixel_beside (x, y, direction, left, &pixel_x, &pixel_y);
  return is_foreground (mask, pixel_x, pixel_y);
}

/* The direction in which a contour goes on from a corner that it reaches. */
static int
turn (const Mask *mask, int x, int y, int direction, CclConnectivity connectivity)
{
  const bool left = is_beside (mask, x, y, direction, true);
  const bool right = is_beside (mask, x, y, direction, false);

  if (connectivity == CUDACCL_CONNECTIVITY_8 ? right : right && left)
    return (direction + 3) % 4;
  return left ? direction : (direction + 1) % 4;
}

/* Follows a contour from an edge, and marks the vertical edges in owners. */
static void
follow_edges (ContourReference *reference, const Mask *mask, CclContourKind kind,
    CclConnectivity connectivity, int x, int y, int direction, uint32_t *owners)
{
  const int start_x = x, start_y = y, start = direction;
  GArray *points = g_array_new (FALSE, FALSE, sizeof (CclContourPoint));

  do {
    CclContourPoint point = {x, y};
    if (direction % 2)
      owners[(y - (direction == 1)) * ((int)mask->width + 1) + x] = reference->contours->len;
    if (kind == CUDACCL_CONTOUR_PIXELS)
      pixel_beside (x, y, direction, true, &point.x, &point.y);
    x += step_x[direction];
    y += step_y[direction];
    const int next = turn (mask, x, y, direction, connectivity);
    const CclContourPoint *last =
        points->len ? &g_array_index (points, CclContourPoint, points->len - 1) : NULL;
    if (kind == CUDACCL_CONTOUR_CRACKS) {
      point = (CclContourPoint){x, y};
      if (next != direction)
        g_array_append_val (points, point);
    } else if (!last || last->x != point.x || last->y != point.y)
      g_array_append_val (points, point);
    direction = next;
  } while (x != start_x || y != start_y || direction != start);
  /* As cracks, the corner at the end is the first one. As pixels, the last may be the first again.
   */
  const CclContourPoint *all = (const CclContourPoint *)points->data;
  uint32_t n = points->len;
  if (kind == CUDACCL_CONTOUR_CRACKS)
    append_point (reference, all[n - 1].x, all[n - 1].y);
  if (kind == CUDACCL_CONTOUR_CRACKS ||
      (n > 1 && all[0].x == all[n - 1].x && all[0].y == all[n - 1].y))
    n--;
  for (uint32_t i = 0; i < n; i++)
    append_point (reference, all[i].x, all[i].y);
  g_array_unref (points);
}

ContourReference *
contour_reference_by_edges (const Mask *mask, CclContourKind kind, CclConnectivity connectivity)
{
  ContourReference *reference = reference_new ();
  const int width = (int)mask->width, height = (int)mask->height;
  g_autofree uint32_t *owners = g_new0 (uint32_t, (size_t)(width + 1) * height);

  for (int y = 0; y < height; y++) {
    uint32_t left = CUDACCL_NO_CONTOUR;
    for (int x = 0; x <= width; x++) {
      uint32_t *owner = &owners[y * (width + 1) + x];
      const bool is_right = is_foreground (mask, x - 1, y);
      if (is_right == is_foreground (mask, x, y))
        continue;
      if (!*owner) {
        begin_contour (reference, is_right, left);
        /* An outer contour starts down the left side of its first pixel. A hole starts as pixels
         * up its left side, as cracks along the upper side of its first pixel. */
        if (!is_right)
          follow_edges (reference, mask, kind, connectivity, x, y, 3, owners);
        else if (kind == CUDACCL_CONTOUR_PIXELS)
          follow_edges (reference, mask, kind, connectivity, x, y + 1, 1, owners);
        else
          follow_edges (reference, mask, kind, connectivity, x, y, 0, owners);
      }
      left = *owner - 1;
    }
  }
  return reference;
}
