/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory of places. Tracks that ended and went nowhere are counted where they were, and for a
 * shorter time in the whole picture: where many of them were, a place is restless.
 *
 * Waves, leaves in a storm and rain make many tracks that begin and end, of which some go far. So
 * tracks that were lost are counted with their sizes for some seconds, in large cells, however far
 * they went: another one of about that size comes to nothing as well.
 *
 * A confirmed track that appeared inside the picture and is soon lost there was a mistake: people
 * and cars come in and leave at the border, or stay. Mistakes are counted like lost tracks, and
 * remembered for longer.
 *
 * Of leaves, waves and light, many tracks begin within a second in a part of the picture; of people
 * and cars, few. So where many begin, the place is restless at once, and a track of about their
 * size must outlive them, as it must outlive lost ones. Tracks that begin in the first frame are
 * not counted, because a crowd may be there.
 *
 * Where a track moved in its place, for a minute others that begin there must go farther. So must
 * others in a place where things move all the time that do not travel, such as a fan or a screen,
 * until they are outside it. */
#include "tracking/tracker-private.h"

#define CALM 3.0            /* tracks that went nowhere; a place with so many is still calm */
#define RESTLESS 13.0       /* the same; a place with so many is fully restless */
#define PASSED 2.0          /* sizes; where an object has gone so far, objects pass */
#define REFUTED 0.37        /* a refuted track counts 1, and so much after MEMORY */
#define MEMORY 60.0         /* seconds, the time constant of forgetting them */
#define PICTURE_MEMORY 10.0 /* the same for the whole picture */
#define LOST_MEMORY 4.0     /* the same for those that were lost */
#define MOST_LOST 5.0       /* lost tracks of a large cell that count at most */
#define MANY_LOST 8.0       /* lost tracks in a large cell and those beside it that are many */
#define MISTAKE_MEMORY 30.0 /* seconds, the time constant of forgetting mistakes */
#define MOST_MISTAKES 10.0  /* of a large cell that count at most */
#define MANY_MISTAKES 4.0   /* in a large cell and those beside it */
#define MISTAKE_AGE 10.0    /* seconds; a track that lived for longer was none, */
#define MISTAKE_REST 1.0    /* nor was one that had rested for so long */
#define BEGUN_MEMORY 1.0    /* seconds, the time constant of forgetting tracks that began */
#define FEW_BEGUN 8.0   /* that began in a large cell and those beside it: it is still calm; with */
                        /* twice as many it is fully restless */
#define MANY_BEGUN 12.0 /* from so many on, another one of their size must outlive them */
#define BEGUN_PER_MISTAKE 8.0 /* tracks that began count as one mistake */
#define MOVING 0.2 /* part of the time in which something is in a cell that moves for ever */
#define MOVING_MEMORY 20.0 /* seconds, the time constant of that */
#define MOST_MOVING 1.0    /* seconds for which a frame counts at most */
#define WITHIN 0.75        /* least part of a box that is inside such cells */

typedef struct Cells {
  uint32_t left, top, right, bottom; /* the last two belong to it */
} Cells;

/* Whether the border does not cut the track. */
static bool
is_inside (const CclTracker *tracker, const Track *t)
{
  return t->box.left > 0 && t->box.top > 0 && t->box.right < tracker->plan.width &&
         t->box.bottom < tracker->plan.height;
}

static uint32_t
cell_at (double place, uint32_t extent)
{
  const double cell = place * CUDACCL_TRAVEL_CELLS / extent;
  return cell <= 0 ? 0 : cell >= CUDACCL_TRAVEL_CELLS ? CUDACCL_TRAVEL_CELLS - 1 : (uint32_t)cell;
}

static uint32_t
large_cell_at (double place, uint32_t extent)
{
  return cell_at (place, extent) * CUDACCL_LARGE_CELLS / CUDACCL_TRAVEL_CELLS;
}

/* The sum of the large cell at a place and of its neighbours. */
static CclLostTracks
sum_around (const CclTracker *tracker,
    const CclLostTracks cells[CUDACCL_LARGE_CELLS][CUDACCL_LARGE_CELLS], double place_x,
    double place_y)
{
  const uint32_t x = large_cell_at (place_x, tracker->plan.width);
  const uint32_t y = large_cell_at (place_y, tracker->plan.height);
  CclLostTracks sum = {0, 0};
  for (uint32_t v = y - (y > 0); v <= y + 1 && v < CUDACCL_LARGE_CELLS; v++)
    for (uint32_t u = x - (x > 0); u <= x + 1 && u < CUDACCL_LARGE_CELLS; u++) {
      sum.n += cells[v][u].n;
      sum.logs += cells[v][u].logs;
    }
  return sum;
}

/* The cell of the place and the cells beside it count, or the whole picture. */
double
ccl_tracker_restlessness (const CclTracker *tracker, double place_x, double place_y)
{
  const uint32_t x = cell_at (place_x, tracker->plan.width);
  const uint32_t y = cell_at (place_y, tracker->plan.height);
  double sum = 0;
  for (uint32_t v = y - (y > 0); v <= y + 1 && v < CUDACCL_TRAVEL_CELLS; v++)
    for (uint32_t u = x - (x > 0); u <= x + 1 && u < CUDACCL_TRAVEL_CELLS; u++)
      sum += tracker->restless[v][u];
  sum = ccl_max (sum, tracker->restless_picture);
  const double begun = sum_around (tracker, tracker->begun, place_x, place_y).n;
  return ccl_min (ccl_max (ccl_max (sum - CALM, 0) / (RESTLESS - CALM), begun / FEW_BEGUN - 1), 1);
}

/* The mean of logarithms is hardly moved by waves that meet and become one component. */
double
ccl_tracker_size_of_lost (const CclTracker *tracker, double place_x, double place_y)
{
  const CclLostTracks lost = sum_around (tracker, tracker->lost, place_x, place_y);
  const CclLostTracks mistaken = sum_around (tracker, tracker->mistaken, place_x, place_y);
  const CclLostTracks begun = sum_around (tracker, tracker->begun, place_x, place_y);
  if (lost.n >= MANY_LOST || mistaken.n >= MANY_MISTAKES)
    return exp ((lost.logs + mistaken.logs) / (lost.n + mistaken.n));
  return begun.n >= MANY_BEGUN ? exp (begun.logs / begun.n) : 0;
}

double
ccl_tracker_count_evidence (const CclTracker *tracker, double place_x, double place_y)
{
  return sum_around (tracker, tracker->mistaken, place_x, place_y).n +
         sum_around (tracker, tracker->begun, place_x, place_y).n / BEGUN_PER_MISTAKE;
}

bool
ccl_tracker_was_refuted (const CclTracker *tracker, double place_x, double place_y)
{
  return tracker->refuted[cell_at (place_y, tracker->plan.height)]
                         [cell_at (place_x, tracker->plan.width)] > REFUTED;
}

static Cells
cells_of (const CclTracker *tracker, const CclBox *box)
{
  const CclTrackerPlan *frame = &tracker->plan;
  return (Cells){cell_at (box->left, frame->width), cell_at (box->top, frame->height),
      cell_at (box->right, frame->width), cell_at (box->bottom, frame->height)};
}

/* The part of the box in cells that move for ever. */
static double
moving_part (const CclTracker *tracker, const CclBox *box)
{
  const double width = (double)tracker->plan.width / CUDACCL_TRAVEL_CELLS;
  const double height = (double)tracker->plan.height / CUDACCL_TRAVEL_CELLS;
  const Cells cells = cells_of (tracker, box);
  double area = 0;
  for (uint32_t v = cells.top; v <= cells.bottom; v++)
    for (uint32_t u = cells.left; u <= cells.right; u++) {
      const CclBox cell = {u * width, v * height, (u + 1) * width, (v + 1) * height};
      area += tracker->moving[v][u] > MOVING ? ccl_box_overlap (&cell, box) : 0;
    }
  return area / ccl_box_area (box);
}

bool
ccl_tracker_stays_in_moving_place (const CclTracker *tracker, const Track *t)
{
  const CclBox begin = {t->begin_x - t->begin_width / 2, t->begin_y - t->begin_height / 2,
      t->begin_x + t->begin_width / 2, t->begin_y + t->begin_height / 2};
  return moving_part (tracker, &begin) >= WITHIN &&
         moving_part (tracker, &t->component_box) >= WITHIN;
}

static void
set_refuted (CclTracker *tracker, const CclBox *box, double value)
{
  const Cells cells = cells_of (tracker, box);
  for (uint32_t v = cells.top; v <= cells.bottom; v++)
    for (uint32_t u = cells.left; u <= cells.right; u++)
      tracker->refuted[v][u] = value;
}

/* The cells between the place where the track began and its present place. */
void
ccl_tracker_remember_refuted (CclTracker *tracker, const Track *t)
{
  const double half_x = t->begin_width / 2, half_y = t->begin_height / 2;
  const CclBox box = {ccl_min (t->box.left, t->begin_x - half_x),
      ccl_min (t->box.top, t->begin_y - half_y), ccl_max (t->box.right, t->begin_x + half_x),
      ccl_max (t->box.bottom, t->begin_y + half_y)};
  set_refuted (tracker, &box, 1);
}

void
ccl_tracker_remember_way (CclTracker *tracker, const Track *t)
{
  if (t->confirmed && t->farthest >= PASSED)
    set_refuted (tracker, &t->box, 0);
}

static void
forget (CclLostTracks *lost, double kept)
{
  lost->n *= kept;
  lost->logs *= kept;
}

void
ccl_tracker_forget_places (CclTracker *tracker, double elapsed)
{
  const double time = elapsed * tracker->frame_time, kept = 1 / (1 + time / MEMORY);
  tracker->time += time;
  for (uint32_t v = 0; v < CUDACCL_TRAVEL_CELLS; v++)
    for (uint32_t u = 0; u < CUDACCL_TRAVEL_CELLS; u++) {
      tracker->restless[v][u] *= kept;
      tracker->refuted[v][u] *= kept;
      tracker->moving[v][u] /= 1 + time / MOVING_MEMORY;
    }
  tracker->restless_picture /= 1 + time / PICTURE_MEMORY;
  for (uint32_t v = 0; v < CUDACCL_LARGE_CELLS; v++)
    for (uint32_t u = 0; u < CUDACCL_LARGE_CELLS; u++) {
      forget (&tracker->lost[v][u], 1 / (1 + time / LOST_MEMORY));
      forget (&tracker->mistaken[v][u], 1 / (1 + time / MISTAKE_MEMORY));
      forget (&tracker->begun[v][u], 1 / (1 + time / BEGUN_MEMORY));
    }
}

static bool
has_travelled (const Track *t)
{
  return t->confirmed && t->travelled;
}

/* Marks the components of objects that have travelled. */
static void
mark_travelled (CclTracker *tracker)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *t = &tracker->tracks[i];
    if (t->component != NONE && has_travelled (t))
      tracker->components[t->component].travelled = true;
  }
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    Component *c = &tracker->components[j];
    if (c->owner != NONE && has_travelled (&tracker->tracks[c->owner]))
      c->travelled = true;
  }
}

/* A cell counts once a frame, however many components are in it. */
void
ccl_tracker_remember_moving (CclTracker *tracker, double elapsed)
{
  const double time = ccl_min (elapsed * tracker->frame_time, MOST_MOVING);
  const double part = time / (MOVING_MEMORY + time);
  bool moves[CUDACCL_TRAVEL_CELLS][CUDACCL_TRAVEL_CELLS] = {{false}};
  mark_travelled (tracker);
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    if (tracker->components[j].travelled)
      continue;
    const Cells cells = cells_of (tracker, &tracker->components[j].box);
    for (uint32_t v = cells.top; v <= cells.bottom; v++)
      for (uint32_t u = cells.left; u <= cells.right; u++) {
        tracker->moving[v][u] += moves[v][u] ? 0 : part;
        moves[v][u] = true;
      }
  }
}

void
ccl_tracker_remember_begin (CclTracker *tracker, const Track *t)
{
  if (tracker->time <= 0)
    return;
  CclLostTracks *begun = &tracker->begun[large_cell_at (t->begin_y, tracker->plan.height)]
                                        [large_cell_at (t->begin_x, tracker->plan.width)];
  begun->n++;
  begun->logs += log (ccl_track_size (t));
}

/* A large cell with more than `most` of them forgets earlier ones, and is calm again soon. */
static void
count_lost (CclLostTracks *lost, const Track *t, double most)
{
  lost->n++;
  lost->logs += log (ccl_track_size (t));
  if (lost->n > most)
    forget (lost, most / lost->n);
}

static bool
is_mistake (const CclTracker *tracker, const Track *t)
{
  return t->confirmed && ccl_tracker_begins_inside (tracker, t) &&
         t->age * tracker->frame_time < MISTAKE_AGE &&
         t->rested * tracker->frame_time < MISTAKE_REST;
}

/* A track that the border cuts is not lost: it leaves the picture. */
static void
remember_lost (CclTracker *tracker, const Track *t)
{
  const uint32_t x = large_cell_at (t->x.centre, tracker->plan.width);
  const uint32_t y = large_cell_at (t->y.centre, tracker->plan.height);
  if (!is_inside (tracker, t))
    return;
  count_lost (&tracker->lost[y][x], t, MOST_LOST);
  if (is_mistake (tracker, t))
    count_lost (&tracker->mistaken[y][x], t, MOST_MISTAKES);
}

void
ccl_tracker_remember_place (CclTracker *tracker, const Track *t)
{
  const CclTrackerPlan *frame = &tracker->plan;
  const double x = t->x.centre, y = t->y.centre;
  if (t->leapt)
    return;
  remember_lost (tracker, t);
  if (t->travelled)
    return;
  tracker->restless[cell_at (y, frame->height)][cell_at (x, frame->width)]++;
  tracker->restless_picture++;
}
