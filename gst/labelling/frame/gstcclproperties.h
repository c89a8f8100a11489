/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of ccl and cudaccl. */
#pragma once

#include <gst/gst.h>

#include <cudaccl/foreground.h>
#include <cudaccl/labeller.h>

#include "labelling/masks/gstcclmasks.h"
#include "shared/gstcclproperty.h"

/* Where an element labels frames. */
typedef enum {
  GST_CCL_BACKEND_CPU = 1 << 0, /* ccl */
  GST_CCL_BACKEND_GPU = 1 << 1, /* cudaccl */
} GstCclBackend;

/* Which GPU an element uses that was given none. Applications store the numbers. */
typedef enum {
  GST_CCL_DEVICE_CHOICE_SHARED = 0,     /* a neighbour's, or the first one */
  GST_CCL_DEVICE_CHOICE_LEAST_USED = 1, /* that with the fewest elements of this process */
} GstCclDeviceChoice;

/* Which contours are attached. Applications store the numbers. */
typedef enum {
  GST_CCL_ATTACH_CONTOURS_NONE = 0,
  GST_CCL_ATTACH_CONTOURS_PIXELS = 1,
  GST_CCL_ATTACH_CONTOURS_CRACKS = 2,
} GstCclAttachContours;

/* Which columns are attached, as flags. Applications store the numbers. */
typedef enum {
  GST_CCL_ATTACH_COLUMNS_MOMENTS = 1 << 0,
  GST_CCL_ATTACH_COLUMNS_PERIMETER = 1 << 1,
  GST_CCL_ATTACH_COLUMNS_TOPOLOGY = 1 << 2,
  GST_CCL_ATTACH_COLUMNS_LUMA = 1 << 3,
  GST_CCL_ATTACH_COLUMNS_COLOR = 1 << 4,
} GstCclAttachColumns;

/* The values of the properties, in the field types that the table in gstcclproperties.c names.
 * Their units and ranges are in that table, too. */
typedef struct {
  /* Foreground. */
  gint foreground; /* CclForegroundMethod */
  guint threshold;
  gboolean invert;
  gint denoise; /* CclDenoise */
  guint closing_width, closing_height;
  guint history, mixtures;
  gdouble var_threshold, learning_rate;
  gint shadows; /* CclShadows */
  gboolean light;
  guint hold;
  guint sensitivity;             /* percent */
  gdouble absorb_after, warm_up; /* seconds */
  gint reduction;                /* as CclForegroundPlan.reduction */
  gchar *roi_mask;               /* path of a file, or NULL; owned */
  gchar *masks;                  /* text of gst_ccl_masks_read(), or NULL; owned */

  /* Labelling. */
  gint connectivity; /* CclConnectivity */
  gint algorithm;    /* value of the enumeration of the backend */
  guint min_area, max_area;
  guint max_components;
  guint n_threads;         /* 0: as many as useful */
  gint cuda_device_id;     /* -1: none is named */
  gint cuda_device_choice; /* GstCclDeviceChoice: which one, if none is named */

  /* Output. */
  guint meta; /* GstCclMetaFlags */
  gboolean attach_labels, attach_mask;
  gint attach_contours;      /* GstCclAttachContours */
  gdouble contour_tolerance; /* pixels; -1: all points */
  guint attach_columns;      /* GstCclAttachColumns */
  gboolean post_messages, post_motion;
  guint min_frames;
  gdouble quiet_time; /* seconds */

  /* No property. */
  GstCclMasks *read_masks; /* what `masks` stands for; not owned */
  gboolean attach_sample;  /* of the foreground: ccltrack downstream wants it */
} GstCclSettings;

/* Sets every field to the default of its property. */
void gst_ccl_settings_init (GstCclSettings *settings);

/* The properties, whose fields are those of GstCclSettings. */
extern const GstCclProperty gst_ccl_settings_properties[];
extern const guint gst_ccl_settings_n_properties;

/* The settings in the terms of the library. */
CclLabellerOptions gst_ccl_settings_get_options (const GstCclSettings *settings);
CclForegroundOptions gst_ccl_settings_get_foreground_options (const GstCclSettings *settings);

/* The settings that the result depends on as fields of a structure with the name of the element's
 * factory. Fields have the names of properties; enumerations are strings. */
GstStructure *gst_ccl_settings_describe (const GstCclSettings *settings, GstCclBackend backend);

/* Whether gst_ccl_settings_describe() describes both alike. */
gboolean gst_ccl_settings_give_same_result (const GstCclSettings *a, const GstCclSettings *b);

/* The name of the algorithm for a CclLabellerPlan; NULL for "auto", and for one that is no longer
 * offered. A static string. */
const gchar *gst_ccl_settings_get_algorithm (const GstCclSettings *settings, GstCclBackend backend);

/* The name of the property's value if it is no longer offered; else NULL. A static string. */
const gchar *gst_ccl_settings_get_former_algorithm (
    const GstCclSettings *settings, GstCclBackend backend);

/* Installs all properties that elements of the backend have. For class_init. */
void gst_ccl_settings_install (GObjectClass *object_class, GstCclBackend backend);
