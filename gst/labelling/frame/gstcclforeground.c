/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclforeground.h"

#include "labelling/pixels/gstcclplanes.h"
#include "shared/gstcclerror.h"
#include "shared/gstccli18n.h"

GST_DEBUG_CATEGORY_STATIC (ccl_foreground_debug);
#define GST_CAT_DEFAULT ccl_foreground_debug

void
gst_ccl_foreground_stage_init_log (void)
{
  GST_DEBUG_CATEGORY_INIT (
      ccl_foreground_debug, "cclforeground", 0, "foreground masks of ccl and cudaccl");
}

gboolean
gst_ccl_foreground_stage_open (
    GstCclForegroundStage *stage, GstElement *element, const gchar *roi_mask)
{
  g_autoptr (GError) error = NULL;

  *stage = (GstCclForegroundStage){NULL};
  if (!roi_mask)
    return TRUE;

  stage->roi_mask = gst_ccl_roi_mask_read (roi_mask, &error);
  if (!stage->roi_mask) {
    GST_ELEMENT_ERROR (element, RESOURCE, OPEN_READ,
        (_ ("The region of interest mask cannot be read: %s"), error->message), (NULL));
    return FALSE;
  }
  GST_DEBUG_OBJECT (element, "region of interest mask %s of %u×%u pixels", roi_mask,
      stage->roi_mask->width, stage->roi_mask->height);
  return TRUE;
}

void
gst_ccl_foreground_stage_close (GstCclForegroundStage *stage)
{
  gst_ccl_foreground_stage_release (stage);
  g_clear_pointer (&stage->roi_mask, gst_ccl_roi_mask_free);
}

void
gst_ccl_foreground_stage_release (GstCclForegroundStage *stage)
{
  ccl_foreground_free (&stage->foreground);
  g_clear_pointer (&stage->masks, gst_ccl_masks_unref);
}

gboolean
gst_ccl_foreground_stage_is_masked (
    const GstCclForegroundStage *stage, const GstCclSettings *settings)
{
  return stage->roi_mask || settings->read_masks;
}

/* Without a mask the labeller itself compares pixels with the threshold. */
static gboolean
needs_mask (const GstCclForegroundStage *stage, const GstCclSettings *settings)
{
  return settings->foreground != CUDACCL_FOREGROUND_THRESHOLD ||
         settings->denoise != CUDACCL_DENOISE_NONE || settings->closing_width > 1 ||
         settings->closing_height > 1 || settings->attach_mask ||
         gst_ccl_foreground_stage_is_masked (stage, settings);
}

static void
warn_of_size (GstCclForegroundStage *stage, const GstCclOwner *owner, guint width, guint height)
{
  const GstCclRoiMask *mask = stage->roi_mask;

  if (!mask || (mask->width == width && mask->height == height) || stage->size_warning)
    return;
  stage->size_warning = TRUE;
  GST_ELEMENT_WARNING (owner->element, RESOURCE, SETTINGS,
      (_ ("The region of interest mask has %u×%u pixels, the frames have %u×%u: it is scaled"),
          mask->width, mask->height, width, height),
      (NULL));
}

/* Makes the region of interest of frames of that size: what the file and the masks leave of them.
 * The caller frees it. NULL: the whole frame, or the error is set. */
static GstCclRoiMask *
make_roi_mask (GstCclForegroundStage *stage, const GstCclOwner *owner,
    const GstCclSettings *settings, guint width, guint height, CclError *error)
{
  GstCclRoiMask *made;

  error->status = CUDACCL_OK;
  if (!gst_ccl_foreground_stage_is_masked (stage, settings))
    return NULL;
  made = stage->roi_mask ? gst_ccl_roi_mask_scale (stage->roi_mask, width, height)
                         : gst_ccl_roi_mask_new_whole (width, height);
  if (made && settings->read_masks && !gst_ccl_masks_apply (settings->read_masks, made))
    g_clear_pointer (&made, gst_ccl_roi_mask_free);
  if (!made)
    gst_ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
        "No memory for a region of interest mask of %u×%u pixels", width, height);
  warn_of_size (stage, owner, width, height);
  return made;
}

/* Makes the foreground of the plan, or gives the present one other masks. */
static gboolean
make_foreground (GstCclForegroundStage *stage, const GstCclOwner *owner, GstCclSite *site,
    const GstCclSettings *settings, CclForegroundPlan *plan, CclError *error)
{
  GstCclRoiMask *mask = make_roi_mask (stage, owner, settings, plan->width, plan->height, error);
  const CclFrame roi_mask = {mask ? mask->pixels : NULL, plan->width, CUDACCL_LOCATION_HOST};
  gboolean ok = error->status == CUDACCL_OK;

  plan->roi_mask = mask ? &roi_mask : NULL;
  if (ok && stage->foreground) {
    ok = ccl_foreground_set_roi_mask (stage->foreground, plan->roi_mask, error) == CUDACCL_OK;
    GST_DEBUG_OBJECT (owner->element, "the masks have changed");
  } else if (ok) {
    stage->foreground = owner->methods->plan_foreground (owner->element, site, plan, error);
    ok = stage->foreground != NULL;
    stage->method = settings->foreground;
    GST_DEBUG_OBJECT (owner->element, "foreground masks of %u×%u pixels, method %d", plan->width,
        plan->height, stage->method);
  }
  gst_ccl_roi_mask_free (mask);
  gst_ccl_masks_unref (stage->masks);
  stage->masks = gst_ccl_masks_ref (settings->read_masks);
  return ok;
}

gboolean
gst_ccl_foreground_stage_prepare (GstCclForegroundStage *stage, const GstCclOwner *owner,
    GstCclSite *site, const GstVideoInfo *info, const GstCclSettings *settings, CclError *error)
{
  const gboolean is_needed = needs_mask (stage, settings);
  /* Formats of grey have one component. */
  const gboolean has_chroma = ccl_foreground_method_has_model (settings->foreground) &&
                              GST_VIDEO_INFO_N_COMPONENTS (info) > 1;
  CclForegroundPlan plan = {
      .width = GST_VIDEO_INFO_WIDTH (info),
      .height = GST_VIDEO_INFO_HEIGHT (info),
      .method = (CclForegroundMethod)settings->foreground,
      .n_threads = settings->n_threads,
      .has_chroma = has_chroma,
      .format = gst_ccl_planes_pixel_format (info),
      .reduction = (guint)settings->reduction,
  };

  if (!is_needed || stage->method != settings->foreground || stage->has_chroma != has_chroma ||
      stage->format != plan.format || stage->reduction != plan.reduction)
    ccl_foreground_free (&stage->foreground);
  stage->has_chroma = has_chroma;
  stage->format = plan.format;
  stage->reduction = plan.reduction;
  return !is_needed || (stage->foreground && stage->masks == settings->read_masks) ||
         make_foreground (stage, owner, site, settings, &plan, error);
}

gboolean
gst_ccl_foreground_stage_has_model (const GstCclForegroundStage *stage)
{
  return stage->foreground && ccl_foreground_method_has_model (stage->method);
}

void
gst_ccl_foreground_stage_warn_of_move (GstCclForegroundStage *stage, GstElement *element)
{
  if (stage->move_warning || !gst_ccl_foreground_stage_has_model (stage))
    return;
  stage->move_warning = TRUE;
  GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS,
      (_ ("Frames of a stream are in the memory of another GPU than those before: its background "
          "model starts anew there, each time; cuda-device-id names one GPU for all frames")),
      (NULL));
}
