/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For each frame: predict the tracks' boxes; assign components to tracks one to one where they fit
 * best; let a track without a component share the one that covers its box; add a component without
 * a track to the track that it is a piece of; correct the boxes with the measured edges and
 * centroids; begin tracks with the remaining components; end the tracks that are lost.
 *
 * A box that shares its component keeps its size and its velocity. Only the component's own edges
 * correct it: each one is the edge of the track that is predicted to be the outermost there.
 */
#include <cudaccl/tracker.h>

#include "assignment.h"
#include "box.h"
#include "kalman.h"
#include "label-overlap.h"
#include "layout.h"
#include "labeller-class.h"
#include "struct-size.h"
#include "sizes.h"

#include <math.h>
#include <stdlib.h>

/* Standard deviations, in object sizes; a size is the square root of the box's area. */
#define EDGE_NOISE 0.12  /* of a measured edge or centroid */
#define SHARED_NOISE 2.0 /* factor for the edges of a component that tracks share */
#define LOOSE_EDGE 0.3   /* added to an edge that was found to be elsewhere */

/* Of the changes within a second. Random changes add up as variances do. */
#define ACCELERATION 0.474  /* of the velocity, sizes per second */
#define GROWTH 0.0316       /* of the extent */
#define BORDER_GROWTH 0.316 /* of the extent while the border cuts the box */
#define FIRST_VELOCITY 2.5  /* of a new track's velocity, sizes per second */

#define PIXEL_FIT 0.5    /* weight of the overlap of pixels in the cost of a component */
#define PIXEL_COVER 0.3  /* its weight where a track shares a component */
#define MIN_FIT 0.45     /* a component that fits less is not assigned to the track */
#define GOOD_FIT 0.85    /* a component that fits less casts doubt on the track's box */
#define MIN_COVER 0.35   /* least part of a track's box inside a component that it shares */
#define PIECE_SLACK 0.2  /* sizes that a piece may reach out of its track's box */
#define SHAPE_RATE 0.1   /* learning rate of fill and centroid */
#define MAX_MISFITS 3    /* successive frames that a box may fit badly */
#define PROVEN_FRAMES 10 /* frames alone in a component after which a track is one object */
#define REST_RADIUS 0.25 /* sizes that an object at rest may move */
#define MIN_VISIBLE 0.4  /* least part of a lost track's box inside the frame */

#define NONE UINT32_MAX
#define MAX_CAPACITY 4096
#define MAX_ELAPSED 1000
#define MIN_FRAME_RATE 0.01
#define MAX_FRAME_RATE 10000

typedef struct Track {
  uint64_t id;
  CclAxis x, y;
  CclBox box;                   /* predicted, then corrected */
  uint32_t component, previous; /* in this frame and the one before; or NONE */
  uint32_t group;               /* of the frame before, or CUDACCL_NO_GROUP */

  /* The content of the box, learnt while the object is alone and whole. */
  double fill;       /* pixels of the component per pixel of the box */
  double centroid_x; /* in extents from the box's centre */
  double centroid_y;
  uint32_t n_alone;            /* frames in succession */
  uint32_t n_misfits;          /* frames in succession */
  double sampled_x, sampled_y; /* where its size was stored last */
  bool sampled, proven;

  bool confirmed, reported, ended, shared; /* shared: with another track, in the frame before */
  uint32_t n_found;                        /* runs; a tentative track ends when it is not found */
  double age, lost, hidden;      /* frames since the first; since it was found; since an edge of its
                                  * component was its own */
  double rest_x, rest_y, rested; /* its place of rest, and for how many frames */
} Track;

typedef struct Component {
  CclBox box; /* box, area and centroid include its pieces */
  double area, centroid_x, centroid_y;
  uint32_t row;                      /* of the table */
  uint32_t owner;                    /* track that it is a piece of, or NONE */
  uint32_t n_members;                /* tracks that are in it */
  uint32_t left, top, right, bottom; /* members that are the outermost there */
  bool ignored;                      /* noise inside a track's box */
  bool whole;                        /* all of it is inside the frame */
  bool pieced;
} Component;

/* A component with its pieces, and the tracks in it, in the frame before. */
typedef struct Group {
  double area;
  double motion_x, motion_y; /* sums of its tracks' predicted motions, pixels */
  uint32_t n_tracks;
} Group;

struct CclTracker {
  CclTrackerPlan plan;
  double frame_time; /* seconds */
  uint64_t last_id;
  CclSizes sizes;

  Track *tracks;         /* in the order of their ids */
  Component *components; /* in the table's order */
  uint32_t n_tracks, n_components;

  uint32_t *first, *column; /* the assignment problem */
  double *cost;
  CclAssignmentScratch scratch;
  uint32_t *of_track; /* component assigned; later the track's new index */

  CclTrack *result;
  CclTrackMember *members;
  uint32_t *member_end; /* of each component's in the list of members */
  CclTrackEvent *events;
  uint32_t n_events;

  void *label_memory; /* of `overlap` and `groups`; NULL before the first label map */
  CclLabelOverlap overlap;
  Group *groups;
  bool has_overlap; /* this frame and the one before have label maps */
};

static inline double
box_size (const Track *t)
{
  return sqrt (t->x.extent * t->y.extent);
}

/* A variance in pixels² from a standard deviation in object sizes. */
static inline double
relative_variance (const Track *t, double deviation)
{
  return deviation * deviation * t->x.extent * t->y.extent;
}

static void
update_box (Track *t)
{
  t->x.extent = ccl_max (t->x.extent, 1);
  t->y.extent = ccl_max (t->y.extent, 1);
  t->box = (CclBox){ccl_axis_at (&t->x, CUDACCL_AXIS_LOW), ccl_axis_at (&t->y, CUDACCL_AXIS_LOW),
      ccl_axis_at (&t->x, CUDACCL_AXIS_HIGH), ccl_axis_at (&t->y, CUDACCL_AXIS_HIGH)};
}

static void
predict_tracks (CclTracker *tracker, double elapsed)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *t = &tracker->tracks[i];
    const double acceleration =
        relative_variance (t, ACCELERATION * tracker->frame_time) * tracker->frame_time;
    const double growth = relative_variance (t, GROWTH) * tracker->frame_time;
    ccl_axis_predict (&t->x, elapsed, acceleration, growth);
    ccl_axis_predict (&t->y, elapsed, acceleration, growth);
    update_box (t);
    t->age += elapsed;
    t->previous = t->component;
    t->component = NONE;
  }
}

/* The least of 0, 1, 3, 7, … such that at most max_rows rows have more pixels. */
static uint32_t
find_min_area (const CclTable *table, uint32_t max_rows)
{
  for (uint32_t min_area = 0;; min_area = 2 * min_area + 1) {
    uint32_t n = 0;
    for (uint32_t row = 0; row < table->n_rows; row++)
      n += table->rows[row].area > min_area;
    if (n <= max_rows)
      return min_area;
  }
}

static void
take_components (CclTracker *tracker, const CclTable *table)
{
  const uint32_t min_area = find_min_area (table, tracker->plan.max_components);
  uint32_t n = 0;
  for (uint32_t row = 0; row < table->n_rows; row++) {
    const CclComponent *from = &table->rows[row];
    if (from->area <= min_area)
      continue;
    const CclBox box = {
        from->x, from->y, (double)from->x + from->width, (double)from->y + from->height};
    tracker->components[n++] = (Component){
        .box = box,
        .area = from->area,
        .centroid_x = from->centroid_x + 0.5, /* pixel centres are at integers there */
        .centroid_y = from->centroid_y + 0.5,
        .row = row,
        .owner = NONE,
        .left = NONE,
        .top = NONE,
        .right = NONE,
        .bottom = NONE,
        .whole = box.left > 0 && box.top > 0 && box.right < tracker->plan.width &&
                 box.bottom < tracker->plan.height,
    };
  }
  tracker->n_components = n;
}

/* How well a measured edge fits the predicted one, 0…1. Adds to `sharpness` how much of its
 * variance is that of the measurement, 0…1. */
static inline double
fit_edge (const CclAxis *a, double place, double measured, double variance, double *sharpness)
{
  const double error = measured - ccl_axis_at (a, place);
  const double total = ccl_axis_variance (a, place) + variance;
  *sharpness += 0.25 * variance / total;
  return 0.25 / (1 + error * error / (4 * total));
}

/* Each edge is compared alone: a component that contains the object and more, or only a part of it,
 * still fits at some edges. */
static double
fit_box (const Track *t, const CclBox *box, double *sharpness)
{
  const double variance = relative_variance (t, EDGE_NOISE);
  *sharpness = 0;
  return fit_edge (&t->x, CUDACCL_AXIS_LOW, box->left, variance, sharpness) +
         fit_edge (&t->x, CUDACCL_AXIS_HIGH, box->right, variance, sharpness) +
         fit_edge (&t->y, CUDACCL_AXIS_LOW, box->top, variance, sharpness) +
         fit_edge (&t->y, CUDACCL_AXIS_HIGH, box->bottom, variance, sharpness);
}

/* Predicts the motion of each group as the mean of its tracks' motions. */
static void
shift_groups (CclTracker *tracker, double elapsed)
{
  const double most = CUDACCL_MAX_PIXELS / 2;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *t = &tracker->tracks[i];
    if (t->group == CUDACCL_NO_GROUP)
      continue;
    tracker->groups[t->group].motion_x += elapsed * t->x.velocity;
    tracker->groups[t->group].motion_y += elapsed * t->y.velocity;
  }
  for (uint32_t i = 0; i < tracker->overlap.n_groups; i++) {
    const Group *g = &tracker->groups[i];
    const double x = floor (g->motion_x / g->n_tracks + 0.5);
    const double y = floor (g->motion_y / g->n_tracks + 0.5);
    tracker->overlap.shift[i] = (CclShift){
        (int32_t)ccl_min (ccl_max (x, -most), most), (int32_t)ccl_min (ccl_max (y, -most), most)};
  }
}

static void
count_shared_pixels (
    CclTracker *tracker, const CclTable *table, const CclLabels *labels, double elapsed)
{
  CclLabelOverlap *o = &tracker->overlap;
  tracker->has_overlap = labels && o->n_groups > 0;
  if (!labels)
    return;
  o->n_components = tracker->n_components;
  for (uint32_t j = 0; j < tracker->n_components; j++)
    o->label[j] = table->rows[tracker->components[j].row].label;
  shift_groups (tracker, elapsed);
  ccl_label_overlap_count (o, labels);
}

static inline bool
has_pixels (const CclTracker *tracker, const Track *t)
{
  return tracker->has_overlap && t->group != CUDACCL_NO_GROUP;
}

/* The pixels of the track's group that are in a component of this frame. A label map that does not
 * belong to the table could have more of them. */
static double
shared_pixels (const CclTracker *tracker, const Track *t, uint32_t component)
{
  const double n = tracker->overlap.shared[(size_t)t->group * tracker->n_components + component];
  return ccl_min (n, ccl_min (tracker->groups[t->group].area, tracker->components[component].area));
}

/* The intersection over union of the component's pixels and those of the track's former one, where
 * they are known and belonged to this track alone; else 0. */
static double
overlap_pixels (const CclTracker *tracker, const Track *t, uint32_t component)
{
  if (!has_pixels (tracker, t) || tracker->groups[t->group].n_tracks > 1)
    return 0;
  const double both = shared_pixels (tracker, t, component);
  return both / (tracker->groups[t->group].area + tracker->components[component].area - both);
}

/* The entries of one track. The cost of a component falls with its fit, with the certainty of the
 * prediction, and with the overlap of pixels. */
static uint32_t
add_entries (CclTracker *tracker, const Track *t, uint32_t n)
{
  const double variance = relative_variance (t, EDGE_NOISE);
  const double x = 3 * sqrt (t->x.cc + variance), y = 3 * sqrt (t->y.cc + variance);
  const CclBox near = {t->box.left - x, t->box.top - y, t->box.right + x, t->box.bottom + y};
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    const CclBox *box = &tracker->components[j].box;
    if (box->left > near.right || box->right < near.left || box->top > near.bottom ||
        box->bottom < near.top)
      continue;
    double sharpness;
    const double fit = fit_box (t, box, &sharpness);
    if (fit < MIN_FIT)
      continue;
    const double cost = 1 - fit * (0.5 + 0.5 * sqrt (sharpness));
    tracker->column[n] = j;
    tracker->cost[n++] = cost * (1 - PIXEL_FIT * overlap_pixels (tracker, t, j));
  }
  return n;
}

static void
assign_one_to_one (CclTracker *tracker)
{
  tracker->first[0] = 0;
  for (uint32_t i = 0; i < tracker->n_tracks; i++)
    tracker->first[i + 1] = add_entries (tracker, &tracker->tracks[i], tracker->first[i]);
  const CclAssignmentProblem problem = {
      .n_rows = tracker->n_tracks,
      .n_columns = tracker->n_components,
      .first = tracker->first,
      .column = tracker->column,
      .cost = tracker->cost,
      .unassigned = 1,
  };
  ccl_assign (&problem, &tracker->scratch, tracker->of_track);
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    tracker->tracks[i].component = tracker->of_track[i];
    if (tracker->of_track[i] != NONE)
      tracker->components[tracker->of_track[i]].n_members = 1;
  }
}

/* How much of a track's box a component covers, in pixels. With label maps, this is reduced where
 * the pixels of the track's former component are elsewhere. */
static double
cover_track (const CclTracker *tracker, const Track *t, uint32_t component)
{
  const double cover = ccl_box_overlap (&t->box, &tracker->components[component].box);
  if (!has_pixels (tracker, t))
    return cover;
  const double part = shared_pixels (tracker, t, component) / tracker->groups[t->group].area;
  return cover * (1 - PIXEL_COVER + PIXEL_COVER * part);
}

/* A track without a component that was found in the frame before is in the component that covers
 * most of its box. */
static void
share_components (CclTracker *tracker)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *t = &tracker->tracks[i];
    if (t->component != NONE || t->lost > 0)
      continue;
    double most = MIN_COVER * ccl_box_area (&t->box);
    for (uint32_t j = 0; j < tracker->n_components; j++) {
      const double cover = cover_track (tracker, t, j);
      if (cover > most) {
        most = cover;
        t->component = j;
      }
    }
    if (t->component != NONE)
      tracker->components[t->component].n_members++;
  }
}

/* The track whose box contains the component and has the largest part covered by it, or NONE. */
static uint32_t
find_owner (const CclTracker *tracker, const CclBox *piece)
{
  uint32_t owner = NONE;
  double most = 0;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *t = &tracker->tracks[i];
    if (!ccl_box_holds (&t->box, piece, PIECE_SLACK * box_size (t)))
      continue;
    const double part = ccl_box_overlap (&t->box, piece) / ccl_box_area (&t->box);
    if (part > most) {
      most = part;
      owner = i;
    }
  }
  return owner;
}

static void
add_piece (Component *whole, Component *piece, uint32_t owner)
{
  const double part = piece->area / (whole->area + piece->area);
  whole->box = ccl_box_union (&whole->box, &piece->box);
  whole->centroid_x += part * (piece->centroid_x - whole->centroid_x);
  whole->centroid_y += part * (piece->centroid_y - whole->centroid_y);
  whole->area += piece->area;
  whole->whole = whole->whole && piece->whole;
  whole->pieced = true;
  piece->owner = owner;
}

static void
loosen (Track *t)
{
  const double variance = relative_variance (t, LOOSE_EDGE);
  ccl_axis_loosen (&t->x, variance);
  ccl_axis_loosen (&t->y, variance);
}

/* Classifies a component without a track inside the box of a track. It is a piece, unless the
 * track's component has the size of an object. Then it is an object if it has the size of one, and
 * the box was too large; else it is noise. */
static void
decide_piece (CclTracker *tracker, Component *c, uint32_t owner)
{
  Track *t = &tracker->tracks[owner];
  if (t->component == NONE) {
    t->component = (uint32_t)(c - tracker->components);
    c->n_members = 1;
    return;
  }
  Component *main = &tracker->components[t->component];
  if (main->n_members > 1 || !ccl_sizes_contain (&tracker->sizes, &main->box))
    add_piece (main, c, owner);
  else if (ccl_sizes_contain (&tracker->sizes, &c->box))
    loosen (t);
  else
    c->ignored = true;
}

static void
join_pieces (CclTracker *tracker)
{
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    Component *c = &tracker->components[j];
    const uint32_t owner = c->n_members == 0 ? find_owner (tracker, &c->box) : NONE;
    if (owner != NONE)
      decide_piece (tracker, c, owner);
  }
}

static void
find_outermost (CclTracker *tracker)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *tracks = tracker->tracks, *t = &tracks[i];
    if (t->component == NONE)
      continue;
    Component *c = &tracker->components[t->component];
    if (c->left == NONE || t->box.left < tracks[c->left].box.left)
      c->left = i;
    if (c->top == NONE || t->box.top < tracks[c->top].box.top)
      c->top = i;
    if (c->right == NONE || t->box.right > tracks[c->right].box.right)
      c->right = i;
    if (c->bottom == NONE || t->box.bottom > tracks[c->bottom].box.bottom)
      c->bottom = i;
  }
}

/* An edge of a component belongs to its outermost track, and no other box reaches beyond it. At the
 * frame's border the object's edge is not visible, but the box reaches the border. */
static void
correct_edge (
    CclAxis *a, double place, double measured, double border, bool outermost, double variance)
{
  const bool is_border = place < 0 ? measured <= border : measured >= border;
  const double predicted = ccl_axis_at (a, place);
  const bool beyond = place < 0 ? predicted < measured : predicted > measured;
  if (is_border ? !beyond : outermost || beyond)
    ccl_axis_measure (a, place, measured, variance);
}

static void
correct_edges (const CclTracker *tracker, uint32_t i, double variance)
{
  Track *t = &tracker->tracks[i];
  const Component *c = &tracker->components[t->component];
  const CclTrackerPlan *frame = &tracker->plan;
  correct_edge (&t->x, CUDACCL_AXIS_LOW, c->box.left, 0, c->left == i, variance);
  correct_edge (&t->x, CUDACCL_AXIS_HIGH, c->box.right, frame->width, c->right == i, variance);
  correct_edge (&t->y, CUDACCL_AXIS_LOW, c->box.top, 0, c->top == i, variance);
  correct_edge (&t->y, CUDACCL_AXIS_HIGH, c->box.bottom, frame->height, c->bottom == i, variance);
}

/* Corrects a box with the centroid of a component of this object alone, and learns the centroid's
 * place in the box. Returns the variance of the edges. It is greater where the component fills less
 * of its box than the object does, because then a part of the component, such as a shadow, is not
 * the object. */
static double
correct_centroid (Track *t, const Component *c, double variance)
{
  const double width = c->box.right - c->box.left, height = c->box.bottom - c->box.top;
  const double fill = c->area / (width * height), thinner = t->fill / fill;
  const double x = (c->centroid_x - 0.5 * (c->box.left + c->box.right)) / width;
  const double y = (c->centroid_y - 0.5 * (c->box.top + c->box.bottom)) / height;
  ccl_axis_measure (&t->x, t->centroid_x, c->centroid_x, variance);
  ccl_axis_measure (&t->y, t->centroid_y, c->centroid_y, variance);
  t->fill += SHAPE_RATE * (fill - t->fill);
  t->centroid_x += SHAPE_RATE * (x - t->centroid_x);
  t->centroid_y += SHAPE_RATE * (y - t->centroid_y);
  return thinner > 1 ? thinner * thinner * variance : variance;
}

/* A box that fits badly in several frames is measured anew, unless it has the size of an object and
 * the component has not. */
static void
doubt_box (CclTracker *tracker, Track *t, const Component *c)
{
  double sharpness;
  if (fit_box (t, &c->box, &sharpness) > GOOD_FIT) {
    t->n_misfits = 0;
  } else if (++t->n_misfits >= MAX_MISFITS && (ccl_sizes_contain (&tracker->sizes, &c->box) ||
                                                  !ccl_sizes_contain (&tracker->sizes, &t->box))) {
    loosen (t);
    t->n_misfits = 0;
  }
}

static void
correct_track (CclTracker *tracker, uint32_t i, double elapsed)
{
  Track *t = &tracker->tracks[i];
  const Component *c = &tracker->components[t->component];
  const bool alone = c->n_members == 1;
  double variance = relative_variance (t, alone ? EDGE_NOISE : SHARED_NOISE * EDGE_NOISE);
  if (alone) {
    doubt_box (tracker, t, c);
    if (c->whole)
      variance = correct_centroid (t, c, variance);
  }
  const double growth = relative_variance (t, BORDER_GROWTH) * tracker->frame_time * elapsed;
  if (c->box.left <= 0 || c->box.right >= tracker->plan.width)
    t->x.ee += growth;
  if (c->box.top <= 0 || c->box.bottom >= tracker->plan.height)
    t->y.ee += growth;
  correct_edges (tracker, i, variance);
  update_box (t);
  const bool hidden = c->left != i && c->top != i && c->right != i && c->bottom != i;
  t->hidden = hidden ? t->hidden + elapsed : 0;
}

static void
begin_tracks (CclTracker *tracker)
{
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    Component *c = &tracker->components[j];
    if (c->n_members > 0 || c->owner != NONE || c->ignored)
      continue;
    if (tracker->n_tracks == tracker->plan.max_tracks)
      return;
    const double area = ccl_box_area (&c->box);
    const double edge = EDGE_NOISE * EDGE_NOISE * area;
    const double deviation = FIRST_VELOCITY * tracker->frame_time;
    const double velocity = deviation * deviation * area;
    Track *t = &tracker->tracks[tracker->n_tracks++];
    *t = (Track){
        .id = ++tracker->last_id,
        .x = ccl_axis_new (c->box.left, c->box.right, edge, velocity),
        .y = ccl_axis_new (c->box.top, c->box.bottom, edge, velocity),
        .component = j,
        .previous = NONE,
        .group = CUDACCL_NO_GROUP,
        .fill = c->area / area,
    };
    update_box (t);
    t->rest_x = t->x.centre;
    t->rest_y = t->y.centre;
    c->n_members = 1;
  }
}

static inline bool
is_farther (const Track *t, double x, double y, double distance)
{
  const double dx = t->x.centre - x, dy = t->y.centre - y;
  return dx * dx + dy * dy > distance * distance;
}

static void
count_frames (Track *t, const CclTrackerOptions *options, double elapsed)
{
  if (t->component == NONE) {
    t->lost += elapsed;
  } else {
    t->n_found++;
    t->lost = 0;
  }
  t->confirmed = t->confirmed || t->n_found >= options->confirm_frames;
  if (is_farther (t, t->rest_x, t->rest_y, REST_RADIUS * box_size (t))) {
    t->rest_x = t->x.centre;
    t->rest_y = t->y.centre;
    t->rested = 0;
  } else {
    t->rested += elapsed;
  }
}

/* Stores the size of an object that was alone and whole for PROVEN_FRAMES, once at each place. */
static void
store_size (CclTracker *tracker, Track *t)
{
  const Component *c = t->component == NONE ? NULL : &tracker->components[t->component];
  t->n_alone = c && c->n_members == 1 && !c->pieced ? t->n_alone + 1 : 0;
  if (t->n_alone < PROVEN_FRAMES)
    return;
  t->proven = true;
  if (!t->confirmed || !c->whole ||
      (t->sampled && !is_farther (t, t->sampled_x, t->sampled_y, box_size (t))))
    return;
  ccl_sizes_add (&tracker->sizes, &t->box);
  t->sampled = true;
  t->sampled_x = t->x.centre;
  t->sampled_y = t->y.centre;
}

/* A track that shares its component is a piece of another object if it was never alone for
 * PROVEN_FRAMES, and lacks the size of an object while the component has it. */
static bool
is_mere_piece (const CclTracker *tracker, const Track *t, const Component *c)
{
  return !t->proven && ccl_sizes_contain (&tracker->sizes, &c->box) &&
         !ccl_sizes_contain (&tracker->sizes, &t->box);
}

static bool
has_ended (const CclTracker *tracker, const Track *t, const CclTrackerOptions *options)
{
  if (t->component != NONE) {
    const Component *c = &tracker->components[t->component];
    return c->n_members > 1 &&
           (!t->confirmed || t->hidden > options->max_lost || is_mere_piece (tracker, t, c));
  }
  const CclBox frame = {0, 0, tracker->plan.width, tracker->plan.height};
  return !t->confirmed || t->lost > options->max_lost ||
         ccl_box_overlap (&t->box, &frame) < MIN_VISIBLE * ccl_box_area (&t->box);
}

static void
add_event (CclTracker *tracker, CclTrackEventKind kind, uint64_t id, uint64_t other)
{
  tracker->events[tracker->n_events++] = (CclTrackEvent){.kind = kind, .id = id, .other = other};
}

/* From the latest to the oldest: of two tracks in one component, the older one stays. */
static void
end_tracks (CclTracker *tracker, const CclTrackerOptions *options)
{
  for (uint32_t i = tracker->n_tracks; i-- > 0;) {
    Track *t = &tracker->tracks[i];
    t->ended = has_ended (tracker, t, options);
    if (t->ended && t->component != NONE)
      tracker->components[t->component].n_members--;
  }
  uint32_t n = 0;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *t = &tracker->tracks[i];
    tracker->of_track[i] = t->ended ? NONE : n;
    if (!t->ended)
      tracker->tracks[n++] = *t;
    else if (t->reported)
      add_event (tracker, CUDACCL_TRACK_VANISHED, t->id, 0);
  }
  tracker->n_tracks = n;
}

/* The oldest confirmed track that shared a component with t in the frame before and no longer does
 * (before), or does so now and did not before (!before); 0 if there is none. */
static uint64_t
find_other (const CclTracker *tracker, const Track *t, bool before)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *o = &tracker->tracks[i];
    const bool together = o->component != NONE && o->component == t->component;
    const bool were_together = o->previous != NONE && o->previous == t->previous;
    if (o != t && o->confirmed && o->component != NONE && together != before &&
        were_together == before)
      return o->id;
  }
  return 0;
}

static void
find_events (CclTracker *tracker)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *t = &tracker->tracks[i];
    const bool shares = t->component != NONE && tracker->components[t->component].n_members > 1;
    if (t->confirmed && !t->reported)
      add_event (tracker, CUDACCL_TRACK_APPEARED, t->id, 0);
    t->reported = t->confirmed;
    const uint64_t met = shares && t->reported ? find_other (tracker, t, false) : 0;
    const uint64_t left = t->shared && t->component != NONE ? find_other (tracker, t, true) : 0;
    if (met)
      add_event (tracker, CUDACCL_TRACK_MERGED, t->id, met);
    if (left)
      add_event (tracker, CUDACCL_TRACK_SPLIT, t->id, left);
    t->shared = shares;
  }
}

/* Counting sort by component. */
static uint32_t
list_members (CclTracker *tracker)
{
  uint32_t n = 0;
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    Component *c = &tracker->components[j];
    if (c->owner != NONE)
      c->owner = tracker->of_track[c->owner];
    tracker->member_end[j] = n;
    n += c->n_members + (c->owner != NONE);
    if (c->owner != NONE)
      tracker->members[tracker->member_end[j]++] = (CclTrackMember){c->row, c->owner};
  }
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const uint32_t j = tracker->tracks[i].component;
    if (j != NONE)
      tracker->members[tracker->member_end[j]++] = (CclTrackMember){tracker->components[j].row, i};
  }
  return n;
}

static CclTrackState
state_of (const Track *t, const CclTrackerOptions *options)
{
  if (!t->confirmed)
    return CUDACCL_TRACK_TENTATIVE;
  if (t->component == NONE)
    return CUDACCL_TRACK_LOST;
  return options->static_frames && t->rested >= options->static_frames ? CUDACCL_TRACK_STATIC
                                                                       : CUDACCL_TRACK_CONFIRMED;
}

static void
report (
    CclTracker *tracker, const CclTable *table, const CclTrackerOptions *options, CclTracks *tracks)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *t = &tracker->tracks[i];
    const Component *c = t->component == NONE ? NULL : &tracker->components[t->component];
    tracker->result[i] = (CclTrack){
        .id = t->id,
        .state = state_of (t, options),
        .age = (uint64_t)(t->age + 0.5),
        .lost = (uint64_t)(t->lost + 0.5),
        .label = c ? table->rows[c->row].label : 0,
        .n_sharing = c ? c->n_members - 1 : 0,
        .x = t->box.left,
        .y = t->box.top,
        .width = t->x.extent,
        .height = t->y.extent,
        .velocity_x = t->x.velocity,
        .velocity_y = t->y.velocity,
    };
  }
  *tracks = (CclTracks){
      .n_tracks = tracker->n_tracks,
      .tracks = tracker->result,
      .n_members = list_members (tracker),
      .members = tracker->members,
      .n_events = tracker->n_events,
      .events = tracker->events,
  };
}

/* Stores where the tracks of this frame are, for the next one. */
static void
store_groups (CclTracker *tracker, const CclLabels *labels)
{
  CclLabelOverlap *o = &tracker->overlap;
  o->n_groups = 0;
  for (uint32_t i = 0; i < tracker->n_tracks; i++)
    tracker->tracks[i].group = CUDACCL_NO_GROUP;
  if (!labels)
    return;
  ccl_label_overlap_store (o, labels);
  for (uint32_t j = 0; j < tracker->n_components; j++)
    o->group[j] = CUDACCL_NO_GROUP;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *t = &tracker->tracks[i];
    if (t->component == NONE)
      continue;
    if (o->group[t->component] == CUDACCL_NO_GROUP) {
      tracker->groups[o->n_groups] = (Group){.area = tracker->components[t->component].area};
      o->group[t->component] = (uint16_t)o->n_groups++;
    }
    t->group = o->group[t->component];
    tracker->groups[t->group].n_tracks++;
  }
  for (uint32_t j = 0; j < tracker->n_components; j++)
    if (tracker->components[j].owner != NONE)
      o->group[j] = (uint16_t)tracker->tracks[tracker->components[j].owner].group;
}

/* Places the arrays for label maps. Returns their total size in bytes. */
static size_t
lay_out_overlap (CclTracker *t, void *memory)
{
  const size_t rows = t->plan.max_tracks, columns = t->plan.max_components;
  CclLabelOverlap *o = &t->overlap;
  const size_t n_rows = (t->plan.height + o->step - 1) / o->step;
  Layout layout = {.memory = memory, .alignment = 16};
  o->component = lay_out (&layout, (uint64_t)t->plan.width * n_rows, sizeof *o->component);
  o->group = lay_out (&layout, columns, sizeof *o->group);
  o->shift = lay_out (&layout, rows, sizeof *o->shift);
  o->label = lay_out (&layout, columns, sizeof *o->label);
  o->shared = lay_out (&layout, rows * columns, sizeof *o->shared);
  t->groups = lay_out (&layout, rows, sizeof *t->groups);
  return layout.size;
}

/* Allocates them at the first label map. */
static CclStatus
ensure_label_memory (CclTracker *tracker, CclError *error)
{
  if (tracker->label_memory)
    return CUDACCL_OK;
  tracker->overlap.width = tracker->plan.width;
  tracker->overlap.height = tracker->plan.height;
  tracker->overlap.step = ccl_label_overlap_step (tracker->plan.height);
  const size_t size = lay_out_overlap (tracker, NULL);
  tracker->label_memory = calloc (1, size);
  if (!tracker->label_memory)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to track label maps: %zu bytes", size);
  lay_out_overlap (tracker, tracker->label_memory);
  return CUDACCL_OK;
}

static CclStatus
check_labels (
    const CclTracker *tracker, const CclTable *table, const CclLabels *labels, CclError *error)
{
  if (!labels)
    return CUDACCL_OK;
  if (!labels->data || (uintptr_t)labels->data % 4 != 0 || labels->stride % 4 != 0 ||
      labels->stride / 4 < tracker->plan.width)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a label map must have rows of %u pixels of 4 bytes, aligned to 4 bytes",
        tracker->plan.width);
  for (uint32_t row = 1; row < table->n_rows; row++)
    if (table->rows[row].label <= table->rows[row - 1].label)
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
          "with a label map, the rows of the component table must be in the order of their labels");
  return CUDACCL_OK;
}

static CclStatus
check_run (const CclTracker *tracker, const CclTable *table, const CclLabels *labels,
    double elapsed, const CclTrackerOptions *options, const CclTracks *tracks, CclError *error)
{
  if (!tracker || !table || !options || !tracks)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "tracker, table, options and tracks must not be NULL");
  CclStatus status = ccl_struct_size_check (options, sizeof *options, error);
  if (status != CUDACCL_OK)
    return status;
  if (table->n_rows > 0 && !table->rows)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the component table has no rows: its pointer is NULL");
  if (!(elapsed > 0 && elapsed <= MAX_ELAPSED))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "elapsed must be greater than 0 and at most %d frames, not %g", MAX_ELAPSED, elapsed);
  if (options->confirm_frames < 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "confirm_frames must be at least 1");
  if (options->frame_rate != 0 &&
      !(options->frame_rate >= MIN_FRAME_RATE && options->frame_rate <= MAX_FRAME_RATE))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the frame rate must be 0 or %g…%d frames per second, not %g", MIN_FRAME_RATE,
        MAX_FRAME_RATE, options->frame_rate);
  for (uint32_t row = 0; row < table->n_rows; row++) {
    const CclComponent *c = &table->rows[row];
    if (c->area < 1 || c->width < 1 || c->height < 1 || c->x >= tracker->plan.width ||
        c->width > tracker->plan.width - c->x || c->y >= tracker->plan.height ||
        c->height > tracker->plan.height - c->y)
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
          "row %u of the component table is not inside a frame of %u×%u pixels", row,
          tracker->plan.width, tracker->plan.height);
  }
  return check_labels (tracker, table, labels, error);
}

CclStatus
ccl_tracker_run (CclTracker *tracker, const CclTable *table, const CclLabels *labels,
    double elapsed, const CclTrackerOptions *options, CclTracks *tracks, CclError *error)
{
  CclStatus status = check_run (tracker, table, labels, elapsed, options, tracks, error);
  if (status == CUDACCL_OK && labels)
    status = ensure_label_memory (tracker, error);
  if (status != CUDACCL_OK)
    return status;
  tracker->frame_time =
      1 / (options->frame_rate > 0 ? options->frame_rate : CUDACCL_TRACKER_FRAME_RATE);
  tracker->n_events = 0;
  predict_tracks (tracker, elapsed);
  take_components (tracker, table);
  count_shared_pixels (tracker, table, labels, elapsed);
  assign_one_to_one (tracker);
  share_components (tracker);
  join_pieces (tracker);
  find_outermost (tracker);
  for (uint32_t i = 0; i < tracker->n_tracks; i++)
    if (tracker->tracks[i].component != NONE)
      correct_track (tracker, i, elapsed);
  begin_tracks (tracker);
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    count_frames (&tracker->tracks[i], options, elapsed);
    store_size (tracker, &tracker->tracks[i]);
  }
  end_tracks (tracker, options);
  find_events (tracker);
  report (tracker, table, options, tracks);
  store_groups (tracker, labels);
  return CUDACCL_OK;
}

static CclStatus
check_plan (const CclTrackerPlan *plan, CclError *error)
{
  if (!plan)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the plan must not be NULL");
  CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->width < 1 || plan->height < 1 ||
      (uint64_t)plan->width * plan->height > CUDACCL_MAX_PIXELS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a frame must have 1…%d pixels, not %u×%u",
        CUDACCL_MAX_PIXELS, plan->width, plan->height);
  if (plan->max_tracks < 1 || plan->max_tracks > MAX_CAPACITY || plan->max_components < 1 ||
      plan->max_components > MAX_CAPACITY)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "max_tracks and max_components must be 1…%d, not %u and %u", MAX_CAPACITY, plan->max_tracks,
        plan->max_components);
  return CUDACCL_OK;
}

/* Places the arrays behind the struct. Returns the total size in bytes. */
static size_t
lay_out_tracker (CclTracker *t, const CclTrackerPlan *plan, void *memory)
{
  const size_t rows = plan->max_tracks, columns = plan->max_components, both = rows + columns;
  Layout layout = {.memory = memory, .alignment = 16};
  lay_out (&layout, 1, sizeof *t);
  t->tracks = lay_out (&layout, rows, sizeof *t->tracks);
  t->components = lay_out (&layout, columns, sizeof *t->components);
  t->first = lay_out (&layout, rows + 1, sizeof *t->first);
  t->column = lay_out (&layout, rows * columns, sizeof *t->column);
  t->cost = lay_out (&layout, rows * columns, sizeof *t->cost);
  t->of_track = lay_out (&layout, rows, sizeof *t->of_track);
  t->result = lay_out (&layout, rows, sizeof *t->result);
  t->members = lay_out (&layout, both, sizeof *t->members);
  t->member_end = lay_out (&layout, columns, sizeof *t->member_end);
  t->events = lay_out (&layout, 4 * rows, sizeof *t->events);
  t->scratch.row_price = lay_out (&layout, rows, sizeof (double));
  t->scratch.column_price = lay_out (&layout, both, sizeof (double));
  t->scratch.distance = lay_out (&layout, both, sizeof (double));
  t->scratch.previous = lay_out (&layout, both, sizeof (uint32_t));
  t->scratch.row_of_column = lay_out (&layout, both, sizeof (uint32_t));
  t->scratch.touched = lay_out (&layout, both, sizeof (uint32_t));
  t->scratch.done = lay_out (&layout, both, sizeof (uint8_t));
  return layout.size;
}

CclTracker *
ccl_tracker_new (const CclTrackerPlan *plan, CclError *error)
{
  if (check_plan (plan, error) != CUDACCL_OK)
    return NULL;
  CclTracker counted;
  const size_t size = lay_out_tracker (&counted, plan, NULL);
  CclTracker *tracker = calloc (1, size);
  if (!tracker) {
    ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to track components: %zu bytes", size);
    return NULL;
  }
  lay_out_tracker (tracker, plan, tracker);
  tracker->plan = *plan;
  return tracker;
}

void
ccl_tracker_reset (CclTracker *tracker)
{
  if (!tracker)
    return;
  tracker->n_tracks = 0;
  tracker->overlap.n_groups = 0;
  tracker->sizes.n = 0;
}

void
ccl_tracker_free (CclTracker **tracker)
{
  if (!tracker)
    return;
  if (*tracker)
    free ((*tracker)->label_memory);
  free (*tracker);
  *tracker = NULL;
}
