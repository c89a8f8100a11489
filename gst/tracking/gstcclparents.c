/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclparents.h"

void
gst_ccl_parents_init (GstCclParents *parents, guint max_tracks)
{
  *parents = (GstCclParents){
      .now = g_new (GstCclLineage, max_tracks),
      .before = g_new (GstCclLineage, max_tracks),
      .max_tracks = max_tracks,
  };
}

void
gst_ccl_parents_clear (GstCclParents *parents)
{
  g_free (parents->now);
  g_free (parents->before);
  *parents = (GstCclParents){0};
}

void
gst_ccl_parents_reset (GstCclParents *parents)
{
  parents->n = 0;
}

/* The number of pixels that two boxes share. */
static gdouble
overlap (const GstCclLineage *a, const GstCclLineage *b)
{
  const gdouble width = (gdouble)MIN (a->right, b->right) - MAX (a->left, b->left);
  const gdouble height = (gdouble)MIN (a->bottom, b->bottom) - MAX (a->top, b->top);

  return MAX (width, 0) * MAX (height, 0);
}

/* The track of that identity among the first n of this frame; NULL if it is not there. */
static const GstCclLineage *
find_lineage (const GstCclParents *parents, guint n, guint64 id)
{
  guint low = 0, high = n;

  while (low < high) {
    const guint middle = (low + high) / 2;
    if (parents->now[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && parents->now[low].id == id ? &parents->now[low] : NULL;
}

/* Whether a track that is older than track n is in another component of this frame. */
static gboolean
is_elsewhere (const GstCclParents *parents, guint n, guint64 id)
{
  const GstCclLineage *lineage = find_lineage (parents, n, id);

  return lineage && lineage->label > 0 && lineage->label != parents->now[n].label;
}

/* The confirmed track that had the largest part of the box of the new track n, at least half, and
 * that is in another component now; 0 if there is none. */
static guint64
find_origin (const GstCclParents *parents, guint n)
{
  const GstCclLineage *track = &parents->now[n];
  gdouble most = 0.5 * overlap (track, track);
  guint64 origin = 0;

  for (guint i = 0; i < parents->n_before; i++) {
    const GstCclLineage *before = &parents->before[i];
    const gdouble part = overlap (track, before);

    if (before->confirmed && before->label > 0 && part >= most && (origin == 0 || part > most) &&
        is_elsewhere (parents, n, before->id)) {
      most = part;
      origin = before->id;
    }
  }
  return origin;
}

/* Fills this frame's tracks, without their parents. */
static void
take_tracks (GstCclParents *parents, const CclTracks *tracks, const CclTable *table)
{
  parents->n = tracks->n_tracks;
  for (guint i = 0; i < tracks->n_tracks; i++)
    parents->now[i] = (GstCclLineage){.id = tracks->tracks[i].id,
        .confirmed = tracks->tracks[i].state != CUDACCL_TRACK_TENTATIVE,
        .label = tracks->tracks[i].label,
        .left = G_MAXUINT,
        .top = G_MAXUINT};
  for (guint m = 0; m < tracks->n_members; m++) {
    const CclComponent *c = &table->rows[tracks->members[m].row];
    GstCclLineage *track = &parents->now[tracks->members[m].track];

    track->left = MIN (track->left, c->x);
    track->top = MIN (track->top, c->y);
    track->right = MAX (track->right, c->x + c->width);
    track->bottom = MAX (track->bottom, c->y + c->height);
  }
}

/* The older track that the track split from in this frame; 0 if it did not. */
static guint64
find_split (const CclTracks *tracks, guint64 id)
{
  for (guint i = 0; i < tracks->n_events; i++)
    if (tracks->events[i].kind == CUDACCL_TRACK_SPLIT && tracks->events[i].id == id &&
        tracks->events[i].other < id)
      return tracks->events[i].other;
  return 0;
}

void
gst_ccl_parents_update (GstCclParents *parents, const CclTracks *tracks, const CclTable *table)
{
  GstCclLineage *now = parents->before;
  guint b = 0;

  parents->before = parents->now;
  parents->n_before = parents->n;
  parents->now = now;
  take_tracks (parents, tracks, table);
  for (guint i = 0; i < tracks->n_tracks; i++) {
    const guint64 split = find_split (tracks, now[i].id);

    while (b < parents->n_before && parents->before[b].id < now[i].id)
      b++;
    if (split)
      now[i].parent = split;
    else if (b < parents->n_before && parents->before[b].id == now[i].id)
      now[i].parent = parents->before[b].parent;
    else
      now[i].parent = find_origin (parents, i);
  }
}

guint64
gst_ccl_parents_get (const GstCclParents *parents, guint64 id)
{
  const GstCclLineage *lineage = find_lineage (parents, parents->n, id);

  return lineage ? lineage->parent : 0;
}
