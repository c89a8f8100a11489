/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_CCL_SNAPSHOT_H__
#define __GST_CCL_SNAPSHOT_H__

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_SNAPSHOT (gst_ccl_snapshot_get_type ())
G_DECLARE_FINAL_TYPE (GstCclSnapshot, gst_ccl_snapshot, GST, CCL_SNAPSHOT, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (cclsnapshot)

G_END_DECLS

#endif /* __GST_CCL_SNAPSHOT_H__ */
