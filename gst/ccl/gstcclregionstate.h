/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The regions and lines of a frame, and where the frame's tracks are. */
#ifndef __GST_CCL_REGION_STATE_H__
#define __GST_CCL_REGION_STATE_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_REGION_STATE (gst_ccl_region_state_get_type ())

typedef struct _GstCclRegionState GstCclRegionState;
typedef struct _GstCclRegionInfo GstCclRegionInfo;

/**
 * GstCclRegionInfo:
 * @name: the name of the region or line, in UTF-8
 * @is_line: whether it is a line; otherwise it is a region
 * @inside: tracks inside the region in this frame, also those without a row; 0 for a line
 * @forward: how often the line was crossed forward since it was defined; 0 for a region
 * @backward: how often it was crossed backward; 0 for a region
 *
 * A region or line in a frame. The structure keeps its size in all versions of the library.
 *
 * Since: 0.4
 */
struct _GstCclRegionInfo {
  const gchar *name;
  gboolean is_line;
  guint inside;
  guint64 forward;
  guint64 backward;
};

GST_CCL_API
GType gst_ccl_region_state_get_type (void);

GST_CCL_API
GstCclRegionState *gst_ccl_region_state_new (
    const GstCclRegionInfo *regions, guint n_regions, const gint8 *places, guint n_rows);

GST_CCL_API
GstCclRegionState *gst_ccl_region_state_select (
    const GstCclRegionState *state, const guint *rows, guint n_rows);

GST_CCL_API
GstCclRegionState *gst_ccl_region_state_ref (GstCclRegionState *state);

GST_CCL_API
void gst_ccl_region_state_unref (GstCclRegionState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclRegionState, gst_ccl_region_state_unref)

GST_CCL_API
guint gst_ccl_region_state_get_n_regions (const GstCclRegionState *state);

GST_CCL_API
guint gst_ccl_region_state_get_n_rows (const GstCclRegionState *state);

GST_CCL_API
const GstCclRegionInfo *gst_ccl_region_state_get_region (
    const GstCclRegionState *state, guint index);

GST_CCL_API
gint gst_ccl_region_state_find (const GstCclRegionState *state, const gchar *name);

GST_CCL_API
gboolean gst_ccl_region_state_is_inside (const GstCclRegionState *state, guint index, guint row);

GST_CCL_API
gint gst_ccl_region_state_get_crossing (const GstCclRegionState *state, guint index, guint row);

G_END_DECLS

#endif /* __GST_CCL_REGION_STATE_H__ */
