/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccltrails.h"

typedef struct {
  GstCclPlace place;
  guint64 frame;
} Step;

typedef struct {
  guint64 id;
  guint first, n; /* of the steps, a ring */
  Step *steps;
} Trail;

struct _GstCclTrails {
  GPtrArray *trails; /* in the order of identities */
  guint length;      /* steps that each trail has room for */
  guint64 frame;
};

static void
free_trail (gpointer data)
{
  Trail *trail = data;

  g_free (trail->steps);
  g_free (trail);
}

GstCclTrails *
gst_ccl_trails_new (void)
{
  GstCclTrails *trails = g_new0 (GstCclTrails, 1);

  trails->trails = g_ptr_array_new_with_free_func (free_trail);
  return trails;
}

void
gst_ccl_trails_free (GstCclTrails *trails)
{
  g_ptr_array_unref (trails->trails);
  g_free (trails);
}

void
gst_ccl_trails_clear (GstCclTrails *trails)
{
  g_ptr_array_set_size (trails->trails, 0);
}

static Trail *
get_trail (const GstCclTrails *trails, guint i)
{
  return g_ptr_array_index (trails->trails, i);
}

/* The trail of a track; a new one if it has none. */
static Trail *
ensure_trail (GstCclTrails *trails, guint64 id)
{
  guint low = 0, high = trails->trails->len;
  Trail *trail;

  while (low < high) {
    const guint middle = (low + high) / 2;
    if (get_trail (trails, middle)->id < id)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < trails->trails->len && get_trail (trails, low)->id == id)
    return get_trail (trails, low);
  trail = g_new0 (Trail, 1);
  trail->id = id;
  trail->steps = g_new (Step, trails->length);
  g_ptr_array_insert (trails->trails, (gint)low, trail);
  return trail;
}

static void
remove_old_steps (GstCclTrails *trails)
{
  for (guint i = trails->trails->len; i > 0; i--) {
    Trail *trail = get_trail (trails, i - 1);

    while (trail->n > 0 && trail->steps[trail->first].frame + trails->length <= trails->frame) {
      trail->first = (trail->first + 1) % trails->length;
      trail->n--;
    }
    if (trail->n == 0)
      g_ptr_array_remove_index (trails->trails, i - 1);
  }
}

static GstCclPlace
foot_point (const GstCclMeta *meta, const GstCclComponent *c)
{
  const gdouble x = (c->x + c->width / 2.0) / gst_ccl_meta_get_frame_width (meta);
  const gdouble y = ((gdouble)c->y + c->height) / gst_ccl_meta_get_frame_height (meta);

  return (GstCclPlace){(gfloat)CLAMP (x, 0, 1), (gfloat)CLAMP (y, 0, 1)};
}

void
gst_ccl_trails_add_frame (GstCclTrails *trails, const GstCclMeta *meta, guint length)
{
  const guint n_rows = meta ? gst_ccl_meta_get_n_rows (meta) : 0;

  if (length != trails->length)
    gst_ccl_trails_clear (trails);
  trails->length = length;
  trails->frame++;
  remove_old_steps (trails);
  for (guint row = 0; row < n_rows && length > 0; row++) {
    const GstCclTrackInfo *track = gst_ccl_meta_get_track (meta, row);
    Trail *trail;

    if (!track)
      continue;
    trail = ensure_trail (trails, track->id);
    if (trail->n < length) /* a track that has two rows has only the first place */
      trail->steps[(trail->first + trail->n++) % length] =
          (Step){foot_point (meta, gst_ccl_meta_get_component (meta, row)), trails->frame};
  }
}

guint
gst_ccl_trails_get_n (const GstCclTrails *trails)
{
  return trails->trails->len;
}

guint
gst_ccl_trails_get (const GstCclTrails *trails, guint trail, guint64 *id)
{
  *id = get_trail (trails, trail)->id;
  return get_trail (trails, trail)->n;
}

GstCclPlace
gst_ccl_trails_get_place (const GstCclTrails *trails, guint trail, guint place)
{
  const Trail *t = get_trail (trails, trail);

  return t->steps[(t->first + place) % trails->length].place;
}
