/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The GPU labellers of this project as contenders, NVIDIA's own as a peer, and the floors of the
 * device's memory.
 */
#include "contender-cuda.h"

#include "clock.h"
#include "contender-cuda-private.h"
#include "machine.h"
#include "problem.h"

#include <string.h>

enum { DEFAULT_MAX_COMPONENTS = 4096 }; /* as the elements have it */

CclPlan
cuda_contender_plan (const CudaContender *cuda, unsigned max_components)
{
  return (CclPlan){
      .width = cuda->input->width,
      .height = cuda->input->height,
      .connectivity = (CclConnectivity)cuda->connectivity,
      .max_components = max_components,
      .algorithm = cuda->algorithm->name,
  };
}

/* Queues one run; the context is current. */
CclStatus
cuda_contender_queue (CudaContender *cuda, CclError *failure)
{
  const Input *input = cuda->input;

  if (cuda->floor_kernel) {
    CclFloorParameters parameters = {
        .frame = (const uint8_t *)cuda->frame,
        .frame_stride = cuda->frame_stride,
        .width = input->width,
        .height = input->height * input->depth,
        .labels = (uint32_t *)cuda->label_map,
        .label_stride = cuda->label_stride / 4,
    };
    return ccl_cuda_launch (cuda->device, cuda->floor, cuda->floor_work,
        (const uint32_t[3]){32, 8, 1}, parameters.width, parameters.height, 1, &parameters,
        cuda->stream, failure);
  }
  if (cuda->has_labelling) {
    ccl_cuda_labelling_set_frame (&cuda->labelling, cuda->frame, cuda->frame_stride,
        cuda->frame_stride * input->height, 0, false);
    return ccl_cuda_labelling_queue (
        &cuda->labelling, 0, cuda->labelling.n_steps, cuda->stream, failure);
  }
  if (cuda->npp)
    return peer_npp_queue (cuda->npp, cuda->device, cuda->frame, cuda->frame_stride,
        cuda->label_map, cuda->label_stride, input->width, input->height, cuda->connectivity,
        cuda->scratch, cuda->stream, failure);
  const CclCudaInput frame = {.frame = cuda->frame, .frame_stride = cuda->frame_stride};
  const CclLabels labels = {(void *)cuda->label_map, cuda->label_stride};
  return cuda->engine->klass->queue (
      cuda->engine, &frame, cuda->label_map ? &labels : NULL, cuda->stream, failure);
}

/* Rows of frame and label map start where a GPU likes them to. */
static size_t
pad (size_t row)
{
  return (row + 255) / 256 * 256;
}

static CclStatus
upload (CudaContender *cuda, CclError *failure)
{
  const Input *input = cuda->input;
  const size_t rows = (size_t)input->height * input->depth;
  CclStatus status;
  CUDA_MEMCPY2D copy;

  cuda->frame_stride = pad (input->width);
  status =
      ccl_cuda_device_allocate (cuda->device, cuda->frame_stride * rows, &cuda->frame, failure);
  if (status != CCL_OK)
    return status;
  copy = (CUDA_MEMCPY2D){
      .srcMemoryType = CU_MEMORYTYPE_HOST,
      .srcHost = input->pixels,
      .srcPitch = input->width,
      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
      .dstDevice = cuda->frame,
      .dstPitch = cuda->frame_stride,
      .WidthInBytes = input->width,
      .Height = rows,
  };
  status = ccl_cuda_call (cuda->device->driver, failure, cuMemcpy2DAsync (&copy, cuda->stream));
  if (status != CCL_OK)
    return status;
  return ccl_cuda_call (cuda->device->driver, failure, cuStreamSynchronize (cuda->stream));
}

static CclStatus
allocate_label_map (CudaContender *cuda, CclError *failure)
{
  const Input *input = cuda->input;

  /* NPP wants rows that follow each other without a gap; with one it copies the map once more. */
  cuda->label_stride = 4 * (size_t)input->width;
  if (!cuda->npp)
    cuda->label_stride = pad (cuda->label_stride);
  return ccl_cuda_device_allocate (
      cuda->device, cuda->label_stride * input->height * input->depth, &cuda->label_map, failure);
}

/* Whether a step works with thread blocks of that shape. */
static bool
takes_shape (const CclStep *step, const uint32_t block[3])
{
  return step->kernel && !step->is_fixed && step->work.x && step->work.y && step->work.z &&
         (!step->has_rows_of_warps || block[0] % 32 == 0);
}

static void
set_block_shape (CudaContender *cuda)
{
  for (uint32_t i = 0; cuda->has_labelling && cuda->block[0] && i < cuda->labelling.n_steps; i++)
    if (takes_shape (&cuda->labelling.steps[i], cuda->block)) {
      cuda->labelling.steps[i].block.x = cuda->block[0];
      cuda->labelling.steps[i].block.y = cuda->block[1];
      cuda->labelling.steps[i].block.z = cuda->block[2];
    }
}

/* What an algorithm needs for a run; the context is current. */
CclStatus
cuda_contender_make (CudaContender *cuda, CclError *failure)
{
  const Input *input = cuda->input;
  CclStatus status = CCL_OK;
  CclPlan plan;

  if (cuda->npp) {
    const size_t size = peer_npp_scratch_size (cuda->npp, input->width, input->height);
    if (!size)
      return ccl_error_set (failure, CCL_ERROR_UNSUPPORTED, "NPP does not label this size");
    status = allocate_label_map (cuda, failure);
    return status == CCL_OK ? ccl_cuda_device_allocate (cuda->device, size, &cuda->scratch, failure)
                            : status;
  }
  if (cuda->head.delivery == DELIVER_RAW_LABELS) {
    status = ccl_cuda_labelling_init (&cuda->labelling, cuda->device, cuda->algorithm, input->width,
        input->height, input->depth,
        input->depth > 1 ? cuda->volume_connectivity : cuda->connectivity, cuda->stream, failure);
    cuda->has_labelling = status == CCL_OK;
    set_block_shape (cuda);
    return status;
  }
  if (cuda->head.delivery == DELIVER_LABELS_AND_TABLE)
    status = allocate_label_map (cuda, failure);
  if (status != CCL_OK)
    return status;
  plan = cuda_contender_plan (cuda, cuda->max_components == UINT_MAX ? 1 : cuda->max_components);
  cuda->labeller = ccl_cuda_labeller_new (cuda->device, &plan, failure);
  return cuda->labeller ? CCL_OK : failure->status;
}

void
cuda_contender_let_go (CudaContender *cuda)
{
  ccl_labeller_free (&cuda->labeller);
  if (cuda->has_labelling)
    ccl_cuda_labelling_clear (&cuda->labelling);
  cuda->has_labelling = false;
  ccl_cuda_device_release (cuda->device, &cuda->label_map);
  ccl_cuda_device_release (cuda->device, &cuda->scratch);
}

/* One run and a wait; the context is current. */
CclStatus
cuda_contender_run_once (CudaContender *cuda, CclError *failure)
{
  CclStatus status;

  if (cuda->labeller) {
    const CclFrame frame = {(const void *)cuda->frame, cuda->frame_stride, CCL_LOCATION_DEVICE};
    const CclLabels labels = {(void *)cuda->label_map, cuda->label_stride};
    return ccl_labeller_run (cuda->labeller, &frame, &(CclOptions){0},
        cuda->label_map ? &labels : NULL, &cuda->table, failure);
  }
  status = cuda_contender_queue (cuda, failure);
  if (status != CCL_OK)
    return status;
  return ccl_cuda_call (cuda->device->driver, failure, cuStreamSynchronize (cuda->stream));
}

bool
cuda_algorithm_is_iterative (const CclAlgorithm *algorithm)
{
  for (guint i = 0; i < CCL_MAX_STEPS && algorithm->steps[i].kernel; i++)
    if (algorithm->steps[i].repeats)
      return true;
  return false;
}

/* One run of an iterative algorithm that is given up when patience ends. A labeller cannot be
 * stopped on its way, so the raw labels that it starts from stand in for it. */
static CclStatus
run_patiently (CudaContender *cuda, CclError *failure)
{
  const Delivery delivery = cuda->head.delivery;
  CclStatus status = CCL_OK;

  if (!cuda->has_labelling) {
    cuda->head.delivery = DELIVER_RAW_LABELS;
    status = cuda_contender_make (cuda, failure);
  }
  cuda->labelling.deadline = clock_now () + cuda->patience;
  if (status == CCL_OK)
    status = cuda_contender_run_once (cuda, failure);
  cuda->labelling.deadline = 0;
  cuda->head.delivery = delivery;
  return status;
}

/* Makes room in the table for all components that the first run counted. */
static CclStatus
make_room (CudaContender *cuda, CclError *failure)
{
  CclPlan plan;

  if (cuda->max_components != UINT_MAX || !cuda->labeller || cuda->table.n_components < 2)
    return CCL_OK;
  plan = cuda_contender_plan (cuda, cuda->table.n_components);
  ccl_labeller_free (&cuda->labeller);
  cuda->labeller = ccl_cuda_labeller_new (cuda->device, &plan, failure);
  return cuda->labeller ? cuda_contender_run_once (cuda, failure) : failure->status;
}

static CclStatus
make_engine (CudaContender *cuda, CclError *failure)
{
  const CclPlan plan = cuda_contender_plan (cuda, cuda->labeller->plan.max_components);
  const CclCudaEngineClass *klass =
      cuda->algorithm->engine ? cuda->algorithm->engine : &ccl_cuda_steps_engine;

  cuda->engine = klass->new (cuda->device, cuda->algorithm, &plan, cuda->stream, failure);
  return cuda->engine ? CCL_OK : failure->status;
}

static CclStatus
prepare (CudaContender *cuda, CclError *failure)
{
  const CclCudaDriver *driver = cuda->device->driver;
  CclStatus status =
      ccl_cuda_call (driver, failure, cuStreamCreate (&cuda->stream, CU_STREAM_NON_BLOCKING));

  if (status == CCL_OK)
    status = ccl_cuda_call (driver, failure, cuEventCreate (&cuda->begin, CU_EVENT_DEFAULT));
  if (status == CCL_OK)
    status = ccl_cuda_call (driver, failure, cuEventCreate (&cuda->end, CU_EVENT_DEFAULT));
  if (status == CCL_OK)
    status = upload (cuda, failure);
  if (status == CCL_OK && cuda->floor_kernel) {
    status = ccl_cuda_device_find_kernel (
        cuda->device, "floor", cuda->floor_kernel, &cuda->floor, failure);
    if (status == CCL_OK)
      status = allocate_label_map (cuda, failure);
  } else if (status == CCL_OK && cuda->patience > 0 && cuda->algorithm &&
             cuda_algorithm_is_iterative (cuda->algorithm)) {
    status = run_patiently (cuda, failure);
    if (status != CCL_OK || cuda->head.delivery == DELIVER_RAW_LABELS)
      return status;
    cuda_contender_let_go (cuda);
    status = cuda_contender_make (cuda, failure);
  } else if (status == CCL_OK) {
    status = cuda_contender_make (cuda, failure);
  }
  if (status == CCL_OK)
    status = cuda_contender_run_once (cuda, failure);
  if (status == CCL_OK)
    status = make_room (cuda, failure);
  if (status == CCL_OK && cuda->labeller)
    status = make_engine (cuda, failure);
  return status;
}

static gboolean
cuda_prepare (Contender *contender, const Input *input, GError **error)
{
  CudaContender *cuda = (CudaContender *)contender;
  const uint32_t connectivity = input->depth > 1 ? cuda->volume_connectivity : cuda->connectivity;
  CclStatus status;
  CclError failure;

  if ((cuda->algorithm && !ccl_cuda_algorithm_has (cuda->algorithm, connectivity)) ||
      (cuda->block[2] > 1 && input->depth == 1) ||
      (input->depth > 1 && (cuda->npp || contender->delivery == DELIVER_TABLE ||
                               contender->delivery == DELIVER_LABELS_AND_TABLE))) {
    g_set_error (error, CONTENDER_ERROR, CONTENDER_ERROR_UNSUPPORTED, "no %u-connectivity here",
        connectivity);
    return FALSE;
  }
  cuda->input = input;
  if (ccl_cuda_device_enter (cuda->device, &failure) != CCL_OK)
    return contender_fail (&failure, error);
  status = prepare (cuda, &failure);
  ccl_cuda_device_leave (cuda->device);
  if (cuda->has_labelling && cuda->labelling.gave_up) {
    g_set_error (error, CONTENDER_ERROR, CONTENDER_ERROR_TOO_SLOW, "given up after %g s: %s",
        cuda->patience, failure.message);
    return FALSE;
  }
  return status == CCL_OK ? TRUE : contender_fail (&failure, error);
}

static gboolean
cuda_run (Contender *contender, GError **error)
{
  CudaContender *cuda = (CudaContender *)contender;
  CclStatus status = CCL_OK;
  CclError failure;

  if (ccl_cuda_device_enter (cuda->device, &failure) != CCL_OK)
    return contender_fail (&failure, error);
  if (cuda->allocation && !cuda->floor_kernel) {
    const unsigned max_components = cuda->max_components;
    if (cuda->labeller)
      cuda->max_components = cuda->labeller->plan.max_components;
    cuda_contender_let_go (cuda);
    status = cuda_contender_make (cuda, &failure);
    cuda->max_components = max_components;
  }
  if (status == CCL_OK)
    status = cuda_contender_run_once (cuda, &failure);
  ccl_cuda_device_leave (cuda->device);
  return status == CCL_OK ? TRUE : contender_fail (&failure, error);
}

static CclStatus
download (CudaContender *cuda, CUdeviceptr from, size_t stride, uint32_t *to, CclError *failure)
{
  const Input *input = cuda->input;
  const CUDA_MEMCPY2D copy = {
      .srcMemoryType = CU_MEMORYTYPE_DEVICE,
      .srcDevice = from,
      .srcPitch = stride,
      .dstMemoryType = CU_MEMORYTYPE_HOST,
      .dstHost = to,
      .dstPitch = 4 * (size_t)input->width,
      .WidthInBytes = 4 * (size_t)input->width,
      .Height = (size_t)input->height * input->depth,
  };
  CclStatus status =
      ccl_cuda_call (cuda->device->driver, failure, cuMemcpy2DAsync (&copy, cuda->stream));

  if (status != CCL_OK)
    return status;
  return ccl_cuda_call (cuda->device->driver, failure, cuStreamSynchronize (cuda->stream));
}

static gboolean
cuda_fetch (Contender *contender, Labelling *labelling, GError **error)
{
  CudaContender *cuda = (CudaContender *)contender;
  CclStatus status = CCL_OK;
  CclError failure;

  *labelling = (Labelling){.is_raw = !cuda->labeller};
  if (cuda->labeller) {
    labelling->n_components = cuda->table.n_components;
    labelling->n_rows = cuda->table.n_rows;
    labelling->components =
        g_memdup2 (cuda->table.rows, cuda->table.n_rows * sizeof *cuda->table.rows);
  }
  if (!cuda->has_labelling && !cuda->label_map)
    return TRUE;
  labelling->labels = g_malloc (4 * input_n_pixels (cuda->input));
  if (ccl_cuda_device_enter (cuda->device, &failure) != CCL_OK)
    return contender_fail (&failure, error);
  if (cuda->has_labelling)
    status = download (cuda, cuda->labelling.labels,
        4 * (size_t)cuda->labelling.parameters.label_stride, labelling->labels, &failure);
  else
    status = download (cuda, cuda->label_map, cuda->label_stride, labelling->labels, &failure);
  ccl_cuda_device_leave (cuda->device);
  /* To NPP, background is a region like all others, and 0 is a label. */
  for (size_t i = 0; cuda->npp && status == CCL_OK && i < input_n_pixels (cuda->input); i++)
    labelling->labels[i] = cuda->input->pixels[i] ? labelling->labels[i] + 1 : 0;
  return status == CCL_OK ? TRUE : contender_fail (&failure, error);
}

static void
cuda_release (Contender *contender)
{
  CudaContender *cuda = (CudaContender *)contender;
  const CclCudaDriver *driver = cuda->device->driver;

  if (!cuda->input || ccl_cuda_device_enter (cuda->device, NULL) != CCL_OK)
    return;
  if (cuda->stream)
    driver->cuStreamSynchronize (cuda->stream);
  if (cuda->replay)
    driver->cuGraphExecDestroy (cuda->replay);
  if (cuda->engine)
    cuda->engine->klass->free (cuda->engine);
  cuda_contender_let_go (cuda);
  ccl_cuda_device_release (cuda->device, &cuda->frame);
  if (cuda->begin)
    driver->cuEventDestroy (cuda->begin);
  if (cuda->end)
    driver->cuEventDestroy (cuda->end);
  if (cuda->stream)
    driver->cuStreamDestroy (cuda->stream);
  ccl_cuda_device_leave (cuda->device);
  cuda->replay = NULL;
  cuda->tried_replay = false;
  cuda->engine = NULL;
  cuda->begin = cuda->end = NULL;
  cuda->stream = NULL;
  cuda->input = NULL;
}

static void
cuda_free (Contender *contender)
{
  CudaContender *cuda = (CudaContender *)contender;

  cuda_release (contender);
  ccl_cuda_device_unref (&cuda->device);
  g_free (cuda->name);
  g_free (cuda);
}

static const ContenderClass floor_class = {
    .prepare = cuda_prepare,
    .run = cuda_run,
    .release = cuda_release,
    .free = cuda_free,
    .device_time = cuda_contender_device_time,
};

static const ContenderClass labeller_class = {
    .prepare = cuda_prepare,
    .run = cuda_run,
    .release = cuda_release,
    .free = cuda_free,
    .device_time = cuda_contender_device_time,
    .steps = cuda_contender_steps,
    .count_accesses = cuda_contender_count_accesses,
    .fetch = cuda_fetch,
};

static void
add (GPtrArray *contenders, CclCudaDevice *device, const ContenderSettings *settings,
    CudaContender contender)
{
  CudaContender *cuda = g_new (CudaContender, 1);

  *cuda = contender;
  cuda->head.device = "cuda";
  cuda->head.maker = cuda->npp ? peer_npp_version (cuda->npp) : "cudaccl";
  cuda->head.threads = 1;
  cuda->device = ccl_cuda_device_ref (device);
  cuda->connectivity = settings->connectivity;
  cuda->volume_connectivity = settings->volume_connectivity;
  cuda->max_components =
      settings->max_components ? settings->max_components : DEFAULT_MAX_COMPONENTS;
  cuda->allocation = settings->allocation;
  cuda->patience = settings->patience;
  g_ptr_array_add (contenders, cuda);
}

static void
add_floors (GPtrArray *contenders, CclCudaDevice *device, const ContenderSettings *settings)
{
  const Contender read = {.klass = &floor_class, .algorithm = "read 1", .is_floor = true};
  const Contender read_write = {
      .klass = &floor_class, .algorithm = "read 1, write 4", .is_floor = true};

  add (contenders, device, settings,
      (CudaContender){.head = read, .floor_kernel = "ccl_floor_read", .floor_work = {16, 1, 1}});
  add (contenders, device, settings,
      (CudaContender){
          .head = read_write, .floor_kernel = "ccl_floor_read_write", .floor_work = {4, 1, 1}});
}

/* Whether an algorithm is what "auto" picks, or what the others are compared with. */
static bool
is_chosen (const CclAlgorithm *algorithm, const ContenderSettings *settings)
{
  const char *const *names = ccl_cuda_algorithms ();

  while (*names && !ccl_cuda_algorithm_offers (*names, settings->connectivity))
    names++;
  return g_strcmp0 (*names, algorithm->name) == 0 ||
         g_str_equal (algorithm->name,
             settings->connectivity == CCL_CONNECTIVITY_8 ? BASELINE_8 : BASELINE_4);
}

static bool
labels_volumes (const CclAlgorithm *algorithm)
{
  return algorithm->connectivities & (CCL_OFFERS_6 | CCL_OFFERS_18 | CCL_OFFERS_26);
}

/* An algorithm that brings an engine of its own has no raw labels; an inexact one and one for
 * volumes only has no table. */
static bool
delivers (const CclAlgorithm *algorithm, Delivery delivery)
{
  if (delivery == DELIVER_RAW_LABELS)
    return algorithm->steps[0].kernel != NULL;
  return !algorithm->is_inexact && (algorithm->connectivities & (CCL_OFFERS_4 | CCL_OFFERS_8)) != 0;
}

/* Each algorithm with raw labels as it is, and then with every shape of thread block that one of
 * its kernels takes. */
static void
add_block_shapes (GPtrArray *contenders, CclCudaDevice *device, const ContenderSettings *settings)
{
  static const uint32_t shapes[][3] = {{8, 8, 1}, {16, 8, 1}, {32, 2, 1}, {32, 4, 1}, {16, 16, 1},
      {32, 8, 1}, {64, 4, 1}, {128, 2, 1}, {256, 1, 1}, {32, 16, 1}, {4, 4, 4}, {8, 4, 4},
      {8, 8, 4}, {16, 4, 4}, {32, 4, 2}};

  for (const CclAlgorithm *row = ccl_cuda_algorithm_table; row->name; row++) {
    if (!delivers (row, DELIVER_RAW_LABELS) ||
        !contender_is_wanted (settings, row->name, DELIVER_RAW_LABELS, true) ||
        (settings->only_direct && cuda_algorithm_is_iterative (row)))
      continue;
    for (guint i = 0; i <= G_N_ELEMENTS (shapes); i++) {
      CudaContender contender = {.algorithm = row};
      bool changes = i == 0;
      for (guint step = 0; !changes && step < CCL_MAX_STEPS; step++)
        changes = takes_shape (&row->steps[step], shapes[i - 1]);
      if (!changes || (i > 0 && shapes[i - 1][2] > 1 && !labels_volumes (row)))
        continue;
      if (i > 0)
        memcpy (contender.block, shapes[i - 1], sizeof contender.block);
      contender.name = i == 0 ? g_strdup (row->name)
                              : g_strdup_printf ("%s %ux%ux%u", row->name, contender.block[0],
                                    contender.block[1], contender.block[2]);
      contender.head = (Contender){.klass = &labeller_class,
          .algorithm = contender.name,
          .delivery = DELIVER_RAW_LABELS,
          .may_be_inexact = row->is_inexact};
      add (contenders, device, settings, contender);
    }
  }
}

/* Whether an algorithm with one delivery is to take part. */
static bool
is_wanted (const CclAlgorithm *row, Delivery delivery, const ContenderSettings *settings)
{
  if (!delivers (row, delivery) || (settings->only_direct && cuda_algorithm_is_iterative (row)) ||
      (settings->only_chosen && !settings->algorithms && !is_chosen (row, settings)))
    return false;
  return contender_is_wanted (settings, row->name, delivery, delivers (row, DELIVER_RAW_LABELS)) ||
         (settings->chosen_tables && delivery != DELIVER_RAW_LABELS && is_chosen (row, settings) &&
             contender_is_named (settings, row->name));
}

void
contenders_add_cuda (GPtrArray *contenders, const ContenderSettings *settings)
{
  static const Delivery deliveries[] = {
      DELIVER_RAW_LABELS, DELIVER_TABLE, DELIVER_LABELS_AND_TABLE};
  CclError failure;
  CclCudaDevice *device = ccl_cuda_device_open (-1, &failure);

  if (!device) {
    if (settings->needs_cuda)
      problem_tell ("no GPU: %s", failure.message);
    return;
  }
  add_floors (contenders, device, settings);
  if (settings->block_shapes) {
    add_block_shapes (contenders, device, settings);
    ccl_cuda_device_unref (&device);
    return;
  }
  for (guint d = 0; d < G_N_ELEMENTS (deliveries); d++)
    for (const CclAlgorithm *row = ccl_cuda_algorithm_table; row->name; row++)
      if (is_wanted (row, deliveries[d], settings))
        add (contenders, device, settings,
            (CudaContender){.head = {.klass = &labeller_class,
                                .algorithm = row->name,
                                .delivery = deliveries[d],
                                .may_be_inexact = row->is_inexact},
                .algorithm = row});
  if (settings->peers && peer_npp () &&
      (settings->cheapest_labels || settings->deliveries >> DELIVER_RAW_LABELS & 1))
    add (contenders, device, settings,
        (CudaContender){
            .head = {.klass = &labeller_class, .algorithm = "npp", .delivery = DELIVER_RAW_LABELS},
            .npp = peer_npp ()});
  ccl_cuda_device_unref (&device);
}

void
contender_cuda_describe (GPtrArray *machine)
{
  CclCudaDevice *device = ccl_cuda_device_open (-1, NULL);
  g_autofree char *text = NULL;
  int version = 0;

  if (!device) {
    machine_add (machine, "gpu", "none");
    return;
  }
  machine_add (machine, "gpu", "%s, compute capability %d.%d", ccl_cuda_device_name (device),
      device->compute_capability / 10, device->compute_capability % 10);
  if (device->driver->cuDriverGetVersion (&version) == CUDA_SUCCESS)
    machine_add (machine, "driver API", "CUDA %d.%d", version / 1000, version % 1000 / 10);
  if (g_file_get_contents ("/proc/driver/nvidia/version", &text, NULL, NULL))
    machine_add (machine, "driver", "%.*s", (int)strcspn (text, "\n"), text);
  ccl_cuda_device_unref (&device);
}
