/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The GPU's implementations: the library's labellers (tables and label maps) and the algorithms of
 * the papers (raw labels), NVIDIA's NPP, and the bandwidth bounds of the device's memory. */
#include "implementation-cuda.h"
#include "core/base/divide-up.h"

#include "research/cuda/bandwidth-parameters.h"
#include "research-images.h"

#include <string.h>

enum { DEFAULT_MAX_COMPONENTS = 4096 }; /* the elements' default */

CclLabellerPlan
cuda_plan (const CudaImplementation *cuda)
{
  return (CclLabellerPlan){
      .width = cuda->input->width,
      .height = cuda->input->height,
      .connectivity = (CclConnectivity)cuda->connectivity,
      .max_components = cuda->n_rows,
      .algorithm = cuda->algorithm->name,
  };
}

static CclStatus
queue_bound (CudaImplementation *cuda, CclError *error)
{
  CclBandwidthParameters parameters = {
      .frame = (const uint8_t *)cuda->frame,
      .frame_stride = cuda->frame_stride,
      .width = cuda->input->width,
      .height = cuda->input->height * cuda->input->depth,
      .labels = (uint32_t *)cuda->label_map,
      .label_stride = cuda->label_stride / 4,
  };
  CclCudaLaunch launch = {
      .function = cuda->bound, .kernel = cuda->bound_kernel, .block = {32, 8, 1}};

  ccl_cuda_launch_cover (&launch, cuda->bound_work, parameters.width, parameters.height, 1);
  return ccl_cuda_launch (cuda->device, &launch, &parameters, cuda->stream, error);
}

/* Labels a volume and waits for the table. */
static CclStatus
label_volume (CudaImplementation *cuda, CclError *error)
{
  const size_t height = cuda->input->height;
  const CclVolume volume = {(const void *)cuda->frame, cuda->frame_stride,
      cuda->frame_stride * height, CUDACCL_LOCATION_DEVICE};
  const CclVolumeLabels labels = {
      (void *)cuda->label_map, cuda->label_stride, cuda->label_stride * height};

  return ccl_volume_labeller_run (cuda->volume_labeller, &volume, &(CclLabellerOptions){0},
      cuda->label_map ? &labels : NULL, &cuda->volume_table, error);
}

CclStatus
cuda_queue (CudaImplementation *cuda, CclError *error)
{
  const CclCudaInput frame = {.frame = cuda->frame, .frame_stride = cuda->frame_stride};
  const CclLabels labels = {(void *)cuda->label_map, cuda->label_stride};

  if (cuda->bound_kernel)
    return queue_bound (cuda, error);
  if (cuda->is_npp)
    return peer_npp_queue (cuda, error);
  if (cuda->labels_volumes)
    return label_volume (cuda, error);
  if (!cuda->has_labelling)
    return cuda->engine->klass->queue (
        cuda->engine, &frame, cuda->label_map ? &labels : NULL, cuda->stream, error);
  ccl_cuda_sequence_set_frame (&cuda->labelling, cuda->frame, cuda->frame_stride,
      cuda->frame_stride * cuda->input->height, 0, false);
  return ccl_research_queue (
      &cuda->rounds, &cuda->labelling, 0, cuda->labelling.n_steps, cuda->stream, error);
}

CclStatus
cuda_run_once (CudaImplementation *cuda, CclError *error)
{
  const CclFrame frame = {(const void *)cuda->frame, cuda->frame_stride, CUDACCL_LOCATION_DEVICE};
  const CclLabels labels = {(void *)cuda->label_map, cuda->label_stride};

  if (cuda->labeller)
    return ccl_labeller_run (cuda->labeller, &frame, &(CclLabellerOptions){0},
        cuda->label_map ? &labels : NULL, &cuda->table, error);
  TRY (cuda_queue (cuda, error));
  TRY_DRIVER (cuda, cuStreamSynchronize (cuda->stream));
  return CUDACCL_OK;
}

/* Rows of frame and label map are aligned to 256 bytes. */
static size_t
align (size_t row)
{
  return round_up (row, 256);
}

/* Copies rows between host and device: of the input to the frame, or of a label map to labels. */
static CclStatus
copy_rows (CudaImplementation *cuda, CUDA_MEMCPY2D copy, size_t pixel_size, CclError *error)
{
  copy.WidthInBytes = pixel_size * cuda->input->width;
  copy.Height = (size_t)cuda->input->height * cuda->input->depth;
  TRY_DRIVER (cuda, cuMemcpy2DAsync (&copy, cuda->stream));
  TRY_DRIVER (cuda, cuStreamSynchronize (cuda->stream));
  return CUDACCL_OK;
}

static CclStatus
upload (CudaImplementation *cuda, CclError *error)
{
  const Input *input = cuda->input;

  cuda->frame_stride = align (input->width);
  TRY (ccl_cuda_device_allocate (
      cuda->device, cuda->frame_stride * input->height * input->depth, &cuda->frame, error));
  return copy_rows (cuda,
      (CUDA_MEMCPY2D){
          .srcMemoryType = CU_MEMORYTYPE_HOST,
          .srcHost = input->pixels,
          .srcPitch = input->width,
          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
          .dstDevice = cuda->frame,
          .dstPitch = cuda->frame_stride,
      },
      1, error);
}

static CclStatus
allocate_label_map (CudaImplementation *cuda, CclError *error)
{
  const Input *input = cuda->input;

  /* NPP copies label maps that have a gap between rows once more. */
  cuda->label_stride = 4 * (size_t)input->width;
  if (!cuda->is_npp)
    cuda->label_stride = align (cuda->label_stride);
  return ccl_cuda_device_allocate (
      cuda->device, cuda->label_stride * input->height * input->depth, &cuda->label_map, error);
}

/* Whether a step allows thread blocks of that shape. */
static bool
allows_shape (const CclStep *step, const uint32_t block[3])
{
  return step->kernel && !step->is_fixed && step->work.x && step->work.y && step->work.z &&
         (!step->has_rows_of_warps || block[0] % 32 == 0);
}

static CclStatus
allocate_raw_labels (CudaImplementation *cuda, CclError *error)
{
  const Input *input = cuda->input;

  TRY (ccl_cuda_sequence_init (&cuda->labelling, cuda->device, cuda->algorithm, input->width,
      input->height, input->depth,
      input->depth > 1 ? cuda->volume_connectivity : cuda->connectivity, cuda->stream, error));
  cuda->has_labelling = true;
  TRY (ccl_research_rounds_init (&cuda->rounds, &cuda->labelling, error));
  for (uint32_t i = 0; cuda->block[0] && i < cuda->labelling.n_steps; i++) {
    CclStep *step = &cuda->labelling.steps[i];
    if (allows_shape (step, cuda->block)) {
      step->block.x = cuda->block[0];
      step->block.y = cuda->block[1];
      step->block.z = cuda->block[2];
    }
  }
  return CUDACCL_OK;
}

static CclStatus
allocate_volume_labeller (CudaImplementation *cuda, CclError *error)
{
  const CclVolumePlan plan = {
      .width = cuda->input->width,
      .height = cuda->input->height,
      .depth = cuda->input->depth,
      .connectivity = (CclVolumeConnectivity)cuda->volume_connectivity,
      .max_components = cuda->n_rows,
  };

  cuda->volume_labeller = ccl_cuda_volume_labeller_new (cuda->device, &plan, error);
  if (!cuda->volume_labeller)
    return error->status;
  return ccl_cuda_volume_labeller_set_stream (cuda->volume_labeller, cuda->stream, error);
}

CclStatus
cuda_allocate (CudaImplementation *cuda, CclError *error)
{
  CclLabellerPlan plan;

  if (cuda->is_npp)
    TRY (peer_npp_allocate (cuda, error));
  if (cuda->is_npp || cuda->bound_kernel)
    return allocate_label_map (cuda, error);
  if (cuda->head.delivery == DELIVER_RAW_LABELS)
    return allocate_raw_labels (cuda, error);
  if (cuda->head.delivery == DELIVER_LABELS_AND_TABLE)
    TRY (allocate_label_map (cuda, error));
  if (cuda->labels_volumes)
    return allocate_volume_labeller (cuda, error);
  plan = cuda_plan (cuda);
  cuda->labeller = ccl_research_labeller_new (cuda->device, &plan, error);
  return cuda->labeller ? CUDACCL_OK : error->status;
}

void
cuda_deallocate (CudaImplementation *cuda)
{
  ccl_labeller_free (&cuda->labeller);
  ccl_volume_labeller_free (&cuda->volume_labeller);
  if (cuda->has_labelling) {
    ccl_research_rounds_clear (&cuda->rounds, cuda->device);
    ccl_cuda_sequence_clear (&cuda->labelling);
  }
  cuda->has_labelling = false;
  ccl_cuda_device_release (cuda->device, &cuda->label_map);
  ccl_cuda_device_release (cuda->device, &cuda->scratch);
}

bool
cuda_is_iterative (const CclAlgorithm *algorithm)
{
  const CclResearchAlgorithm *details = ccl_research_details (algorithm);

  return details && details->rounds.end > 0;
}

/* Runs an iterative algorithm once and gives up when patience ends. A labeller cannot be
 * interrupted, so the algorithm's raw labels are made instead. */
static CclStatus
try_iterations (CudaImplementation *cuda, CclError *error)
{
  CclStatus status;

  TRY (allocate_raw_labels (cuda, error));
  cuda->rounds.deadline = seconds_now () + cuda->patience;
  status = cuda_run_once (cuda, error);
  cuda->rounds.deadline = 0;
  cuda->head.gave_up = cuda->rounds.gave_up;
  if (cuda->head.gave_up) {
    const CclError why = *error;
    ccl_error_set (error, why.status, "given up after %g s: %s", cuda->patience, why.message);
  }
  return status;
}

static uint32_t
n_components (const CudaImplementation *cuda)
{
  return cuda->labels_volumes ? cuda->volume_table.n_components : cuda->table.n_components;
}

/* Allocates a table of so many rows and everything else that a run needs, and runs once. */
static CclStatus
allocate_and_run (CudaImplementation *cuda, uint32_t n_rows, CclError *error)
{
  cuda_deallocate (cuda);
  cuda->n_rows = n_rows;
  TRY (cuda_allocate (cuda, error));
  return cuda_run_once (cuda, error);
}

CclStatus
cuda_make_engine (CudaImplementation *cuda, CclError *error)
{
  const CclLabellerPlan plan = cuda_plan (cuda);

  cuda_free_engine (cuda);
  return cuda->algorithm->engine->new (
      cuda->device, cuda->algorithm, &plan, cuda->stream, &cuda->engine, error);
}

void
cuda_free_engine (CudaImplementation *cuda)
{
  if (cuda->engine)
    cuda->engine->klass->free (cuda->engine);
  cuda->engine = NULL;
}

static bool
supports (const CudaImplementation *cuda, const Input *input)
{
  const bool is_volume = input->depth > 1;

  if (cuda->labels_volumes || cuda->bound_kernel)
    return is_volume || cuda->bound_kernel;
  if (is_volume && cuda->head.delivery != DELIVER_RAW_LABELS)
    return false;
  if (cuda->is_npp || (cuda->block[2] > 1 && !is_volume))
    return cuda->is_npp && !is_volume;
  return ccl_cuda_algorithm_has (
      cuda->algorithm, is_volume ? cuda->volume_connectivity : cuda->connectivity);
}

static CclStatus
cuda_prepare (Implementation *implementation, const Input *input, CclError *error)
{
  CudaImplementation *cuda = (CudaImplementation *)implementation;

  implementation->gave_up = false;
  if (!supports (cuda, input))
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED, "this connectivity is not offered");
  ENTER (cuda);
  cuda->input = input;
  cuda->table.n_components = cuda->volume_table.n_components = 0;
  TRY_DRIVER (cuda, cuStreamCreate (&cuda->stream, CU_STREAM_NON_BLOCKING));
  TRY_DRIVER (cuda, cuEventCreate (&cuda->begin, CU_EVENT_DEFAULT));
  TRY_DRIVER (cuda, cuEventCreate (&cuda->end, CU_EVENT_DEFAULT));
  TRY (upload (cuda, error));
  if (cuda->bound_kernel)
    TRY (ccl_cuda_device_find_kernel (
        cuda->device, &ccl_cuda_image_bandwidth, cuda->bound_kernel, &cuda->bound, error));
  if (cuda->algorithm && cuda->patience > 0 && cuda_is_iterative (cuda->algorithm))
    TRY (try_iterations (cuda, error));
  if (cuda->has_labelling && implementation->delivery == DELIVER_RAW_LABELS)
    return CUDACCL_OK;
  TRY (allocate_and_run (cuda, cuda->max_components == UINT_MAX ? 1 : cuda->max_components, error));
  /* A table with room for all components needs their number. */
  if (cuda->max_components == UINT_MAX && n_components (cuda) > 1)
    TRY (allocate_and_run (cuda, n_components (cuda), error));
  return cuda->labeller ? cuda_make_engine (cuda, error) : CUDACCL_OK;
}

static CclStatus
cuda_run (Implementation *implementation, CclError *error)
{
  CudaImplementation *cuda = (CudaImplementation *)implementation;

  ENTER (cuda);
  if (cuda->allocation && !cuda->bound_kernel)
    return allocate_and_run (cuda, cuda->n_rows, error);
  return cuda_run_once (cuda, error);
}

static CclStatus
cuda_fetch (Implementation *implementation, Labelling *labelling, CclError *error)
{
  CudaImplementation *cuda = (CudaImplementation *)implementation;
  const size_t n_pixels = input_n_pixels (cuda->input);
  const bool has_map = cuda->has_labelling || cuda->label_map;
  CUDA_MEMCPY2D copy = {
      .srcMemoryType = CU_MEMORYTYPE_DEVICE,
      .srcDevice = cuda->label_map,
      .srcPitch = cuda->label_stride,
      .dstMemoryType = CU_MEMORYTYPE_HOST,
      .dstPitch = 4 * (size_t)cuda->input->width,
  };

  *labelling = (Labelling){
      .labels = has_map ? g_malloc (4 * n_pixels) : NULL,
      .is_raw = !cuda->labeller && !cuda->labels_volumes,
      .n_components = n_components (cuda),
  };
  if (cuda->labeller) {
    labelling->n_rows = cuda->table.n_rows;
    labelling->components =
        g_memdup2 (cuda->table.rows, cuda->table.n_rows * sizeof *cuda->table.rows);
  }
  if (!labelling->labels)
    return CUDACCL_OK;
  if (cuda->has_labelling) {
    copy.srcDevice = cuda->labelling.labels;
    copy.srcPitch = 4 * (size_t)cuda->labelling.parameters.label_stride;
  }
  copy.dstHost = labelling->labels;
  ENTER (cuda);
  TRY (copy_rows (cuda, copy, 4, error));
  /* NPP labels the background, too, and 0 is a label. */
  for (size_t i = 0; cuda->is_npp && i < n_pixels; i++)
    labelling->labels[i] = cuda->input->pixels[i] ? labelling->labels[i] + 1 : 0;
  return CUDACCL_OK;
}

static void
cuda_release (Implementation *implementation)
{
  CudaImplementation *cuda = (CudaImplementation *)implementation;
  const CclCudaDriver *driver = cuda->device->driver;

  if (!cuda->input || ccl_cuda_device_enter (cuda->device, NULL) != CUDACCL_OK)
    return;
  if (cuda->stream)
    driver->cuStreamSynchronize (cuda->stream);
  cuda_free_replay (cuda);
  cuda_free_engine (cuda);
  cuda_deallocate (cuda);
  ccl_cuda_device_release (cuda->device, &cuda->frame);
  if (cuda->begin)
    driver->cuEventDestroy (cuda->begin);
  if (cuda->end)
    driver->cuEventDestroy (cuda->end);
  if (cuda->stream)
    driver->cuStreamDestroy (cuda->stream);
  ccl_cuda_device_leave (cuda->device);
  cuda->begin = cuda->end = NULL;
  cuda->stream = NULL;
  cuda->input = NULL;
}

static void
cuda_free (Implementation *implementation)
{
  CudaImplementation *cuda = (CudaImplementation *)implementation;

  ccl_cuda_device_unref (&cuda->device);
  g_free (cuda->name);
  g_free (cuda);
}

static const ImplementationClass bound_class = {
    .prepare = cuda_prepare,
    .run = cuda_run,
    .release = cuda_release,
    .free = cuda_free,
    .device_time = cuda_device_time,
};

static const ImplementationClass labeller_class = {
    .prepare = cuda_prepare,
    .run = cuda_run,
    .release = cuda_release,
    .free = cuda_free,
    .device_time = cuda_device_time,
    .steps = cuda_steps,
    .count_accesses = cuda_count_accesses,
    .fetch = cuda_fetch,
};

/* Adds a copy of the implementation with everything that does not depend on its kind. */
static void
add (GPtrArray *implementations, CclCudaDevice *device, const ImplementationSettings *settings,
    CudaImplementation implementation)
{
  CudaImplementation *cuda = g_memdup2 (&implementation, sizeof implementation);

  cuda->head.klass = cuda->bound_kernel ? &bound_class : &labeller_class;
  cuda->head.device = "cuda";
  cuda->head.maker = cuda->is_npp ? peer_npp_version () : "cudaccl";
  cuda->head.threads = 1;
  cuda->head.is_bound = cuda->bound_kernel != NULL;
  if (cuda->algorithm) {
    const CclResearchAlgorithm *details = ccl_research_details (cuda->algorithm);
    cuda->head.algorithm = cuda->name ? cuda->name : cuda->algorithm->name;
    cuda->head.may_be_inexact = details && details->is_inexact;
  }
  cuda->device = ccl_cuda_device_ref (device);
  cuda->connectivity = settings->connectivity;
  cuda->volume_connectivity = settings->volume_connectivity;
  cuda->max_components =
      settings->max_components ? settings->max_components : DEFAULT_MAX_COMPONENTS;
  cuda->allocation = settings->allocation;
  cuda->patience = settings->patience;
  g_ptr_array_add (implementations, cuda);
}

/* Whether an algorithm is the one that "auto" selects, or the baseline. */
static bool
is_chosen (const CclAlgorithm *algorithm, const ImplementationSettings *settings)
{
  const char *const *names = ccl_cuda_algorithms ();

  while (*names && !ccl_cuda_algorithm_offers (*names, settings->connectivity))
    names++;
  return g_strcmp0 (*names, algorithm->name) == 0 ||
         g_str_equal (algorithm->name,
             settings->connectivity == CUDACCL_CONNECTIVITY_8 ? BASELINE_8 : BASELINE_4);
}

/* An algorithm with an engine of its own offers no raw labels. An inexact algorithm and one for
 * volumes alone offers no table. */
static bool
offers (const CclAlgorithm *algorithm, Delivery delivery)
{
  if (delivery == DELIVER_RAW_LABELS)
    return algorithm->steps[0].kernel != NULL;
  return ccl_research_labels_frames (algorithm);
}

/* Whether an algorithm with one delivery takes part. */
static bool
is_wanted (const CclAlgorithm *row, Delivery delivery, const ImplementationSettings *settings)
{
  if (!offers (row, delivery) || (settings->only_direct && cuda_is_iterative (row)) ||
      (settings->only_chosen && !settings->algorithms && !is_chosen (row, settings)))
    return false;
  return implementation_is_wanted (
             settings, row->name, delivery, offers (row, DELIVER_RAW_LABELS)) ||
         (settings->chosen_tables && delivery != DELIVER_RAW_LABELS && is_chosen (row, settings) &&
             implementation_is_named (settings, row->name));
}

/* Adds an algorithm with every shape of thread block that one of its kernels allows. */
static void
add_block_shapes (GPtrArray *implementations, CclCudaDevice *device,
    const ImplementationSettings *settings, const CclAlgorithm *row)
{
  static const uint32_t shapes[][3] = {{8, 8, 1}, {16, 8, 1}, {32, 2, 1}, {32, 4, 1}, {16, 16, 1},
      {32, 8, 1}, {64, 4, 1}, {128, 2, 1}, {256, 1, 1}, {32, 16, 1}, {4, 4, 4}, {8, 4, 4},
      {8, 8, 4}, {16, 4, 4}, {32, 4, 2}};
  const bool labels_volumes =
      row->connectivities & (CUDACCL_OFFERS_6 | CUDACCL_OFFERS_18 | CUDACCL_OFFERS_26);

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    CudaImplementation shaped = {.algorithm = row, .head.delivery = DELIVER_RAW_LABELS};
    bool is_allowed = false;
    for (guint step = 0; step < CUDACCL_MAX_STEPS; step++)
      is_allowed |= allows_shape (&row->steps[step], shapes[i]);
    if (!is_allowed || (shapes[i][2] > 1 && !labels_volumes))
      continue;
    memcpy (shaped.block, shapes[i], sizeof shaped.block);
    shaped.name =
        g_strdup_printf ("%s %ux%ux%u", row->name, shapes[i][0], shapes[i][1], shapes[i][2]);
    add (implementations, device, settings, shaped);
  }
}

CclStatus
implementations_add_cuda (
    GPtrArray *implementations, const ImplementationSettings *settings, CclError *error)
{
  const CclAlgorithm *row;
  const Delivery last = settings->block_shapes ? DELIVER_RAW_LABELS : DELIVER_LABELS_AND_TABLE;
  CclCudaDevice *device = ccl_cuda_device_open (-1, error);

  if (!device)
    return error->status;
  add (implementations, device, settings,
      (CudaImplementation){.head.algorithm = "read 1",
          .bound_kernel = "ccl_bandwidth_read",
          .bound_work = {16, 1, 1}});
  add (implementations, device, settings,
      (CudaImplementation){.head.algorithm = "read 1, write 4",
          .bound_kernel = "ccl_bandwidth_read_write",
          .bound_work = {4, 1, 1}});
  for (Delivery delivery = DELIVER_RAW_LABELS; delivery <= last; delivery++)
    for (size_t i = 0; (row = ccl_research_algorithm (i)); i++) {
      if (!is_wanted (row, delivery, settings))
        continue;
      add (implementations, device, settings,
          (CudaImplementation){.head.delivery = delivery, .algorithm = row});
      if (settings->block_shapes)
        add_block_shapes (implementations, device, settings, row);
    }
  for (Delivery delivery = DELIVER_TABLE; delivery <= last; delivery++)
    if (implementation_is_wanted (settings, VOLUME_ALGORITHM, delivery, false))
      add (implementations, device, settings,
          (CudaImplementation){.head = {.algorithm = VOLUME_ALGORITHM, .delivery = delivery},
              .labels_volumes = true});
  if (settings->peers && !settings->block_shapes && peer_npp_version () &&
      (settings->cheapest_labels || settings->deliveries >> DELIVER_RAW_LABELS & 1))
    add (implementations, device, settings,
        (CudaImplementation){
            .head = {.algorithm = "npp", .delivery = DELIVER_RAW_LABELS}, .is_npp = true});
  ccl_cuda_device_unref (&device);
  return CUDACCL_OK;
}

void
implementation_describe_cuda (char gpu[128], char driver[32])
{
  CclCudaDevice *device = ccl_cuda_device_open (-1, NULL);
  int version = 0;

  *gpu = *driver = '\0';
  if (!device)
    return;
  g_snprintf (gpu, 128, "%s, compute capability %d.%d", ccl_cuda_device_name (device),
      device->compute_capability / 10, device->compute_capability % 10);
  if (device->driver->cuDriverGetVersion (&version) == CUDA_SUCCESS)
    g_snprintf (driver, 32, "CUDA %d.%d", version / 1000, version % 1000 / 10);
  ccl_cuda_device_unref (&device);
}
