/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-cudaccl
 * @title: cudaccl
 * @short_description: finds the connected components of a mask, on an NVIDIA GPU
 * @see_also: ccl, ccljson
 *
 * Labels the connected components of every frame and attaches them to the frame: a #GstCclMeta has
 * area, bounding box and centroid of each component. The pixels are not changed. It is `ccl` on a
 * GPU, with the same properties, the same metadata and identical output.
 *
 * Frames in CUDA memory stay where they are; of formats other than GRAY8 the element reads the luma
 * plane, so that the output of a decoder needs no conversion. Frames in system memory are uploaded,
 * without a copy in between if upstream uses the page-locked memory that this element proposes.
 *
 * With several GPUs, a frame in CUDA memory is labelled on the GPU that holds it. If
 * `cuda-device-id` names another GPU, the frame is copied there, with a warning. Frames in system
 * memory are labelled on the named GPU, on that of a neighbour's CUDA context, or with
 * `cuda-device-choice=least-used` on the GPU with the fewest elements of the process.
 *
 * The background model of a stream (`foreground=codebook`, `mog2`) stays in the CUDA context of the
 * stream's first frame: frames in other contexts of that GPU are copied. Where frames come from
 * another GPU, and none is named, the model starts anew, with a warning.
 *
 * Without an NVIDIA driver the element exists but refuses to start.
 *
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! \
 *   cudaccl threshold=128 ! ccljson ! fdsink
 * ]| This pipeline prints a line of JSON per frame, each with one component: the ball.
 * |[
 * gst-launch-1.0 filesrc location=video.mp4 ! qtdemux ! h264parse ! nvh264dec ! \
 *   cudaccl threshold=200 ! ccljson ! filesink location=bright.ndjson
 * ]| This pipeline finds the bright regions of a film whose frames never leave the GPU.
 *
 * Since: 0.2
 */
#include "gstcclbase.h"

#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include <cudaccl/device.h>

#include "gstcclbatch.h"
#include "gstcudacclmethods.h"
#include "gstcudacclsite.h"
#include "gstcudapinnedpool.h"
#include "shared/gstcclelements.h"
#include "shared/gstcclerror.h"
#include "shared/gstccli18n.h"

#define GST_TYPE_CUDA_CCL (gst_cuda_ccl_get_type ())
G_DECLARE_FINAL_TYPE (GstCudaCcl, gst_cuda_ccl, GST, CUDA_CCL, GstCclBase)

GST_DEBUG_CATEGORY_STATIC (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

#define WITHOUT_GPU N_ ("the element ccl does the same without a GPU")

struct _GstCudaCcl {
  GstCclBase parent;

  /* The context of the element, from NULL→READY to READY→NULL. Other elements and the application
   * may offer one or ask for it at any time. */
  GRecMutex context_lock;
  GstCudaContext *context;
  gint chosen_device; /* under context_lock: that of cuda-device-choice=least-used, or -1 */

  /* Of the streaming thread. */
  GSList *sites;        /* that are open, by the streams or as the latest one */
  GstCudaCclSite *site; /* the latest one that was opened; kept while no stream needs it */
  gint named_device;    /* cuda-device-id at the start */
  gboolean has_warned;  /* that frames are copied from another GPU */
};

G_DEFINE_TYPE_WITH_CODE (GstCudaCcl, gst_cuda_ccl, GST_TYPE_CCL_BASE,
    GST_DEBUG_CATEGORY_INIT (
        gst_cuda_ccl_debug, "cudaccl", 0, "connected components labelling on a GPU"))
GST_ELEMENT_REGISTER_DEFINE (cudaccl, "cudaccl", GST_RANK_NONE, GST_TYPE_CUDA_CCL)

#define CAPS                                                                                       \
  GST_VIDEO_CAPS_MAKE_WITH_FEATURES (GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, GST_CCL_FORMATS)         \
  "; " GST_VIDEO_CAPS_MAKE (GST_CCL_FORMATS) GST_CCL_OR_BATCHES

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static GstCclSettings
get_settings (GstCudaCcl *self)
{
  return gst_ccl_base_get_settings (GST_CCL_BASE (self));
}

static gboolean
has_choice (const GstCclSettings *settings)
{
  return settings->cuda_device_id < 0 &&
         settings->cuda_device_choice == GST_CCL_DEVICE_CHOICE_LEAST_USED;
}

static void
gst_cuda_ccl_set_context (GstElement *element, GstContext *context)
{
  GstCudaCcl *self = GST_CUDA_CCL (element);
  const GstCclSettings settings = get_settings (self);
  gint device_id = settings.cuda_device_id;

  g_rec_mutex_lock (&self->context_lock);
  if (has_choice (&settings))
    device_id = self->chosen_device;
  /* A context that is offered before the choice must not decide it. */
  if (!has_choice (&settings) || device_id >= 0)
    gst_cuda_handle_set_context (element, context, device_id, &self->context);
  g_rec_mutex_unlock (&self->context_lock);

  GST_ELEMENT_CLASS (gst_cuda_ccl_parent_class)->set_context (element, context);
}

static GstCudaContext *
ref_context (GstCudaCcl *self)
{
  GstCudaContext *context;

  g_rec_mutex_lock (&self->context_lock);
  context = self->context ? gst_object_ref (self->context) : NULL;
  g_rec_mutex_unlock (&self->context_lock);
  return context;
}

static gboolean
gst_cuda_ccl_query (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstCudaCcl *self = GST_CUDA_CCL (trans);

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT) {
    GstCudaContext *context = ref_context (self);
    gboolean answered = gst_cuda_handle_context_query (GST_ELEMENT (self), query, context);

    gst_clear_object (&context);
    if (answered)
      return TRUE;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_cuda_ccl_parent_class)->query (trans, direction, query);
}

/* Opens the site of that context. A new reference; NULL after an error. */
static GstCudaCclSite *
open_site (GstCudaCcl *self, GstCudaContext *context, CclError *error)
{
  GstCudaCclSite *site = gst_cuda_ccl_site_open (&self->sites, context, error);

  if (site && site != self->site) {
    GST_INFO_OBJECT (self, "labelling on %s", ccl_cuda_device_name (site->device));
    if (self->site)
      gst_ccl_site_unref (&self->site->parent);
    self->site = (GstCudaCclSite *)gst_ccl_site_ref (&site->parent);
  }
  return site;
}

static gboolean
load_driver (GstCudaCcl *self)
{
  CclError error;

  /* Before GStreamer looks for a driver: it keeps a failure for the life of the process, and
   * version 1.22 hangs at the second attempt to initialise a driver that has no device. */
  if (ccl_cuda_count_devices (&error) < 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("%s: %s; %s", _ ("There is no CUDA device that works on this machine"), error.message,
            _ (WITHOUT_GPU)),
        (NULL));
    return FALSE;
  }
  if (!gst_cuda_load_library ()) {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("%s; %s",
            _ ("GStreamer cannot use the NVIDIA driver that libcudaccl has found; if the driver "
               "was "
               "installed while this program ran, start it again"),
            _ (WITHOUT_GPU)),
        (NULL));
    return FALSE;
  }
  gst_cuda_memory_init_once ();
  return TRUE;
}

static gboolean
find_context (GstCudaCcl *self, gint device_id)
{
  gboolean found;

  g_rec_mutex_lock (&self->context_lock);
  found = gst_cuda_ensure_element_context (GST_ELEMENT (self), device_id, &self->context);
  g_rec_mutex_unlock (&self->context_lock);
  if (!found && device_id < 0)
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("%s; %s", _ ("There is no CUDA device that works on this machine"), _ (WITHOUT_GPU)),
        (NULL));
  else if (!found)
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        (_ ("There is no CUDA device %d on this machine; %s"), device_id, _ (WITHOUT_GPU)), (NULL));
  return found;
}

static void
post_open_error (GstCudaCcl *self, const CclError *error)
{
  if (error->status == CUDACCL_ERROR_NOT_FOUND || error->status == CUDACCL_ERROR_UNSUPPORTED)
    GST_ELEMENT_ERROR (
        self, RESOURCE, NOT_FOUND, ("%s; %s", error->message, _ (WITHOUT_GPU)), (NULL));
  else
    gst_ccl_error_post (GST_ELEMENT (self), error);
}

/* Opens the device of that number; -1: the one of any context that neighbours offer. */
static gboolean
open_on (GstCudaCcl *self, gint device_id)
{
  GstCudaContext *context;
  GstCudaCclSite *site;
  CclError error;

  if (!find_context (self, device_id))
    return FALSE;
  context = ref_context (self);
  site = open_site (self, context, &error);
  gst_object_unref (context);
  if (!site) {
    post_open_error (self, &error);
    return FALSE;
  }
  gst_ccl_site_unref (&site->parent); /* the element keeps it */
  return TRUE;
}

/* Opens the least used device. Elements choose one after the other: each counts those before it. */
static gboolean
open_least_used (GstCudaCcl *self)
{
  static GMutex choice_lock;
  gboolean opened = FALSE;
  CclError error;
  gint device_id;

  g_mutex_lock (&choice_lock);
  device_id = ccl_cuda_find_least_used_device (&error);
  if (device_id < 0) {
    post_open_error (self, &error);
  } else {
    g_rec_mutex_lock (&self->context_lock);
    self->chosen_device = device_id;
    g_rec_mutex_unlock (&self->context_lock);
    opened = open_on (self, device_id);
  }
  g_mutex_unlock (&choice_lock);
  return opened;
}

/* NULL→READY, so that a missing driver or device is an error before any frame flows. */
static gboolean
open_element (GstCudaCcl *self)
{
  const GstCclSettings settings = get_settings (self);

  self->named_device = settings.cuda_device_id;
  self->has_warned = FALSE;
  if (!load_driver (self))
    return FALSE;
  return has_choice (&settings) ? open_least_used (self) : open_on (self, settings.cuda_device_id);
}

static void
close_element (GstCudaCcl *self)
{
  if (self->site)
    gst_ccl_site_unref (&self->site->parent);
  self->site = NULL;
  g_rec_mutex_lock (&self->context_lock);
  gst_clear_object (&self->context);
  self->chosen_device = -1;
  g_rec_mutex_unlock (&self->context_lock);
}

static GstStateChangeReturn
gst_cuda_ccl_change_state (GstElement *element, GstStateChange transition)
{
  GstCudaCcl *self = GST_CUDA_CCL (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !open_element (self)) {
    close_element (self);
    return GST_STATE_CHANGE_FAILURE;
  }
  ret = GST_ELEMENT_CLASS (gst_cuda_ccl_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    close_element (self);
  return ret;
}

/* Proposes page-locked memory, from which frames are uploaded without a copy in between. Upstream
 * allocates with the parameters that are there already. Returns whether there is a proposal. */
static gboolean
propose_pinned_pool (GstCudaCcl *self, GstCaps *caps, GstQuery *query)
{
  GstAllocator *allocator = NULL;
  GstAllocationParams params;
  GstCudaContext *context;
  g_autoptr (GstBufferPool) pool = NULL;
  g_autoptr (GstStructure) config = NULL;
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps) || GST_VIDEO_INFO_SIZE (&info) > G_MAXUINT)
    return FALSE;
  context = ref_context (self);
  if (!context)
    return FALSE;
  gst_allocation_params_init (&params);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, NULL, &params);
  pool = gst_cuda_pinned_pool_new (context, caps, (guint)GST_VIDEO_INFO_SIZE (&info), &params);
  gst_object_unref (context);
  if (!pool)
    return FALSE;

  GST_DEBUG_OBJECT (self, "proposing page-locked memory");
  gst_query_add_allocation_pool (query, pool, (guint)GST_VIDEO_INFO_SIZE (&info), 0, 0);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_get_allocator (config, &allocator, NULL);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_set_nth_allocation_param (query, 0, allocator, &params);
  else
    gst_query_add_allocation_param (query, allocator, &params);
  return TRUE;
}

static gboolean
names_allocator (GstQuery *query)
{
  g_autoptr (GstAllocator) allocator = NULL;

  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  return allocator != NULL;
}

/* The answer of the peer downstream is passed on, with the metadata that it accepts. Only where the
 * peer leaves open in which memory frames are, the element proposes memory of its own; that is an
 * answer even where the peer had none. */
static gboolean
gst_cuda_ccl_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  gboolean answered = GST_BASE_TRANSFORM_CLASS (gst_cuda_ccl_parent_class)
                          ->propose_allocation (trans, decide_query, query);
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || gst_query_get_n_allocation_pools (query) > 0 || names_allocator (query) ||
      gst_caps_features_contains (
          gst_caps_get_features (caps, 0), GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY))
    return answered;
  return propose_pinned_pool (GST_CUDA_CCL (trans), caps, query) || answered;
}

/* Whether a frame is in the memory of a GPU other than the one that the user named. */
static gboolean
is_elsewhere (GstCudaCcl *self, GstCudaMemory *memory)
{
  return self->named_device >= 0 && (!self->site || memory->context != self->site->context) &&
         gst_cuda_ccl_device_of (memory->context) != (guint)self->named_device;
}

static void
warn_of_copies (GstCudaCcl *self, GstCudaMemory *memory)
{
  if (self->has_warned)
    return;
  self->has_warned = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
      (_ ("Frames are in the memory of CUDA device %u, and cuda-device-id names %d: each frame is "
          "copied to that device"),
          gst_cuda_ccl_device_of (memory->context), self->named_device),
      (NULL));
}

/* A stream that has a model stays in its context as long as frames are on the same GPU. */
static gboolean
must_stay (GstCudaCclSite *site, gboolean has_model, GstCudaMemory *memory)
{
  return site && has_model &&
         (!memory || memory->context == site->context ||
             gst_cuda_ccl_device_of (memory->context) == site->device_id);
}

/* A frame is labelled where it is, unless the user named another GPU or the stream must stay; then
 * it is copied there. */
static GstCclSite *
gst_cuda_ccl_choose_site (GstElement *element, GstCclSite *present, gboolean has_model,
    GstBuffer *buffer, CclError *error)
{
  GstCudaCcl *self = GST_CUDA_CCL (element);
  GstCudaMemory *memory = gst_cuda_ccl_memory_of (buffer);
  GstCudaCclSite *site = (GstCudaCclSite *)present;
  GstCudaContext *context;

  if (memory && is_elsewhere (self, memory)) {
    warn_of_copies (self, memory);
    memory = NULL;
  }
  if (must_stay (site, has_model, memory))
    return present;
  context = memory ? gst_object_ref (memory->context) : ref_context (self);
  if (!site || site->context != context)
    site = open_site (self, context, error);
  gst_object_unref (context);
  return (GstCclSite *)site;
}

static void
gst_cuda_ccl_finalize (GObject *object)
{
  g_rec_mutex_clear (&GST_CUDA_CCL (object)->context_lock);
  G_OBJECT_CLASS (gst_cuda_ccl_parent_class)->finalize (object);
}

static void
gst_cuda_ccl_class_init (GstCudaCclClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCclBaseClass *base_class = GST_CCL_BASE_CLASS (klass);

  object_class->finalize = gst_cuda_ccl_finalize;

  gst_element_class_set_static_metadata (element_class, "CUDA connected components labeller",
      "Filter/Analyzer/Video/Hardware",
      "Finds the connected components of video frames on an NVIDIA GPU and attaches area, bounding "
      "box and centroid of each",
      GST_CCL_AUTHOR);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  element_class->set_context = GST_DEBUG_FUNCPTR (gst_cuda_ccl_set_context);
  element_class->change_state = GST_DEBUG_FUNCPTR (gst_cuda_ccl_change_state);

  trans_class->query = GST_DEBUG_FUNCPTR (gst_cuda_ccl_query);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_cuda_ccl_propose_allocation);

  base_class->methods = gst_cuda_ccl_methods;
  base_class->methods.choose_site = gst_cuda_ccl_choose_site;
  gst_ccl_base_class_install_properties (base_class, GST_CCL_BACKEND_GPU);
}

static void
gst_cuda_ccl_init (GstCudaCcl *self)
{
  g_rec_mutex_init (&self->context_lock);
  self->chosen_device = -1;
}
