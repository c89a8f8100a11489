/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <cudaccl/device.h>

#include <stdlib.h>
#include <string.h>

#include "algorithms.h"
#include "engine.h"
#include "core/base/log-message.h"
#include "cuda/measure/measure.h"
#include "cuda/driver/runner.h"
#include "cuda/driver/upload.h"
#include "cuda/foreground/segmenter.h"

typedef struct CudaLabeller {
  CclLabeller base;
  CclCudaRunner runner;
  const CclAlgorithm *algorithm;
  CclCudaEngine *engine;
  CclCudaUpload upload; /* of frames that come from the host, or memory for the mask of frames */
  CclCudaUpload values; /* of second planes that come from the host, if the plan needs them */
  CclForeground *thresholder; /* makes that mask; NULL: the engine reads the frames */
  CclCudaMeasurer *measurer;  /* NULL: the plan has no columns, or the engine measures them */
} CudaLabeller;

/* Makes the mask of a frame, which becomes the engine's input. */
static CclStatus
reduce (CudaLabeller *self, const CclFrame *frame, CclCudaInput *input, CclError *error)
{
  const CclForegroundOptions options = {
      .threshold = input->options.threshold, .invert = input->options.invert};
  const CclMask mask = {(void *)self->upload.memory, self->upload.stride};
  ccl_cuda_foreground_set_stream (self->thresholder, self->runner.stream, NULL);
  input->frame = self->upload.memory;
  input->frame_stride = self->upload.stride;
  input->options.threshold = 0;
  input->options.invert = false;
  return ccl_foreground_queue (self->thresholder, frame, &options, &mask, error);
}

/* Queues the copy of a second plane in host memory, unless it is the frame, whose copy is queued.
 */
static CclStatus
queue_values (CudaLabeller *self, const CclFrame *frame, CclIntensity *values, CclError *error)
{
  const CclLabellerPlan *plan = &self->base.plan;
  if (!self->thresholder && values->data == frame->data && values->stride == frame->stride &&
      values->format == plan->format) {
    values->data = (const void *)self->upload.memory;
    values->stride = self->upload.stride;
    return CUDACCL_OK;
  }
  const uint32_t row = plan->width * ccl_pixel_bytes (values->format);
  values->data = (const void *)self->values.memory;
  values->stride = self->values.stride;
  return ccl_cuda_upload_queue_samples (&self->values, frame->intensity.data,
      frame->intensity.stride, row, plan->height, self->runner.stream, error);
}

/* Queues the algorithm, and the measurement of columns. */
static CclStatus
queue_engine (
    CudaLabeller *self, const CclCudaInput *input, const CclLabels *labels, CclError *error)
{
  CclLabels own_map;
  if (self->measurer && !labels) {
    own_map = ccl_cuda_measurer_map (self->measurer);
    labels = &own_map;
  }
  CclStatus status =
      self->engine->klass->queue (self->engine, input, labels, self->runner.stream, error);
  if (status != CUDACCL_OK || !self->measurer)
    return status;
  self->engine->finished = ccl_cuda_measurer_finished (self->measurer);
  return ccl_cuda_measurer_queue (
      self->measurer, &input->intensity, labels, self->runner.stream, error);
}

/* Queues all work of a frame. The device's context is current. */
static CclStatus
queue_frame (CudaLabeller *self, const CclFrame *frame, const CclLabellerOptions *options,
    const CclLabels *labels, CclError *error)
{
  CclCudaInput input = {(CUdeviceptr)frame->data, frame->stride, *options, frame->intensity};
  CclStatus status = CUDACCL_OK;
  if (self->thresholder)
    status = reduce (self, frame, &input, error);
  else if (frame->location == CUDACCL_LOCATION_HOST) {
    status = ccl_cuda_upload_queue (&self->upload, frame, self->runner.stream, error);
    input.frame = self->upload.memory;
    input.frame_stride = self->upload.stride;
  }
  if (status == CUDACCL_OK && self->base.plan.columns & CUDACCL_COLUMN_INTENSITY &&
      frame->location == CUDACCL_LOCATION_HOST)
    status = queue_values (self, frame, &input.intensity, error);
  if (status == CUDACCL_OK)
    status = queue_engine (self, &input, labels, error);
  return status == CUDACCL_OK
             ? CUDACCL_OK
             : ccl_cuda_device_abandon (self->runner.device, self->runner.stream, error);
}

/* Waits for the queued frame. The device's context is current. */
static CclStatus
finish_frame (CudaLabeller *self, CclTable *table, CclError *error)
{
  const CclStatus status =
      ccl_cuda_runner_wait (&self->runner, CUDACCL_OK, self->engine->finished, error);
  if (status != CUDACCL_OK)
    return status;
  self->engine->klass->read (self->engine, table);
  if (self->measurer)
    table->features = ccl_cuda_measurer_features (self->measurer);
  return CUDACCL_OK;
}

static CclStatus
cuda_labeller_run (CclLabeller *labeller, const CclFrame *frame, const CclLabellerOptions *options,
    const CclLabels *labels, CclTable *table, CclError *error)
{
  CudaLabeller *self = (CudaLabeller *)labeller;
  CclStatus status = ccl_cuda_runner_enter (&self->runner, error);
  if (status != CUDACCL_OK)
    return status;
  status = queue_frame (self, frame, options, labels, error);
  if (status == CUDACCL_OK)
    status = finish_frame (self, table, error);
  ccl_cuda_device_leave (self->runner.device);
  return status;
}

static CclStatus
cuda_labeller_queue (CclLabeller *labeller, const CclFrame *frame,
    const CclLabellerOptions *options, const CclLabels *labels, CclError *error)
{
  CudaLabeller *self = (CudaLabeller *)labeller;
  CclStatus status = ccl_cuda_runner_enter (&self->runner, error);
  if (status != CUDACCL_OK)
    return status;
  status = queue_frame (self, frame, options, labels, error);
  if (status == CUDACCL_OK && !self->engine->finished) /* for is_done */
    status = ccl_cuda_call (
        self->runner.device->driver, error, cuEventRecord (self->runner.done, self->runner.stream));
  ccl_cuda_device_leave (self->runner.device);
  return status;
}

static CclStatus
cuda_labeller_wait (CclLabeller *labeller, CclTable *table, CclError *error)
{
  CudaLabeller *self = (CudaLabeller *)labeller;
  CclStatus status = ccl_cuda_device_enter (self->runner.device, error);
  if (status != CUDACCL_OK)
    return status;
  status = finish_frame (self, table, error);
  ccl_cuda_device_leave (self->runner.device);
  return status;
}

/* A kernel that fails never sets the completion flag; then the stream has an error. */
static bool
cuda_labeller_is_done (CclLabeller *labeller)
{
  CudaLabeller *self = (CudaLabeller *)labeller;
  const CclCudaDriver *driver = self->runner.device->driver;
  const uint32_t *finished = self->engine->finished;
  CUresult result;

  if (finished && __atomic_load_n (finished, __ATOMIC_ACQUIRE))
    return true;
  if (ccl_cuda_device_enter (self->runner.device, NULL) != CUDACCL_OK)
    return true;
  result = finished ? driver->cuStreamQuery (self->runner.stream)
                    : driver->cuEventQuery (self->runner.done);
  ccl_cuda_device_leave (self->runner.device);
  return result != CUDA_ERROR_NOT_READY;
}

static void
release (void *object)
{
  CudaLabeller *self = object;
  if (self->base.is_queued)
    self->runner.device->driver->cuStreamSynchronize (self->runner.stream);
  if (self->engine)
    self->engine->klass->free (self->engine);
  ccl_cuda_upload_clear (&self->upload);
  ccl_cuda_upload_clear (&self->values);
  ccl_foreground_free (&self->thresholder);
  ccl_cuda_measurer_free (&self->measurer);
}

static void
cuda_labeller_free (CclLabeller *labeller)
{
  CudaLabeller *self = (CudaLabeller *)labeller;
  ccl_cuda_runner_close (&self->runner, release, self);
  free (self);
}

static CclStatus
make_thresholder (
    CudaLabeller *self, const CclLabellerPlan *plan, CclForeground **thresholder, CclError *error)
{
  const CclForegroundPlan foreground_plan = {
      .width = plan->width,
      .height = plan->height,
      .method = CUDACCL_FOREGROUND_THRESHOLD,
      .format = plan->format,
  };
  return ccl_cuda_segmenter_new (self->runner.device, &foreground_plan, thresholder, error);
}

/* Makes what measures columns, or nothing if the plan has none or the engine measures them. */
static CclStatus
make_measurer (
    CudaLabeller *self, const CclLabellerPlan *plan, CclCudaMeasurer **measurer, CclError *error)
{
  const CclCudaEngineClass *engine = self->algorithm->engine;
  const bool is_needed = plan->columns && !(engine->measures && engine->measures (plan));
  *measurer = NULL;
  return is_needed ? ccl_cuda_measurer_new (self->runner.device, plan, measurer, error)
                   : CUDACCL_OK;
}

/* Makes an engine and waits for its preparatory work. After an error nothing is left allocated. */
static CclStatus
make_engine (CudaLabeller *self, const CclLabellerPlan *plan, CclCudaEngine **made, CclError *error)
{
  CclCudaDevice *device = self->runner.device;
  const CUstream stream = self->runner.own_stream;
  CclCudaEngine *engine = NULL;
  CclStatus status =
      self->algorithm->engine->new (device, self->algorithm, plan, stream, &engine, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_call (device->driver, error, cuStreamSynchronize (stream));
  if (status == CUDACCL_OK)
    *made = engine;
  else
    engine->klass->free (engine);
  return status;
}

/* Resizes the engine, or replaces it. */
static CclStatus
resize_engine (CudaLabeller *self, const CclLabellerPlan *plan, CclError *error)
{
  CclCudaEngine *former = self->engine;
  if (former->klass->resize)
    return former->klass->resize (former, plan, error);
  const CclStatus status = make_engine (self, plan, &self->engine, error);
  if (status == CUDACCL_OK)
    former->klass->free (former);
  return status;
}

/* The bytes of a row of the frames, or of the masks that are made of them. */
static uint32_t
uploaded_row (const CudaLabeller *self, const CclLabellerPlan *plan)
{
  const bool is_reduced = !ccl_cuda_algorithm_reads (self->algorithm, plan->format);
  return plan->width * (is_reduced ? 1 : ccl_pixel_bytes (plan->format));
}

/* The bytes of a row of second planes, which may have two bytes for each pixel. */
static uint32_t
value_row (const CclLabellerPlan *plan)
{
  return plan->width * (uint32_t)sizeof (uint16_t);
}

static CclStatus
resize_uploads (CudaLabeller *self, const CclLabellerPlan *plan, CclError *error)
{
  CclStatus status =
      ccl_cuda_upload_resize (&self->upload, uploaded_row (self, plan), plan->height, error);
  if (status == CUDACCL_OK && plan->columns & CUDACCL_COLUMN_INTENSITY)
    status = ccl_cuda_upload_resize (&self->values, value_row (plan), plan->height, error);
  return status;
}

/* The engine comes last: the steps before it can be undone without an allocation. */
static CclStatus
resize_parts (CudaLabeller *self, const CclLabellerPlan *plan, CclError *error)
{
  const CclLabellerPlan *former = &self->base.plan;
  CclForeground *thresholder = NULL;
  CclCudaMeasurer *measurer = NULL;
  CclStatus status = CUDACCL_OK;

  if (self->thresholder)
    status = make_thresholder (self, plan, &thresholder, error);
  if (status == CUDACCL_OK)
    status = make_measurer (self, plan, &measurer, error);
  if (status == CUDACCL_OK)
    status = resize_uploads (self, plan, error);
  if (status == CUDACCL_OK)
    status = resize_engine (self, plan, error);
  if (status != CUDACCL_OK) {
    resize_uploads (self, former, NULL);
    ccl_foreground_free (&thresholder);
    ccl_cuda_measurer_free (&measurer);
    return status;
  }
  ccl_cuda_measurer_free (&self->measurer);
  self->measurer = measurer;
  if (thresholder) {
    ccl_foreground_free (&self->thresholder);
    self->thresholder = thresholder;
  }
  return CUDACCL_OK;
}

static CclStatus
cuda_labeller_resize (CclLabeller *labeller, uint32_t width, uint32_t height, CclError *error)
{
  CudaLabeller *self = (CudaLabeller *)labeller;
  CclLabellerPlan plan = labeller->plan;
  CclStatus status = ccl_cuda_device_enter (self->runner.device, error);

  if (status != CUDACCL_OK)
    return status;
  plan.width = width;
  plan.height = height;
  status = resize_parts (self, &plan, error);
  if (status == CUDACCL_OK)
    labeller->plan = plan;
  ccl_cuda_device_leave (self->runner.device);
  return status;
}

static const CclLabellerClass cuda_labeller_class = {
    .name = "cuda",
    .run = cuda_labeller_run,
    .queue = cuda_labeller_queue,
    .wait = cuda_labeller_wait,
    .is_done = cuda_labeller_is_done,
    .resize = cuda_labeller_resize,
    .free = cuda_labeller_free,
};

/* The algorithm that a plan names. */
static const CclAlgorithm *
choose_algorithm (const CclLabellerPlan *plan, CclError *error)
{
  const CclAlgorithm *algorithm = ccl_cuda_algorithm_find (plan->algorithm);
  if (!algorithm) {
    ccl_error_set (
        error, CUDACCL_ERROR_UNSUPPORTED, "there is no algorithm %s on the GPU", plan->algorithm);
    return NULL;
  }
  if (!ccl_cuda_algorithm_has (algorithm, plan->connectivity)) {
    ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED, "algorithm %s has no %d-connectivity",
        plan->algorithm, (int)plan->connectivity);
    return NULL;
  }
  return algorithm;
}

/* Allocates everything of a labeller. */
static CclStatus
allocate (void *object, CclError *error)
{
  CudaLabeller *self = object;
  const CclLabellerPlan *plan = &self->base.plan;
  CclStatus status = ccl_cuda_upload_init (
      &self->upload, self->runner.device, uploaded_row (self, plan), plan->height, error);
  if (status == CUDACCL_OK && plan->columns & CUDACCL_COLUMN_INTENSITY)
    status = ccl_cuda_upload_init (
        &self->values, self->runner.device, value_row (plan), plan->height, error);
  if (status == CUDACCL_OK && !ccl_cuda_algorithm_reads (self->algorithm, plan->format))
    status = make_thresholder (self, plan, &self->thresholder, error);
  if (status == CUDACCL_OK)
    status = make_measurer (self, plan, &self->measurer, error);
  return status == CUDACCL_OK ? make_engine (self, plan, &self->engine, error) : status;
}

CclLabeller *
ccl_cuda_labeller_new_with (CclCudaDevice *device, const CclLabellerPlan *plan,
    const CclAlgorithm *algorithm, CclError *error)
{
  if (!device) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device is needed");
    return NULL;
  }
  if (ccl_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  CudaLabeller *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a labeller");
    return NULL;
  }
  self->base.klass = &cuda_labeller_class;
  self->base.plan = *plan;
  self->base.plan.algorithm = algorithm->name;
  self->algorithm = algorithm;
  if (ccl_cuda_runner_open (&self->runner, device, allocate, self, error) != CUDACCL_OK) {
    cuda_labeller_free (&self->base);
    return NULL;
  }
  ccl_log (CUDACCL_LOG_INFO, "%s labels frames of %u×%u pixels by the algorithm %s", device->name,
      plan->width, plan->height, algorithm->name);
  return &self->base;
}

/* The first algorithm of the table that offers the connectivity and accepts frames of this size. */
static CclLabeller *
labeller_new_auto (CclCudaDevice *device, const CclLabellerPlan *plan, CclError *error)
{
  CclLabeller *labeller = NULL;
  CclError reason = {CUDACCL_ERROR_UNSUPPORTED};
  for (const CclAlgorithm *row = ccl_cuda_algorithm_table;
       row->name && !labeller && reason.status == CUDACCL_ERROR_UNSUPPORTED; row++) {
    if (ccl_cuda_algorithm_has (row, plan->connectivity))
      labeller = ccl_cuda_labeller_new_with (device, plan, row, &reason);
  }
  if (!labeller)
    ccl_error_set (error, reason.status, "%s", reason.message);
  return labeller;
}

CclLabeller *
ccl_cuda_labeller_new (CclCudaDevice *device, const CclLabellerPlan *plan, CclError *error)
{
  if (ccl_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  if (!plan->algorithm || !strcmp (plan->algorithm, "auto"))
    return labeller_new_auto (device, plan, error);
  const CclAlgorithm *algorithm = choose_algorithm (plan, error);
  return algorithm ? ccl_cuda_labeller_new_with (device, plan, algorithm, error) : NULL;
}

CclStatus
ccl_cuda_labeller_set_stream (CclLabeller *labeller, void *stream, CclError *error)
{
  if (!labeller || labeller->klass != &cuda_labeller_class)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "only a labeller of a GPU has a stream");
  if (labeller->is_queued)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the frame that is queued has not been waited for");
  ccl_cuda_runner_set_stream (&((CudaLabeller *)labeller)->runner, stream);
  return CUDACCL_OK;
}

void *
ccl_cuda_labeller_get_stream (CclLabeller *labeller)
{
  return labeller && labeller->klass == &cuda_labeller_class
             ? ((CudaLabeller *)labeller)->runner.stream
             : NULL;
}

/* Offers the kernels that label a mask to the segmenter that makes it. Returns whether there are
 * any. */
static bool
offer_kernels (CudaLabeller *self, CclCudaSegmenter *segmenter,
    const CclForegroundOptions *foreground_options, const CclFrame *mask,
    const CclLabellerOptions *options)
{
  const CclCudaInput input = {(CUdeviceptr)mask->data, mask->stride, *options, mask->intensity};
  return self->engine->klass->offer && !self->thresholder && !self->measurer &&
         segmenter->runner.device == self->runner.device &&
         ccl_cuda_segmenter_takes_followers (segmenter, foreground_options) &&
         self->engine->klass->offer (self->engine, &input, &segmenter->followers);
}

CclStatus
ccl_cuda_labeller_queue_with_mask (CclLabeller *labeller, CclForeground *foreground,
    const CclFrame *frame, const CclForegroundOptions *foreground_options, const CclMask *mask,
    const CclLabellerOptions *options, const CclLabels *labels, CclError *error)
{
  CudaLabeller *self = (CudaLabeller *)labeller;
  CclCudaSegmenter *segmenter = ccl_cuda_foreground_find_segmenter (foreground);
  if (!labeller || labeller->klass != &cuda_labeller_class || !segmenter || !mask ||
      !foreground_options)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a labeller and a foreground of a GPU, a mask and options are needed");
  const CclFrame pixels = {mask->data, mask->stride, CUDACCL_LOCATION_DEVICE};
  CclStatus status = ccl_labeller_check_run (labeller, &pixels, options, labels, error);
  if (status != CUDACCL_OK)
    return status;
  ccl_cuda_foreground_set_stream (foreground, self->runner.stream, NULL);
  const bool has_offered =
      !labels && offer_kernels (self, segmenter, foreground_options, &pixels, options);
  status = ccl_foreground_queue (foreground, frame, foreground_options, mask, error);
  const bool are_queued = has_offered && segmenter->followers.are_queued;
  segmenter->followers = (CclCudaFollowers){NULL};
  if (are_queued)
    self->engine->klass->settle (self->engine, status != CUDACCL_OK);
  if (status != CUDACCL_OK)
    return status;
  if (!are_queued)
    return ccl_labeller_queue (labeller, &pixels, options, labels, error);
  labeller->is_queued = true;
  return CUDACCL_OK;
}

CclStatus
ccl_cuda_labeller_get_table (CclLabeller *labeller, CclCudaTable *table, CclError *error)
{
  if (!labeller || labeller->klass != &cuda_labeller_class || !table)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "a labeller of a GPU and a table are needed");
  const CudaLabeller *self = (const CudaLabeller *)labeller;
  const CclCudaTableMemory *memory = self->engine->klass->table (self->engine);
  const uint32_t most = ccl_plan_most_components (&labeller->plan);
  table->n_components = ccl_cuda_table_memory_head (memory);
  table->rows = ccl_cuda_table_memory_rows (memory);
  table->features = self->measurer ? self->measurer->parameters.result
                                   : (const CclFeatures *)(uintptr_t)memory->features;
  table->max_rows = labeller->plan.max_components < most ? labeller->plan.max_components : most;
  return CUDACCL_OK;
}
