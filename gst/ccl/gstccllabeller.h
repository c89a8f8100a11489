/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which element labelled a frame, and with which settings. */
#ifndef __GST_CCL_LABELLER_H__
#define __GST_CCL_LABELLER_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_LABELLER (gst_ccl_labeller_get_type ())

typedef struct _GstCclLabeller GstCclLabeller;

GST_CCL_API
GType gst_ccl_labeller_get_type (void);

GST_CCL_API
GstCclLabeller *gst_ccl_labeller_new (const gchar *name, const GstStructure *settings);

GST_CCL_API
GstCclLabeller *gst_ccl_labeller_new_with_id (
    const gchar *name, guint64 id, const GstStructure *settings);

GST_CCL_API
GstCclLabeller *gst_ccl_labeller_ref (GstCclLabeller *labeller);

GST_CCL_API
void gst_ccl_labeller_unref (GstCclLabeller *labeller);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclLabeller, gst_ccl_labeller_unref)

GST_CCL_API
const gchar *gst_ccl_labeller_get_name (const GstCclLabeller *labeller);

GST_CCL_API
guint64 gst_ccl_labeller_get_id (const GstCclLabeller *labeller);

GST_CCL_API
GstStructure *gst_ccl_labeller_get_settings (const GstCclLabeller *labeller);

G_END_DECLS

#endif /* __GST_CCL_LABELLER_H__ */
