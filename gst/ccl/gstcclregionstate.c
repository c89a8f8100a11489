/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclregionstate.h"

#include "gst/ccl/meta/gstcclmeta-private.h"

#include <string.h>

/**
 * GstCclRegionState:
 *
 * The regions and lines of `ccltrack` in one frame: how many tracks are inside each region, how
 * often each line was crossed, and for each row of the component table the regions that its track
 * is in and the lines that it crosses in this frame. Reference counted and immutable.
 *
 * |[<!-- language="C" -->
 * GstCclRegionState *state = gst_ccl_meta_get_region_state (meta);
 * gint door = state ? gst_ccl_region_state_find (state, "door") : -1;
 * if (door >= 0)
 *   for (guint row = 0; row < gst_ccl_meta_get_n_rows (meta); row++)
 *     if (gst_ccl_region_state_is_inside (state, door, row))
 *       g_print ("%" G_GUINT64_FORMAT " is at the door\n", gst_ccl_meta_get_track (meta, row)->id);
 * g_clear_pointer (&state, gst_ccl_region_state_unref);
 * ]|
 *
 * It agrees with the events `entered`, `left` and `crossed` of the same frame: a track is inside
 * from the frame of its event `entered` on, which comes some frames after it passed the border
 * (the property `settle-frames`), to the frame before its event `left`.
 *
 * Thread safety: all functions may be called from any thread.
 *
 * Since: 0.4
 */
struct _GstCclRegionState {
  guint n_regions, n_rows;
  GstCclRegionInfo *regions; /* like names and places in the memory behind this struct */
  gint8 *places; /* [region][row]: 1: inside, or crossed forward; -1: crossed backward; else 0 */
};

G_DEFINE_BOXED_TYPE (
    GstCclRegionState, gst_ccl_region_state, gst_ccl_region_state_ref, gst_ccl_region_state_unref)

/* A state with undefined places. */
static GstCclRegionState *
new_state (const GstCclRegionInfo *regions, guint n_regions, guint n_rows)
{
  const gsize regions_size = n_regions * sizeof *regions, n_places = (gsize)n_regions * n_rows;
  GstCclRegionState *self;
  gsize text_size = 0;
  gchar *text;

  for (guint i = 0; i < n_regions; i++)
    text_size += strlen (regions[i].name) + 1;
  self = g_atomic_rc_box_alloc (sizeof *self + regions_size + n_places + text_size);
  self->n_regions = n_regions;
  self->n_rows = n_rows;
  self->regions = (GstCclRegionInfo *)(gpointer)(self + 1);
  self->places = (gint8 *)(self->regions + n_regions);
  text = (gchar *)self->places + n_places;
  for (guint i = 0; i < n_regions; i++) {
    self->regions[i] = regions[i];
    self->regions[i].name = text;
    text = g_stpcpy (text, regions[i].name) + 1;
  }
  return self;
}

/**
 * gst_ccl_region_state_new: (skip)
 * @regions: (array length=n_regions) (nullable): the regions and lines, each of another name;
 * copied
 * @n_regions: their number
 * @places: (nullable): @n_regions times @n_rows numbers, those of the first region first; copied.
 * For a region 1 if the row's track is inside, else 0; for a line 1 if it crosses the line forward
 * in this frame, -1 if backward, else 0. %NULL if there are none
 * @n_rows: the number of rows of the component table
 *
 * Makes a state.
 *
 * Returns: (transfer full): the state; free it with gst_ccl_region_state_unref()
 *
 * Since: 0.4
 */
GstCclRegionState *
gst_ccl_region_state_new (
    const GstCclRegionInfo *regions, guint n_regions, const gint8 *places, guint n_rows)
{
  const gsize n_places = (gsize)n_regions * n_rows;
  GstCclRegionState *self;

  g_return_val_if_fail (regions != NULL || n_regions == 0, NULL);
  g_return_val_if_fail (places != NULL || n_places == 0, NULL);

  self = new_state (regions, n_regions, n_rows);
  if (n_places > 0)
    memcpy (self->places, places, n_places);
  return self;
}

/**
 * gst_ccl_region_state_select: (skip)
 * @state: a #GstCclRegionState
 * @rows: (array length=n_rows) (nullable): rows of @state in any order; numbers that are no rows of
 *   @state are rows of tracks that are in no region
 * @n_rows: their number
 *
 * Copies rows, for a component table that has them in another order, or not all of them. The counts
 * stay.
 *
 * Returns: (transfer full): a new state of the same regions
 *
 * Since: 0.4
 */
GstCclRegionState *
gst_ccl_region_state_select (const GstCclRegionState *state, const guint *rows, guint n_rows)
{
  GstCclRegionState *self;

  g_return_val_if_fail (state != NULL, NULL);
  g_return_val_if_fail (rows != NULL || n_rows == 0, NULL);

  self = new_state (state->regions, state->n_regions, n_rows);
  for (guint i = 0; i < state->n_regions; i++)
    for (guint row = 0; row < n_rows; row++)
      self->places[(gsize)i * n_rows + row] =
          rows[row] < state->n_rows ? state->places[(gsize)i * state->n_rows + rows[row]] : 0;
  return self;
}

/**
 * gst_ccl_region_state_ref:
 * @state: a #GstCclRegionState
 *
 * Takes a reference.
 *
 * Returns: (transfer full): the same @state
 *
 * Since: 0.4
 */
GstCclRegionState *
gst_ccl_region_state_ref (GstCclRegionState *state)
{
  g_return_val_if_fail (state != NULL, NULL);

  return g_atomic_rc_box_acquire (state);
}

/**
 * gst_ccl_region_state_unref:
 * @state: (transfer full): a #GstCclRegionState
 *
 * Gives a reference back.
 *
 * Since: 0.4
 */
void
gst_ccl_region_state_unref (GstCclRegionState *state)
{
  g_return_if_fail (state != NULL);

  g_atomic_rc_box_release (state);
}

/**
 * gst_ccl_region_state_get_n_regions:
 * @state: a #GstCclRegionState
 *
 * How many regions and lines there are.
 *
 * Returns: their number
 *
 * Since: 0.4
 */
guint
gst_ccl_region_state_get_n_regions (const GstCclRegionState *state)
{
  g_return_val_if_fail (state != NULL, 0);

  return state->n_regions;
}

/**
 * gst_ccl_region_state_get_n_rows:
 * @state: a #GstCclRegionState
 *
 * How many rows of the component table it refers to.
 *
 * Returns: the number of rows, that of the component table
 *
 * Since: 0.4
 */
guint
gst_ccl_region_state_get_n_rows (const GstCclRegionState *state)
{
  g_return_val_if_fail (state != NULL, 0);

  return state->n_rows;
}

/**
 * gst_ccl_region_state_get_region:
 * @state: a #GstCclRegionState
 * @index: which region or line, less than their number, in the order of their definition
 *
 * A region or line, with its counts.
 *
 * Returns: (transfer none) (nullable): the region or line, valid as long as @state; %NULL if there
 * is none of that index
 *
 * Since: 0.4
 */
const GstCclRegionInfo *
gst_ccl_region_state_get_region (const GstCclRegionState *state, guint index)
{
  g_return_val_if_fail (state != NULL, NULL);

  return index < state->n_regions ? &state->regions[index] : NULL;
}

/**
 * gst_ccl_region_state_find:
 * @state: a #GstCclRegionState
 * @name: the name of a region or line
 *
 * Finds a region or line.
 *
 * Returns: its index; -1 if there is none of that name
 *
 * Since: 0.4
 */
gint
gst_ccl_region_state_find (const GstCclRegionState *state, const gchar *name)
{
  g_return_val_if_fail (state != NULL, -1);
  g_return_val_if_fail (name != NULL, -1);

  for (guint i = 0; i < state->n_regions; i++)
    if (g_str_equal (state->regions[i].name, name))
      return (gint)i;
  return -1;
}

/* 0 where there is no such row, or no such region (is_line: line). */
static gint
get_place (const GstCclRegionState *state, guint index, guint row, gboolean is_line)
{
  if (index >= state->n_regions || row >= state->n_rows || state->regions[index].is_line != is_line)
    return 0;
  return state->places[(gsize)index * state->n_rows + row];
}

/**
 * gst_ccl_region_state_is_inside:
 * @state: a #GstCclRegionState
 * @index: which region
 * @row: which row of the component table, from 0
 *
 * Whether the track of a row is inside a region.
 *
 * Returns: %TRUE if it is; %FALSE also if there is no such row, or no such region
 *
 * Since: 0.4
 */
gboolean
gst_ccl_region_state_is_inside (const GstCclRegionState *state, guint index, guint row)
{
  g_return_val_if_fail (state != NULL, FALSE);

  return get_place (state, index, row, FALSE) != 0;
}

/**
 * gst_ccl_region_state_get_crossing:
 * @state: a #GstCclRegionState
 * @index: which line
 * @row: which row of the component table, from 0
 *
 * Whether the track of a row crosses a line in this frame.
 *
 * Returns: 1 if it does from the left side of the line to its right side, seen from its first point
 *   towards its second one (forward), -1 if from right to left (backward); 0 if it does not, or if
 *   there is no such row, or no such line
 *
 * Since: 0.4
 */
gint
gst_ccl_region_state_get_crossing (const GstCclRegionState *state, guint index, guint row)
{
  g_return_val_if_fail (state != NULL, 0);

  return get_place (state, index, row, TRUE);
}

/**
 * gst_ccl_meta_get_region_state:
 * @meta: a #GstCclMeta
 *
 * Where the tracks of the frame are in the regions and at the lines of `ccltrack`.
 *
 * Returns: (transfer full) (nullable): the state, with as many rows as the table, to be given back
 * with gst_ccl_region_state_unref(); %NULL if there are neither regions nor lines
 *
 * Since: 0.4
 */
GstCclRegionState *
gst_ccl_meta_get_region_state (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->region_state ? gst_ccl_region_state_ref (meta->region_state) : NULL;
}

/**
 * gst_ccl_meta_set_region_state: (skip)
 * @meta: a #GstCclMeta of a writable buffer
 * @state: (transfer none) (nullable): a state with as many rows as the component table; a reference
 *   is kept. %NULL removes it
 *
 * Attaches a state in place of the present one. A new component table removes it.
 *
 * Since: 0.4
 */
void
gst_ccl_meta_set_region_state (GstCclMeta *meta, GstCclRegionState *state)
{
  GstCclRegionState *former;

  g_return_if_fail (meta != NULL);
  g_return_if_fail (state == NULL || state->n_rows == meta->n_rows);

  former = meta->region_state;
  meta->region_state = state ? gst_ccl_region_state_ref (state) : NULL;
  g_clear_pointer (&former, gst_ccl_region_state_unref);
}
