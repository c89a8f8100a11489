/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a detector says that the rows of the component table are. */
#ifndef __GST_CCL_CLASSES_H__
#define __GST_CCL_CLASSES_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_CLASSES (gst_ccl_classes_get_type ())

typedef struct _GstCclClasses GstCclClasses;

GST_CCL_API
GType gst_ccl_classes_get_type (void);

GST_CCL_API
GstCclClasses *gst_ccl_classes_new (
    const gchar *const *names, const gdouble *confidences, guint n_rows);

GST_CCL_API
GstCclClasses *gst_ccl_classes_select (
    const GstCclClasses *classes, const guint *rows, guint n_rows);

GST_CCL_API
GstCclClasses *gst_ccl_classes_ref (GstCclClasses *classes);

GST_CCL_API
void gst_ccl_classes_unref (GstCclClasses *classes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclClasses, gst_ccl_classes_unref)

GST_CCL_API
guint gst_ccl_classes_get_n_rows (const GstCclClasses *classes);

GST_CCL_API
const gchar *gst_ccl_classes_get_name (const GstCclClasses *classes, guint row);

GST_CCL_API
gdouble gst_ccl_classes_get_confidence (const GstCclClasses *classes, guint row);

G_END_DECLS

#endif /* __GST_CCL_CLASSES_H__ */
