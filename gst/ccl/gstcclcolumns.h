/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was measured of a frame's components beyond the component table. */
#ifndef __GST_CCL_COLUMNS_H__
#define __GST_CCL_COLUMNS_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_COLUMNS (gst_ccl_columns_get_type ())

typedef struct _GstCclColumns GstCclColumns;

GST_CCL_API
GType gst_ccl_columns_get_type (void);

GST_CCL_API
GstCclColumns *gst_ccl_columns_new (
    const gchar *const *keys, guint n_columns, const gdouble *values, guint n_rows);

GST_CCL_API
GstCclColumns *gst_ccl_columns_select (
    const GstCclColumns *columns, const guint *rows, guint n_rows);

GST_CCL_API
GstCclColumns *gst_ccl_columns_ref (GstCclColumns *columns);

GST_CCL_API
void gst_ccl_columns_unref (GstCclColumns *columns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclColumns, gst_ccl_columns_unref)

GST_CCL_API
guint gst_ccl_columns_get_n_columns (const GstCclColumns *columns);

GST_CCL_API
guint gst_ccl_columns_get_n_rows (const GstCclColumns *columns);

GST_CCL_API
const gchar *gst_ccl_columns_get_key (const GstCclColumns *columns, guint index);

GST_CCL_API
gint gst_ccl_columns_find (const GstCclColumns *columns, const gchar *key);

GST_CCL_API
const gdouble *gst_ccl_columns_get_values (
    const GstCclColumns *columns, guint index, guint *n_rows);

G_END_DECLS

#endif /* __GST_CCL_COLUMNS_H__ */
