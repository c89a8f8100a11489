/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclhints.h"

#include "labelling/pixels/gstcclplanes.h"
#include "shared/gstccli18n.h"

/* From this share of the frame on, in percent, a component is nearly the whole frame. */
#define NEARLY_ALL 95

static gboolean
discards_everything (const GstCclSettings *settings)
{
  return settings->max_area != 0 && settings->min_area > settings->max_area;
}

static gboolean
is_probably_no_mask (const GstCclSettings *settings, guint64 n_pixels, const CclTable *table)
{
  return settings->foreground == CUDACCL_FOREGROUND_THRESHOLD && settings->threshold == 0 &&
         !settings->invert && table->n_components == 1 &&
         (guint64)table->rows[0].area * 100 >= n_pixels * NEARLY_ALL;
}

void
gst_ccl_hints_check (GstCclHints *posted, GstElement *element, const GstCclSettings *settings,
    GstCclBackend backend, const GstVideoInfo *info, const CclTable *table)
{
  const guint64 n_pixels = (guint64)GST_VIDEO_INFO_WIDTH (info) * GST_VIDEO_INFO_HEIGHT (info);
  const gchar *former = gst_ccl_settings_get_former_algorithm (settings, backend);

  if (!posted->algorithm && former) {
    posted->algorithm = TRUE;
    GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS,
        (_ ("algorithm=%s is no longer offered: frames are labelled as with algorithm=auto"),
            former),
        ("the next release will refuse this value"));
  }
  if (!posted->areas && discards_everything (settings)) {
    posted->areas = TRUE;
    GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS,
        (_ ("No component can pass min-area=%u and max-area=%u"), settings->min_area,
            settings->max_area),
        (NULL));
  }
  if (!posted->range && settings->foreground == CUDACCL_FOREGROUND_THRESHOLD &&
      settings->threshold > gst_ccl_planes_pixel_max (info)) {
    posted->range = TRUE;
    GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS,
        (_ ("No pixel is greater than threshold=%u: the largest value of the format is %u"),
            settings->threshold, gst_ccl_planes_pixel_max (info)),
        (NULL));
  }
  if (!posted->threshold && is_probably_no_mask (settings, n_pixels, table)) {
    posted->threshold = TRUE;
    GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS,
        (_ ("The only component is nearly the whole frame, because threshold=0 makes every pixel "
            "that is not black foreground; set threshold, foreground=otsu or foreground=codebook")),
        (NULL));
  }
}
