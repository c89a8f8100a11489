/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_CCL_JSON_H__
#define __GST_CCL_JSON_H__

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_JSON (gst_ccl_json_get_type ())
G_DECLARE_FINAL_TYPE (GstCclJson, gst_ccl_json, GST, CCL_JSON, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (ccljson)

G_END_DECLS

#endif /* __GST_CCL_JSON_H__ */
