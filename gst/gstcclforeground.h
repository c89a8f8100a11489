/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of ccl and cudaccl that say what is foreground, beyond a fixed threshold. */
#ifndef __GST_CCL_FOREGROUND_H__
#define __GST_CCL_FOREGROUND_H__

#include <gst/gst.h>

#include <cudaccl/foreground.h>

G_BEGIN_DECLS

typedef struct {
  CclForegroundMethod method;
  /* Threshold and invert are properties of the labelling, too, and not kept here. */
  CclForegroundOptions options;
  gboolean attach_mask;
} GstCclForegroundSettings;

/* Installs the properties on a class, with numbers that no class here uses for others. */
void gst_ccl_foreground_install_properties (GObjectClass *object_class);

void gst_ccl_foreground_settings_init (GstCclForegroundSettings *settings);

/* Sets or gets one of the properties. FALSE if the number is none of theirs. */
gboolean gst_ccl_foreground_set_property (
    GstCclForegroundSettings *settings, guint id, const GValue *value);
gboolean gst_ccl_foreground_get_property (
    const GstCclForegroundSettings *settings, guint id, GValue *value);

/* Whether a mask must be made before labelling, which otherwise compares with the threshold by
 * itself. */
gboolean gst_ccl_foreground_needs_mask (
    const GstCclForegroundSettings *settings, gboolean has_roi_mask);

G_END_DECLS

#endif /* __GST_CCL_FOREGROUND_H__ */
