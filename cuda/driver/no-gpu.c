/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* device.h in a build without GPU support: the library exports the same functions, and no device
 * can be opened, so that the functions that take one are never called. */
#include <cudaccl/device.h>

#include "core/label/labeller-class.h"
#include "core/measure/map-sums.h"

static void *
fail (CclError *error)
{
  ccl_error_set (error, CUDACCL_ERROR_NOT_FOUND, "this build has no GPU support");
  return NULL;
}

static CclStatus
refuse_stream (CclError *error)
{
  return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "only an object of a GPU has a stream");
}

CclCudaDevice *
ccl_cuda_device_open (int number, CclError *error)
{
  (void)number;
  return fail (error);
}

CclCudaDevice *
ccl_cuda_device_open_in_context (void *context, CclError *error)
{
  (void)context;
  return fail (error);
}

void
ccl_cuda_device_set_capture_check (CclCudaDevice *device, bool check)
{
  (void)device;
  (void)check;
}

CclStatus
ccl_cuda_stream_check_capture (CclCudaDevice *device, void *stream, CclError *error)
{
  (void)device;
  (void)stream;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

CclStatus
ccl_cuda_stream_wait (CclCudaDevice *device, void *stream, CclError *error)
{
  (void)device;
  (void)stream;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

int
ccl_cuda_count_devices (CclError *error)
{
  fail (error);
  return -1;
}

int
ccl_cuda_find_least_used_device (CclError *error)
{
  fail (error);
  return -1;
}

CclCudaDevice *
ccl_cuda_device_ref (CclCudaDevice *device)
{
  return device;
}

void
ccl_cuda_device_unref (CclCudaDevice **device)
{
  if (device)
    *device = NULL;
}

const char *
ccl_cuda_device_name (const CclCudaDevice *device)
{
  (void)device;
  return NULL;
}

CclCudaPeer *
ccl_cuda_peer_new (CclCudaDevice *device, void *context, CclError *error)
{
  (void)device;
  (void)context;
  return fail (error);
}

CclStatus
ccl_cuda_peer_copy (CclCudaPeer *peer, const void *from, void *from_stream, void *to,
    void *to_stream, size_t size, CclError *error)
{
  (void)peer;
  (void)from;
  (void)from_stream;
  (void)to;
  (void)to_stream;
  (void)size;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

void
ccl_cuda_peer_free (CclCudaPeer **peer)
{
  if (peer)
    *peer = NULL;
}

CclBatch *
ccl_cuda_batch_new (CclCudaDevice *device, const CclBatchPlan *plan, CclError *error)
{
  (void)device;
  (void)plan;
  return fail (error);
}

CclStatus
ccl_cuda_batch_set_stream (CclBatch *batch, void *stream, CclError *error)
{
  (void)batch;
  (void)stream;
  return refuse_stream (error);
}

CclContours *
ccl_cuda_contours_new (CclCudaDevice *device, const CclContoursPlan *plan, CclError *error)
{
  (void)device;
  (void)plan;
  return fail (error);
}

CclStatus
ccl_cuda_contours_set_stream (CclContours *contours, void *stream, CclError *error)
{
  (void)contours;
  (void)stream;
  return refuse_stream (error);
}

CclLabeller *
ccl_cuda_labeller_new (CclCudaDevice *device, const CclLabellerPlan *plan, CclError *error)
{
  (void)device;
  (void)plan;
  return fail (error);
}

CclStatus
ccl_cuda_labeller_set_stream (CclLabeller *labeller, void *stream, CclError *error)
{
  (void)labeller;
  (void)stream;
  return refuse_stream (error);
}

void *
ccl_cuda_labeller_get_stream (CclLabeller *labeller)
{
  (void)labeller;
  return NULL;
}

CclStatus
ccl_cuda_labeller_get_table (CclLabeller *labeller, CclCudaTable *table, CclError *error)
{
  (void)labeller;
  (void)table;
  return ccl_error_set (
      error, CUDACCL_ERROR_ARGUMENT, "a labeller of a GPU and a table are needed");
}

const char *const *
ccl_cuda_algorithms (void)
{
  static const char *const none[] = {NULL};
  return none;
}

const char *
ccl_cuda_algorithm_title (const char *algorithm)
{
  (void)algorithm;
  return NULL;
}

bool
ccl_cuda_algorithm_offers (const char *algorithm, CclConnectivity connectivity)
{
  (void)algorithm;
  (void)connectivity;
  return false;
}

CclForeground *
ccl_cuda_foreground_new (CclCudaDevice *device, const CclForegroundPlan *plan, CclError *error)
{
  (void)device;
  (void)plan;
  return fail (error);
}

CclStatus
ccl_cuda_foreground_set_stream (CclForeground *foreground, void *stream, CclError *error)
{
  (void)foreground;
  (void)stream;
  return refuse_stream (error);
}

CclStatus
ccl_cuda_foreground_copy_bits (CclForeground *foreground, void *bits, CclError *error)
{
  (void)foreground;
  (void)bits;
  return refuse_stream (error);
}

CclStatus
ccl_cuda_labeller_queue_with_mask (CclLabeller *labeller, CclForeground *foreground,
    const CclFrame *frame, const CclForegroundOptions *foreground_options, const CclMask *mask,
    const CclLabellerOptions *options, const CclLabels *labels, CclError *error)
{
  (void)labeller;
  (void)foreground;
  (void)frame;
  (void)foreground_options;
  (void)mask;
  (void)options;
  (void)labels;
  return refuse_stream (error);
}

CclStatus
ccl_cuda_foreground_set_finished (CclForeground *foreground, CclError *error)
{
  (void)foreground;
  return refuse_stream (error);
}

CclVolumeLabeller *
ccl_cuda_volume_labeller_new (CclCudaDevice *device, const CclVolumePlan *plan, CclError *error)
{
  (void)device;
  (void)plan;
  return fail (error);
}

CclStatus
ccl_cuda_volume_labeller_set_stream (CclVolumeLabeller *labeller, void *stream, CclError *error)
{
  (void)labeller;
  (void)stream;
  return refuse_stream (error);
}

CclValuesLabeller *
ccl_cuda_values_labeller_new (CclCudaDevice *device, const CclValuesPlan *plan, CclError *error)
{
  (void)device;
  (void)plan;
  return fail (error);
}

CclStatus
ccl_cuda_values_labeller_set_stream (CclValuesLabeller *labeller, void *stream, CclError *error)
{
  (void)labeller;
  (void)stream;
  return refuse_stream (error);
}

CclMapMeasurer *
ccl_cuda_map_measurer_new (CclCudaDevice *device, const CclMapMeasurerPlan *plan, CclError *error)
{
  (void)device;
  (void)plan;
  return fail (error);
}

CclStatus
ccl_cuda_map_measurer_set_stream (CclMapMeasurer *measurer, void *stream, CclError *error)
{
  (void)measurer;
  (void)stream;
  return refuse_stream (error);
}

CclStatus
ccl_cuda_map_measurer_run (CclMapMeasurer *measurer, const CclVolumeLabels *labels,
    const CclVolumeIntensity *intensity, CclMapTable *table, CclError *error)
{
  (void)measurer;
  (void)labels;
  (void)intensity;
  (void)table;
  return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "this build has no GPU support");
}

void
ccl_cuda_map_measurer_free (CclMapMeasurer **measurer)
{
  if (measurer)
    *measurer = NULL;
}

CclMapRuns *
ccl_cuda_map_runs_new (CclCudaDevice *device, uint32_t width, uint32_t height, CclError *error)
{
  (void)device;
  (void)width;
  (void)height;
  return fail (error);
}

CclStatus
ccl_cuda_map_runs_set_stream (CclMapRuns *self, void *stream, CclError *error)
{
  (void)self;
  (void)stream;
  return refuse_stream (error);
}

CclStatus
ccl_cuda_map_runs_find (CclMapRuns *self, const CclLabels *labels, const CclLabelRun **runs,
    uint64_t *n, CclError *error)
{
  (void)self;
  (void)labels;
  (void)runs;
  (void)n;
  return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "this build has no GPU support");
}

void
ccl_cuda_map_runs_free (CclMapRuns **runs)
{
  if (runs)
    *runs = NULL;
}

CclStatus
ccl_cuda_array_copy (
    CclCudaDevice *device, const CclCudaArrayCopy *copy, void *stream, CclError *error)
{
  (void)device;
  (void)copy;
  (void)stream;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

CclStatus
ccl_cuda_label_distances (
    CclCudaDevice *device, const CclCudaDistances *distances, void *stream, CclError *error)
{
  (void)device;
  (void)distances;
  (void)stream;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

CclStatus
ccl_cuda_label_contacts (CclCudaDevice *device, const CclVolumeLabels *labels, uint32_t width,
    uint32_t height, uint32_t depth, uint32_t connectivity, CclContact *contacts, uint32_t capacity,
    uint32_t *n, void *stream, CclError *error)
{
  (void)device;
  (void)labels;
  (void)width;
  (void)height;
  (void)depth;
  (void)connectivity;
  (void)contacts;
  (void)capacity;
  (void)n;
  (void)stream;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

CclStatus
ccl_cuda_label_ranks (
    CclCudaDevice *device, const CclCudaRanks *ranks, void *stream, CclError *error)
{
  (void)device;
  (void)ranks;
  (void)stream;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

CclStatus
ccl_cuda_distance_peaks (CclCudaDevice *device, const CclCudaFlood *maps, uint32_t radius,
    uint32_t *n_objects, void *stream, CclError *error)
{
  (void)device;
  (void)maps;
  (void)radius;
  (void)n_objects;
  (void)stream;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

CclStatus
ccl_cuda_flood_objects (
    CclCudaDevice *device, const CclCudaFlood *maps, void *stream, CclError *error)
{
  (void)device;
  (void)maps;
  (void)stream;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

CclStatus
ccl_cuda_map_sum (const CclDeviceMap *map, CclMapSums *sums, CclError *error)
{
  (void)map;
  (void)sums;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

CclStatus
ccl_cuda_map_renumber (const CclDeviceMap *map, const uint32_t *numbers, uint32_t n,
    const CclVolumeLabels *to, CclError *error)
{
  (void)map;
  (void)numbers;
  (void)n;
  (void)to;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

CclStatus
ccl_cuda_memory_new (CclCudaDevice *device, size_t size, void **memory, CclError *error)
{
  (void)device;
  (void)size;
  if (memory)
    *memory = NULL;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

void
ccl_cuda_memory_free (CclCudaDevice *device, void **memory)
{
  (void)device;
  if (memory)
    *memory = NULL;
}

CclStatus
ccl_cuda_memory_upload (
    CclCudaDevice *device, const void *host, void *memory, size_t size, CclError *error)
{
  (void)device;
  (void)host;
  (void)memory;
  (void)size;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

CclStatus
ccl_cuda_memory_download (
    CclCudaDevice *device, const void *memory, void *host, size_t size, CclError *error)
{
  (void)device;
  (void)memory;
  (void)host;
  (void)size;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

CclStatus
ccl_cuda_labels_download (CclCudaDevice *device, const CclLabels *from, uint32_t width,
    uint32_t height, const CclLabels *to, CclError *error)
{
  (void)device;
  (void)from;
  (void)width;
  (void)height;
  (void)to;
  fail (error);
  return CUDACCL_ERROR_NOT_FOUND;
}

int
ccl_cuda_find_device_of (const void *address, CclError *error)
{
  (void)address;
  fail (error);
  return -1;
}
