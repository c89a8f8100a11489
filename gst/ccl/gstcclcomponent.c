/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclcomponent.h"

#include <math.h>

/* The layout is part of the ABI. */
G_STATIC_ASSERT (sizeof (GstCclComponent) == 40);
G_STATIC_ASSERT (sizeof (GstCclTrackInfo) == 72);
G_STATIC_ASSERT (sizeof (GstCclTrackState) == 4);

G_DEFINE_BOXED_TYPE (
    GstCclComponent, gst_ccl_component, gst_ccl_component_copy, gst_ccl_component_free)
G_DEFINE_BOXED_TYPE (
    GstCclTrackInfo, gst_ccl_track_info, gst_ccl_track_info_copy, gst_ccl_track_info_free)

GType
gst_ccl_track_state_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
      {GST_CCL_TRACK_STATE_TENTATIVE, "GST_CCL_TRACK_STATE_TENTATIVE", "tentative"},
      {GST_CCL_TRACK_STATE_CONFIRMED, "GST_CCL_TRACK_STATE_CONFIRMED", "confirmed"},
      {GST_CCL_TRACK_STATE_STATIC, "GST_CCL_TRACK_STATE_STATIC", "static"},
      {GST_CCL_TRACK_STATE_LOST, "GST_CCL_TRACK_STATE_LOST", "lost"},
      {0, NULL, NULL},
  };

  if (g_once_init_enter (&type)) {
    GType registered = g_enum_register_static ("GstCclTrackState", values);
    g_once_init_leave (&type, registered);
  }
  return type;
}

/**
 * gst_ccl_component_copy:
 * @component: a #GstCclComponent
 *
 * Copies a component, so that the copy can outlive the metadata. May be called from any thread.
 *
 * Returns: (transfer full): a copy, to be freed with gst_ccl_component_free()
 *
 * Since: 0.2
 */
GstCclComponent *
gst_ccl_component_copy (const GstCclComponent *component)
{
  g_return_val_if_fail (component != NULL, NULL);

  return g_memdup2 (component, sizeof *component);
}

/**
 * gst_ccl_component_free:
 * @component: (transfer full): a copy that gst_ccl_component_copy() returned
 *
 * Frees a copy of a component. Rows of a table belong to the metadata.
 *
 * Since: 0.2
 */
void
gst_ccl_component_free (GstCclComponent *component)
{
  g_free (component);
}

/**
 * gst_ccl_track_info_copy:
 * @track: a #GstCclTrackInfo
 *
 * Copies a track, so that the copy can outlive the metadata. May be called from any thread.
 *
 * Returns: (transfer full): a copy, to be freed with gst_ccl_track_info_free()
 *
 * Since: 0.2
 */
GstCclTrackInfo *
gst_ccl_track_info_copy (const GstCclTrackInfo *track)
{
  g_return_val_if_fail (track != NULL, NULL);

  return g_memdup2 (track, sizeof *track);
}

/**
 * gst_ccl_track_info_free:
 * @track: (transfer full): a copy that gst_ccl_track_info_copy() returned
 *
 * Frees a copy of a track. Tracks of a table belong to the metadata.
 *
 * Since: 0.2
 */
void
gst_ccl_track_info_free (GstCclTrackInfo *track)
{
  g_free (track);
}

/**
 * gst_ccl_track_info_get_position:
 * @track: a #GstCclTrackInfo
 * @x: (out): metres, in the coordinates of the property `ground` of `ccltrack`
 * @y: (out): metres
 * @deviation: (out): standard deviation in metres, in the direction in which the position is least
 *   certain. The true position is within 2.45 deviations in at least 95 of 100 cases
 *
 * Where the foot point of the object is on the ground: the middle of the lower edge of its box.
 *
 * Returns: %FALSE, with the values set to 0, if the position is not known: no ground was given, or
 * the foot point is at the horizon or beyond
 *
 * Since: 0.3
 */
gboolean
gst_ccl_track_info_get_position (
    const GstCclTrackInfo *track, gdouble *x, gdouble *y, gdouble *deviation)
{
  g_return_val_if_fail (x != NULL && y != NULL && deviation != NULL, FALSE);
  *x = *y = *deviation = 0;
  g_return_val_if_fail (track != NULL, FALSE);

  if (!(track->position_deviation > 0))
    return FALSE;
  *x = track->position_x;
  *y = track->position_y;
  *deviation = track->position_deviation;
  return TRUE;
}

/**
 * gst_ccl_track_info_get_speed:
 * @track: a #GstCclTrackInfo
 * @speed: (out): km/h, not negative
 * @deviation: (out): standard deviation in km/h. The true speed is within 1.96 deviations in at
 * least 95 of 100 cases; an object whose speed is less than its deviation may stand
 *
 * How fast the object moves over the ground.
 *
 * Returns: %FALSE, with the values set to 0, if the speed is not known; it is where the position is
 *
 * Since: 0.3
 */
gboolean
gst_ccl_track_info_get_speed (const GstCclTrackInfo *track, gdouble *speed, gdouble *deviation)
{
  g_return_val_if_fail (speed != NULL && deviation != NULL, FALSE);
  *speed = *deviation = 0;
  g_return_val_if_fail (track != NULL, FALSE);

  if (!(track->position_deviation > 0))
    return FALSE;
  *speed = 3.6 * sqrt ((gdouble)track->ground_velocity_x * track->ground_velocity_x +
                       (gdouble)track->ground_velocity_y * track->ground_velocity_y);
  *deviation = track->speed_deviation;
  return TRUE;
}
