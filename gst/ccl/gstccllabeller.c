/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccllabeller.h"

/**
 * GstCclLabeller:
 *
 * Which element labelled a frame, and with which settings: reference counted and immutable, so
 * that all frames that were labelled with the same settings share one.
 *
 * The settings are a #GstStructure with the name of the element's factory (`ccl` or `cudaccl`) and
 * one field for each property that the result depends on, named as the property:
 *
 * - `connectivity`: string, `4` or `8`
 * - `foreground`: string, the method that separates foreground from background, for instance
 *   `threshold` or `codebook`
 * - `threshold`: #guint, 0…255, or 0…65535 of formats of more than 8 bits
 * - `invert`: #gboolean
 * - `min-area`, `max-area`: #guint, pixels; a `max-area` of 0 means that there is no limit
 * - `algorithm`: string; the output does not depend on it
 *
 * Further fields are named as the elements' other properties for foreground and labelling, for
 * instance `denoise`. Enumerations are strings.
 *
 * Thread safety: all functions may be called from any thread.
 *
 * Since: 0.2
 */
struct _GstCclLabeller {
  gchar *name;
  guint64 id;             /* 0: not known */
  GstStructure *settings; /* NULL: not known */
};

G_DEFINE_BOXED_TYPE (GstCclLabeller, gst_ccl_labeller, gst_ccl_labeller_ref, gst_ccl_labeller_unref)

/**
 * gst_ccl_labeller_new:
 * @name: the element's name
 * @settings: (nullable): the settings, copied; %NULL if they are not known
 *
 * Describes an element that labels frames, without an identity.
 *
 * Returns: (transfer full): a new description
 *
 * Since: 0.2
 */
GstCclLabeller *
gst_ccl_labeller_new (const gchar *name, const GstStructure *settings)
{
  return gst_ccl_labeller_new_with_id (name, 0, settings);
}

/**
 * gst_ccl_labeller_new_with_id:
 * @name: the element's name
 * @id: the element's identity, see gst_ccl_labeller_get_id(); 0 if it is not known
 * @settings: (nullable): the settings, copied; %NULL if they are not known
 *
 * Describes an element that labels frames.
 *
 * Returns: (transfer full): a new description
 *
 * Since: 0.4
 */
GstCclLabeller *
gst_ccl_labeller_new_with_id (const gchar *name, guint64 id, const GstStructure *settings)
{
  GstCclLabeller *self;

  g_return_val_if_fail (name != NULL, NULL);
  g_return_val_if_fail (settings == NULL || GST_IS_STRUCTURE (settings), NULL);

  self = g_atomic_rc_box_new0 (GstCclLabeller);
  self->name = g_strdup (name);
  self->id = id;
  self->settings = settings ? gst_structure_copy (settings) : NULL;
  return self;
}

/**
 * gst_ccl_labeller_ref:
 * @labeller: a #GstCclLabeller
 *
 * Takes a reference.
 *
 * Returns: (transfer full): the same @labeller
 *
 * Since: 0.2
 */
GstCclLabeller *
gst_ccl_labeller_ref (GstCclLabeller *labeller)
{
  g_return_val_if_fail (labeller != NULL, NULL);

  return g_atomic_rc_box_acquire (labeller);
}

static void
clear_labeller (gpointer data)
{
  GstCclLabeller *self = data;

  g_free (self->name);
  g_clear_pointer (&self->settings, gst_structure_free);
}

/**
 * gst_ccl_labeller_unref:
 * @labeller: (transfer full): a #GstCclLabeller
 *
 * Gives a reference back. The last one frees the description.
 *
 * Since: 0.2
 */
void
gst_ccl_labeller_unref (GstCclLabeller *labeller)
{
  g_return_if_fail (labeller != NULL);

  g_atomic_rc_box_release_full (labeller, clear_labeller);
}

/**
 * gst_ccl_labeller_get_name:
 * @labeller: a #GstCclLabeller
 *
 * The name of the element.
 *
 * Returns: (transfer none): the name, valid as long as @labeller
 *
 * Since: 0.2
 */
const gchar *
gst_ccl_labeller_get_name (const GstCclLabeller *labeller)
{
  g_return_val_if_fail (labeller != NULL, NULL);

  return labeller->name;
}

/**
 * gst_ccl_labeller_get_id:
 * @labeller: a #GstCclLabeller
 *
 * The identity of the element. Names are unique in a bin only; identities are random numbers of 64
 * bits, so they tell apart elements of the same name in several bins and processes. An element
 * keeps its identity when its settings change.
 *
 * Returns: the identity; 0 if it is not known, as after the metadata came from another process
 *
 * Since: 0.4
 */
guint64
gst_ccl_labeller_get_id (const GstCclLabeller *labeller)
{
  g_return_val_if_fail (labeller != NULL, 0);

  return labeller->id;
}

/**
 * gst_ccl_labeller_get_settings:
 * @labeller: a #GstCclLabeller
 *
 * The settings that the frame was labelled with.
 *
 * Returns: (transfer full) (nullable): a copy of the settings; %NULL if they are not known, as
 *   after the metadata came from another process
 *
 * Since: 0.2
 */
GstStructure *
gst_ccl_labeller_get_settings (const GstCclLabeller *labeller)
{
  g_return_val_if_fail (labeller != NULL, NULL);

  return labeller->settings ? gst_structure_copy (labeller->settings) : NULL;
}
