/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What several elements do with queries. */
#ifndef __GST_CCL_QUERY_H__
#define __GST_CCL_QUERY_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Removes GstVideoCropMeta from the answer to an allocation query. Elements that read or write
 * pixels do not read that metadata, so frames must arrive cropped. */
void gst_ccl_query_remove_crop_meta (GstQuery *query);

G_END_DECLS

#endif /* __GST_CCL_QUERY_H__ */
