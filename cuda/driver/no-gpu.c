/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* device.h in a build without GPU support: the library exports the same functions, and no device
 * can be opened, so that the functions that take one are never called. */
#include <cudaccl/device.h>

#include "core/label/labeller-class.h"
#include "core/measure/map-sums.h"

static CclStatus
fail (CclError *error)
{
  return ccl_error_set (error, CUDACCL_ERROR_NOT_FOUND, "this build has no GPU support");
}

#define REFUSE(message) ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, message)
#define NO_SUPPORT REFUSE ("this build has no GPU support")
#define ONLY_OF_GPU REFUSE ("only an object of a GPU has a stream")

/* Functions that several kinds of objects have. */
#define NO_NEW(Type, name, ...)                                                                    \
  Type *ccl_cuda_##name##_new (CclCudaDevice *device, __VA_ARGS__, CclError *error)                \
  {                                                                                                \
    fail (error);                                                                                  \
    return NULL;                                                                                   \
  }
#define NO_SET_STREAM(Type, name)                                                                  \
  CclStatus ccl_cuda_##name##_set_stream (Type *self, void *stream, CclError *error)               \
  {                                                                                                \
    return ONLY_OF_GPU;                                                                            \
  }
#define NO_FREE(Type, name)                                                                        \
  void ccl_cuda_##name##_free (Type **self)                                                        \
  {                                                                                                \
    if (self)                                                                                      \
      *self = NULL;                                                                                \
  }
/* A function that fails. */
#define FAILS_WITH(result, name, ...)                                                              \
  CclStatus ccl_cuda_##name (__VA_ARGS__, CclError *error)                                         \
  {                                                                                                \
    return result;                                                                                 \
  }
#define NO_CALL(name, ...) FAILS_WITH (fail (error), name, __VA_ARGS__)
/* A function that returns a number. */
#define NO_NUMBER(name, ...)                                                                       \
  int ccl_cuda_##name (__VA_ARGS__)                                                                \
  {                                                                                                \
    fail (error);                                                                                  \
    return -1;                                                                                     \
  }

NO_NEW (CclBatch, batch, const CclBatchPlan *plan)
NO_SET_STREAM (CclBatch, batch)
NO_NEW (CclContours, contours, const CclContoursPlan *plan)
NO_SET_STREAM (CclContours, contours)
NO_NEW (CclForeground, foreground, const CclForegroundPlan *plan)
NO_SET_STREAM (CclForeground, foreground)
NO_NEW (CclLabeller, labeller, const CclLabellerPlan *plan)
NO_SET_STREAM (CclLabeller, labeller)
NO_NEW (CclMapMeasurer, map_measurer, const CclMapMeasurerPlan *plan)
NO_SET_STREAM (CclMapMeasurer, map_measurer)
NO_FREE (CclMapMeasurer, map_measurer)
NO_NEW (CclMapRuns, map_runs, uint32_t width, uint32_t height)
NO_SET_STREAM (CclMapRuns, map_runs)
NO_FREE (CclMapRuns, map_runs)
NO_NEW (CclCudaPeer, peer, void *context)
NO_FREE (CclCudaPeer, peer)
NO_NEW (CclValuesLabeller, values_labeller, const CclValuesPlan *plan)
NO_SET_STREAM (CclValuesLabeller, values_labeller)
NO_NEW (CclVolumeLabeller, volume_labeller, const CclVolumePlan *plan)
NO_SET_STREAM (CclVolumeLabeller, volume_labeller)

NO_CALL (array_copy, CclCudaDevice *device, const CclCudaArrayCopy *copy, void *stream)
NO_CALL (distance_peaks, CclCudaDevice *device, const CclCudaFlood *maps, uint32_t radius,
    uint32_t *n_objects, void *stream)
NO_CALL (flood_objects, CclCudaDevice *device, const CclCudaFlood *maps, void *stream)
NO_CALL (label_contacts, CclCudaDevice *device, const CclVolumeLabels *labels, uint32_t width,
    uint32_t height, uint32_t depth, uint32_t connectivity, CclContact *contacts, uint32_t capacity,
    uint32_t *n, void *stream)
NO_CALL (label_distances, CclCudaDevice *device, const CclCudaDistances *distances, void *stream)
NO_CALL (label_ranks, CclCudaDevice *device, const CclCudaRanks *ranks, void *stream)
NO_CALL (labels_download, CclCudaDevice *device, const CclLabels *from, uint32_t width,
    uint32_t height, const CclLabels *to)
NO_CALL (map_renumber, const CclDeviceMap *map, const uint32_t *numbers, uint32_t n,
    const CclVolumeLabels *to)
NO_CALL (map_sum, const CclDeviceMap *map, CclMapSums *sums)
NO_CALL (memory_download, CclCudaDevice *device, const void *memory, void *host, size_t size)
NO_CALL (memory_upload, CclCudaDevice *device, const void *host, void *memory, size_t size)
NO_CALL (peer_copy, CclCudaPeer *peer, const void *from, void *from_stream, void *to,
    void *to_stream, size_t size)
NO_CALL (replace_labels, CclCudaDevice *device, const CclVolumeLabels *labels, uint32_t width,
    uint32_t height, uint32_t depth, const uint32_t *numbers, uint32_t n,
    const CclVolumeLabels *replaced, void *stream)
NO_CALL (stream_check_capture, CclCudaDevice *device, void *stream)
NO_CALL (stream_wait, CclCudaDevice *device, void *stream)
FAILS_WITH (ONLY_OF_GPU, foreground_copy_bits, CclForeground *foreground, void *bits)
FAILS_WITH (ONLY_OF_GPU, foreground_set_finished, CclForeground *foreground)
FAILS_WITH (ONLY_OF_GPU, labeller_queue_with_mask, CclLabeller *labeller, CclForeground *foreground,
    const CclFrame *frame, const CclForegroundOptions *foreground_options, const CclMask *mask,
    const CclLabellerOptions *options, const CclLabels *labels)
FAILS_WITH (NO_SUPPORT, map_measurer_run, CclMapMeasurer *measurer, const CclVolumeLabels *labels,
    const CclVolumeIntensity *intensity, CclMapTable *table)
FAILS_WITH (NO_SUPPORT, map_runs_find, CclMapRuns *self, const CclLabels *labels,
    const CclLabelRun **runs, uint64_t *n)
FAILS_WITH (REFUSE ("a labeller of a GPU and a table are needed"), labeller_get_table,
    CclLabeller *labeller, CclCudaTable *table)

NO_NUMBER (count_devices, CclError *error)
NO_NUMBER (find_least_used_device, CclError *error)
NO_NUMBER (find_device_of, const void *address, CclError *error)

CclCudaDevice *
ccl_cuda_device_open (int number, CclError *error)
{
  fail (error);
  return NULL;
}

CclCudaDevice *
ccl_cuda_device_open_in_context (void *context, CclError *error)
{
  fail (error);
  return NULL;
}

void
ccl_cuda_device_set_capture_check (CclCudaDevice *device, bool check)
{
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
  return NULL;
}

void *
ccl_cuda_labeller_get_stream (CclLabeller *labeller)
{
  return NULL;
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
  return NULL;
}

bool
ccl_cuda_algorithm_offers (const char *algorithm, CclConnectivity connectivity)
{
  return false;
}

CclStatus
ccl_cuda_memory_new (CclCudaDevice *device, size_t size, void **memory, CclError *error)
{
  if (memory)
    *memory = NULL;
  return fail (error);
}

void
ccl_cuda_memory_free (CclCudaDevice *device, void **memory)
{
  if (memory)
    *memory = NULL;
}
