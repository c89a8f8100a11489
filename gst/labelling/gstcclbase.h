/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The base class of ccl and cudaccl. */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "labelling/frame/gstcclbackend.h"
#include "labelling/frame/gstcclproperties.h"

#define GST_TYPE_CCL_BASE (gst_ccl_base_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstCclBase, gst_ccl_base, GST, CCL_BASE, GstBaseTransform)

struct _GstCclBaseClass {
  GstBaseTransformClass parent_class;
  GstCclMethods methods;
};

/* Installs the properties of a backend. For class_init of the subclass, whose instances are of the
 * element that the backend stands for. */
void gst_ccl_base_class_install_properties (GstCclBaseClass *klass, GstCclBackend backend);

/* Copies the settings. roi_mask and masks are NULL in the copy. Any thread may call. */
GstCclSettings gst_ccl_base_get_settings (GstCclBase *base);
