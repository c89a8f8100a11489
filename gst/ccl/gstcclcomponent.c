/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclcomponent.h"

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
