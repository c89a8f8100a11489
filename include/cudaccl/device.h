/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labelling and foreground masks on an NVIDIA GPU of compute capability 7.5 or later. The rules of
 * labeller.h hold.
 *
 * The CUDA driver (libcuda) is loaded at run time: programs that link this library start on
 * machines without it, and there ccl_cuda_device_open() fails with CUDACCL_ERROR_NOT_FOUND, as it
 * does in a build of this library without GPU support. Device memory is any pointer that the driver
 * API allocated in the device's context. CUDA's own types appear as void *, so that callers need no
 * CUDA headers: a context is a CUcontext, a stream a CUstream.
 *
 * Without the caller's stream, runs are queued on a stream that the object owns. It is a
 * blocking stream: a run starts when the work already queued on the legacy default stream (NULL)
 * is done, and later work there starts after the run. Frames that are written on any other stream,
 * a per-thread default stream among them, need a set_stream function or a wait.
 *
 * Runs cannot be captured into a CUDA graph: on a stream that is being captured they fail with
 * CUDACCL_ERROR_ARGUMENT and queue nothing. While a capture of another stream is in the global
 * mode, CUDA forbids the waits and queries of runs in all threads (CUDACCL_ERROR_DEVICE); captures
 * in the modes thread-local and relaxed do not disturb other threads.
 * Each run asks whether its stream is being captured; programs without captures can switch that off
 * with ccl_cuda_device_set_capture_check().
 *
 * Since: 0.2
 */
#ifndef CUDACCL_DEVICE_H
#define CUDACCL_DEVICE_H

#include <cudaccl/batch.h>
#include <cudaccl/contacts.h>
#include <cudaccl/contours.h>
#include <cudaccl/foreground.h>
#include <cudaccl/labeller.h>
#include <cudaccl/rle.h>
#include <cudaccl/values.h>
#include <cudaccl/volume.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A GPU and the kernels loaded on it. Reference counted; any number of threads may use it at once.
 * Since: 0.2 */
typedef struct CclCudaDevice CclCudaDevice;

/* Opens a device by its number (0, 1, …; -1 means the first) in its primary context, which is
 * retained until the last reference is dropped.
 *
 * Returns a new reference, or NULL: CUDACCL_ERROR_NOT_FOUND (no driver, no such device, a build
 * without GPU support), CUDACCL_ERROR_UNSUPPORTED (compute capability below 7.5),
 * CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE. Since: 0.2 */
CUDACCL_API
CclCudaDevice *ccl_cuda_device_open (int number, CclError *error);

/* As ccl_cuda_device_open(), in the caller's CUcontext, which must outlive the device.
 * CUDACCL_ERROR_ARGUMENT if it is NULL. Since: 0.2 */
CUDACCL_API
CclCudaDevice *ccl_cuda_device_open_in_context (void *context, CclError *error);

/* Whether runs of the device's objects on the caller's stream ask the driver first whether the
 * stream is being captured into a CUDA graph; true in a new device. A program that gives them no
 * stream on which it captures can switch it off, which saves a call of the driver for each run. The
 * results of a run on a captured stream, and of later runs of that object, are then undefined. Does
 * nothing if device is NULL. Call it before other threads use the device. Since: 0.3 */
CUDACCL_API
void ccl_cuda_device_set_capture_check (CclCudaDevice *device, bool check);

/* Checks that a caller's CUstream is not being captured into a CUDA graph, as runs on it do, for a
 * program that allocates memory or makes objects before a run, which would break the capture. NULL,
 * the legacy default stream, is never captured. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT if it is
 * being captured or if device is NULL, or CUDACCL_ERROR_DEVICE. May be called by any thread.
 * Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_stream_check_capture (CclCudaDevice *device, void *stream, CclError *error);

/* Waits for the work that is queued on a caller's CUstream; NULL is the legacy default stream.
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT if device is NULL, or CUDACCL_ERROR_DEVICE. May be
 * called by any thread. Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_stream_wait (CclCudaDevice *device, void *stream, CclError *error);

/* Returns the number of devices that the driver finds, 1 or more, or -1: CUDACCL_ERROR_NOT_FOUND
 * (no driver, no device, a build without GPU support), CUDACCL_ERROR_DEVICE. Opens none of them.
 * Any thread may call, and after a failure again: a driver or a device that comes later is found.
 * Since: 0.3 */
CUDACCL_API
int ccl_cuda_count_devices (CclError *error);

/* Finds the device on which this process has the fewest open CclCudaDevices, for programs that
 * spread streams over all devices. Of several, it is the one with the lowest number; devices of
 * compute capability below 7.5 are left out.
 *
 * Returns its number, or -1: CUDACCL_ERROR_NOT_FOUND (no driver, no device of capability 7.5, a
 * build without GPU support), CUDACCL_ERROR_DEVICE. Any thread may call; between the call and the
 * opening of the device another thread can get the same number, unless the program holds a lock
 * meanwhile. Since: 0.2 */
CUDACCL_API
int ccl_cuda_find_least_used_device (CclError *error);

/* Adds a reference and returns the device; NULL for NULL. Since: 0.2 */
CUDACCL_API
CclCudaDevice *ccl_cuda_device_ref (CclCudaDevice *device);

/* Drops a reference and sets the handle to NULL. Objects that were made on the device keep their
 * own reference. Since: 0.2 */
CUDACCL_API
void ccl_cuda_device_unref (CclCudaDevice **device);

/* The device's name as the driver gives it; valid as long as the device. NULL for NULL.
 * Since: 0.2 */
CUDACCL_API
const char *ccl_cuda_device_name (const CclCudaDevice *device);

/* Another device from whose memory frames are copied to the memory of a device. One thread at a
 * time. Since: 0.2 */
typedef struct CclCudaPeer CclCudaPeer;

/* Makes a peer. context is the CUcontext of the memory that is to be copied; it must outlive the
 * peer. The devices need no access to each other's memory: where they have none, the driver copies
 * through system memory.
 *
 * Returns the peer, which keeps a reference to the device, or NULL: CUDACCL_ERROR_ARGUMENT,
 * CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE. Since: 0.2 */
CUDACCL_API
CclCudaPeer *ccl_cuda_peer_new (CclCudaDevice *device, void *context, CclError *error);

/* Queues a copy of size bytes from device memory of the peer's context to memory of the device, and
 * returns at once. The copy starts when the work that is queued on from_stream, a CUstream of the
 * peer's context, and on to_stream, one of the device's, has ended; work that is queued on
 * to_stream later starts after the copy. NULL is the legacy default stream of the context. Both
 * memories must stay valid until the copy has ended.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT or CUDACCL_ERROR_DEVICE. Since: 0.2 */
CUDACCL_API
CclStatus ccl_cuda_peer_copy (CclCudaPeer *peer, const void *from, void *from_stream, void *to,
    void *to_stream, size_t size, CclError *error);

/* Frees a peer and sets the handle to NULL. Copies that are queued go on. Since: 0.2 */
CUDACCL_API
void ccl_cuda_peer_free (CclCudaPeer **peer);

/* Makes a labeller on a device and allocates label buffer, table and all scratch memory there. Free
 * it with ccl_labeller_free().
 *
 * Frames may be in host or device memory. Label maps are in device memory. Rows of the component
 * table are in host memory, or where CclLabellerPlan.table_location says.
 *
 * Returns the labeller, or NULL: CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_UNSUPPORTED (the algorithm
 * is not in ccl_cuda_algorithms(), lacks the connectivity or cannot label frames of this size),
 * CUDACCL_ERROR_NO_MEMORY (nothing stays allocated), CUDACCL_ERROR_DEVICE. Since: 0.2 */
CUDACCL_API
CclLabeller *ccl_cuda_labeller_new (
    CclCudaDevice *device, const CclLabellerPlan *plan, CclError *error);

/* Queues the next runs of a labeller made by ccl_cuda_labeller_new() on this CUstream, behind the
 * work that is queued there. NULL selects the labeller's own stream.
 *
 * Returns CUDACCL_OK, or CUDACCL_ERROR_ARGUMENT: the labeller is NULL or one of the CPU's, or a
 * frame of ccl_labeller_queue() has not been waited for. Since: 0.3, before without status and
 * error */
CUDACCL_API
CclStatus ccl_cuda_labeller_set_stream (CclLabeller *labeller, void *stream, CclError *error);

/* The CUstream on which runs of the labeller are queued; NULL for a labeller of the CPU.
 * Since: 0.2 */
CUDACCL_API
void *ccl_cuda_labeller_get_stream (CclLabeller *labeller);

/* Where a labeller on a GPU writes its tables, as addresses for kernels. Since: 0.3 */
typedef struct CclCudaTable {
  const uint32_t *n_components; /* N of the last run, in host memory that the device reads, too */
  const CclComponent *rows;     /* [max_rows]; min (N, max_rows) are written */
  const CclFeatures *features;  /* as rows; NULL if the plan has no columns */
  uint32_t max_rows;            /* of the plan, or the most components of a frame, if less */
} CclCudaTable;

/* Finds the memory of a labeller's tables: kernels that are queued behind a run on its stream read
 * its table there, before the host knows it. With CclLabellerPlan.table_location
 * CUDACCL_LOCATION_DEVICE rows and features are device memory; otherwise they are host memory,
 * which kernels read over the bus.
 *
 * table: filled; valid until ccl_labeller_resize() or ccl_labeller_free(). The next run writes to
 * the same memory, after the work that is queued before it.
 *
 * Returns CUDACCL_OK, or CUDACCL_ERROR_ARGUMENT: an argument is NULL or the labeller is one of the
 * CPU's. Since: 0.3 */
CUDACCL_API
CclStatus ccl_cuda_labeller_get_table (CclLabeller *labeller, CclCudaTable *table, CclError *error);

/* The names that CclLabellerPlan.algorithm may have on a GPU, ended by NULL, in the order in which
 * "auto" tries them. Static memory. Since: 0.2 */
CUDACCL_API
const char *const *ccl_cuda_algorithms (void);

/* Whether an algorithm of ccl_cuda_algorithms() offers the connectivity. Since: 0.2 */
CUDACCL_API
bool ccl_cuda_algorithm_offers (const char *algorithm, CclConnectivity connectivity);

/* As ccl_cpu_algorithm_title(), of ccl_cuda_algorithms(). Since: 0.3 */
CUDACCL_API
const char *ccl_cuda_algorithm_title (const char *algorithm);

/* Creates a foreground segmenter on a device. Free it with ccl_foreground_free().
 *
 * Frames may be in host or device memory, masks are in device memory, the region of interest mask
 * is in host memory. A background model takes device memory per pixel of the reduced frame: 30
 * bytes (CUDACCL_FOREGROUND_MOG2), 40 with chroma, or 91 (CUDACCL_FOREGROUND_CODEBOOK).
 *
 * Returns the object, which keeps a reference to the device, or NULL: CUDACCL_ERROR_ARGUMENT,
 * CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE. Since: 0.2 */
CUDACCL_API
CclForeground *ccl_cuda_foreground_new (
    CclCudaDevice *device, const CclForegroundPlan *plan, CclError *error);

/* Queues the next runs of an object made by ccl_cuda_foreground_new() on this CUstream: that of
 * ccl_cuda_labeller_get_stream() if a labeller is to read the masks. NULL selects the object's own
 * stream. Work that earlier runs have queued on another stream must have finished.
 *
 * Returns CUDACCL_OK, or CUDACCL_ERROR_ARGUMENT: the object is NULL or one of the CPU's. Since:
 * 0.3, before without status and error */
CUDACCL_API
CclStatus ccl_cuda_foreground_set_stream (CclForeground *foreground, void *stream, CclError *error);

/* Makes an object that finds contours on a device and allocates all its memory there. Free it with
 * ccl_contours_free().
 *
 * Frames may be in host or device memory; label maps are in device memory. Rows and points are in
 * host memory, the same bits as those of ccl_cpu_contours_new(). Scratch memory takes some 80 bytes
 * of device memory and 26 bytes of pinned host memory per pixel, for the worst frame. The first map
 * with so many labels beside each other that there is no room for their ends makes the object
 * allocate twice as much, once.
 *
 * Returns the object, or NULL: CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_NO_MEMORY (nothing stays
 * allocated), CUDACCL_ERROR_DEVICE. Runs can also return CUDACCL_ERROR_DEVICE, and those of label
 * maps CUDACCL_ERROR_NO_MEMORY. Since: 0.3 */
CUDACCL_API
CclContours *ccl_cuda_contours_new (
    CclCudaDevice *device, const CclContoursPlan *plan, CclError *error);

/* As ccl_cuda_labeller_set_stream(), for an object made by ccl_cuda_contours_new(). Since: 0.3 */
CUDACCL_API
CclStatus ccl_cuda_contours_set_stream (CclContours *contours, void *stream, CclError *error);

/* Makes a batch on a device and allocates its memory there. Free it with ccl_batch_free().
 *
 * Masks and maps are in device memory, tables in host memory; they are the same bits as those of
 * ccl_cpu_batch_new(). Scratch memory takes some 11 bytes of device memory per pixel, with
 * 4-connected components 18, of masks that are padded to multiples of 128×64 pixels.
 *
 * Returns the batch, or NULL: CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_UNSUPPORTED (masks of more than
 * 2³¹ pixels when they are padded), CUDACCL_ERROR_NO_MEMORY (nothing stays allocated),
 * CUDACCL_ERROR_DEVICE. Calls can also return CUDACCL_ERROR_DEVICE, and ccl_batch_label()
 * CUDACCL_ERROR_NO_MEMORY. Since: 0.3 */
CUDACCL_API
CclBatch *ccl_cuda_batch_new (CclCudaDevice *device, const CclBatchPlan *plan, CclError *error);

/* As ccl_cuda_labeller_set_stream(), for an object made by ccl_cuda_batch_new(). Since: 0.3 */
CUDACCL_API
CclStatus ccl_cuda_batch_set_stream (CclBatch *batch, void *stream, CclError *error);

/* Makes a labeller of values on a device and allocates its memory there. Free it with
 * ccl_values_labeller_free().
 *
 * Pictures and label maps are in device memory. Labels are the same as those of
 * ccl_cpu_values_labeller_new(). Scratch memory takes 4 bytes of device memory per pixel.
 *
 * Returns the labeller, or NULL: CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_NO_MEMORY (nothing stays
 * allocated), CUDACCL_ERROR_DEVICE. Since: 0.3 */
CUDACCL_API
CclValuesLabeller *ccl_cuda_values_labeller_new (
    CclCudaDevice *device, const CclValuesPlan *plan, CclError *error);

/* As ccl_cuda_labeller_set_stream(), for a labeller made by ccl_cuda_values_labeller_new().
 * Since: 0.3 */
CUDACCL_API
CclStatus ccl_cuda_values_labeller_set_stream (
    CclValuesLabeller *labeller, void *stream, CclError *error);

/* Has the mask of the next frame that is queued written to host memory, too, as bits, by the kernel
 * that ends the mask: sooner than a copy of the mask. The mask must have the size of the model
 * (CclForegroundOptions.reduced_mask, or a reduction of 1).
 *
 * foreground: with CUDACCL_FOREGROUND_CODEBOOK. bits: page-locked memory of the same device, as of
 * cuMemHostAlloc() or cudaMallocHost(), which may be read after the wait for the mask or for a
 * labeller that reads it; NULL: none. Each row has ⌈width / 32⌉ words of 32 bits; the leftmost
 * pixel is the lowest bit, and 1 is foreground.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (no object of a GPU, or memory that is not page-locked
 * or not aligned to 4 bytes), CUDACCL_ERROR_UNSUPPORTED (another method) or CUDACCL_ERROR_DEVICE.
 * Since: 0.3 */
CUDACCL_API
CclStatus ccl_cuda_foreground_copy_bits (CclForeground *foreground, void *bits, CclError *error);

/* Queues a mask and the labels of its components: as ccl_foreground_queue(), and then
 * ccl_labeller_queue() of the mask, both on the labeller's stream. Where the mask is one of
 * CUDACCL_FOREGROUND_CODEBOOK with neither a noise filter nor a closing, and no label map is asked
 * for, one launch has both, so that the labels are there sooner. Wait with ccl_labeller_wait(),
 * then ccl_cuda_foreground_set_finished().
 *
 * foreground, frame, foreground_options, mask: those of ccl_foreground_queue(). labeller, options,
 * labels: those of ccl_labeller_queue(). The mask has the size and the pixels of the labeller's
 * frames, in device memory; intensities are not measured.
 *
 * Returns what these functions return, and CUDACCL_ERROR_ARGUMENT for objects that are not of a
 * GPU. After an error, no label is queued, but the mask may be: wait for it. Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_labeller_queue_with_mask (CclLabeller *labeller, CclForeground *foreground,
    const CclFrame *frame, const CclForegroundOptions *foreground_options, const CclMask *mask,
    const CclLabellerOptions *options, const CclLabels *labels, CclError *error);

/* Tells an object that its last run has finished, as the caller knows because it has waited for
 * work behind it on the same stream, such as the run of a labeller. The next ccl_foreground_wait()
 * then asks the driver nothing.
 *
 * Returns CUDACCL_OK, or CUDACCL_ERROR_ARGUMENT: the object is NULL or one of the CPU's.
 * Since: 0.3 */
CUDACCL_API
CclStatus ccl_cuda_foreground_set_finished (CclForeground *foreground, CclError *error);

/* Makes a labeller of volumes on a device and allocates all its memory there. Free it with
 * ccl_volume_labeller_free().
 *
 * Volumes may be in host or device memory (CclVolume.location), label maps are in device memory.
 * Label maps and tables are identical to those of ccl_cpu_volume_labeller_new(). Scratch memory
 * takes some 5.2 bytes of device memory per voxel, more in volumes narrower than 16 voxels.
 *
 * Returns the labeller, or NULL: CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_NO_MEMORY (nothing stays
 * allocated), CUDACCL_ERROR_DEVICE. Since: 0.2 */
CUDACCL_API
CclVolumeLabeller *ccl_cuda_volume_labeller_new (
    CclCudaDevice *device, const CclVolumePlan *plan, CclError *error);

/* As ccl_cuda_labeller_set_stream(), for a labeller made by ccl_cuda_volume_labeller_new().
 * Since: 0.3, before without status and error */
CUDACCL_API
CclStatus ccl_cuda_volume_labeller_set_stream (
    CclVolumeLabeller *labeller, void *stream, CclError *error);

/* Measures label maps in device memory. One thread at a time. Since: 0.3 */
typedef struct CclMapMeasurer CclMapMeasurer;

/* What label maps a measurer takes, and what it measures. */
typedef struct CclMapMeasurerPlan {
  size_t size;         /* of this struct in bytes, or 0 (labeller.h) */
  uint32_t width;      /* pixels, ≥ 1 */
  uint32_t height;     /* pixels, ≥ 1 */
  uint32_t depth;      /* slices of a volume, or 0: the label maps of frames; at most
                        * CUDACCL_MAX_PIXELS pixels in all */
  uint32_t columns;    /* flags of CclColumn, without CUDACCL_COLUMN_PERIMETER for volumes; 0: rows
                        * alone */
  uint32_t max_labels; /* rows of the table, ≥ 1 */
} CclMapMeasurerPlan;

/* The defaults of CclMapMeasurerPlan; width and height must be set. Since: 0.3 */
#define CUDACCL_MAP_MEASURER_PLAN_DEFAULT                                                          \
  {                                                                                                \
    .size = sizeof (CclMapMeasurerPlan), .max_labels = 4096                                        \
  }

/* The measured labels of a label map. */
typedef struct CclMapTable {
  uint32_t greatest_label;        /* of the map */
  uint32_t n_rows;                /* the smaller of it and the plan's max_labels */
  const CclVolumeComponent *rows; /* of the labels 1…n_rows; the row of a label without pixels is
                                   * all zeros. Frames have z 0 and depth 1 */
  const CclVolumeShape *shapes;   /* as rows, undefined for such labels; NULL without columns. Rows
                                   * and shapes are valid until the next run, or until the object is
                                   * freed */
} CclMapTable;

/* Makes an object that measures label maps on a device, of whatever origin: a label may be in
 * several parts that do not touch, and labels may touch each other. Free it with
 * ccl_cuda_map_measurer_free().
 *
 * It takes 56 bytes of device memory, of pinned host memory and of host memory for each row; with
 * columns 300.
 *
 * Returns the object, or NULL: CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_NO_MEMORY (nothing stays
 * allocated), CUDACCL_ERROR_DEVICE. Since: 0.3 */
CUDACCL_API
CclMapMeasurer *ccl_cuda_map_measurer_new (
    CclCudaDevice *device, const CclMapMeasurerPlan *plan, CclError *error);

/* As ccl_cuda_labeller_set_stream(): a map is measured behind the run of a labeller that writes it,
 * on the same stream. CUDACCL_ERROR_ARGUMENT if measurer is NULL. Since: 0.3 */
CUDACCL_API
CclStatus ccl_cuda_map_measurer_set_stream (
    CclMapMeasurer *measurer, void *stream, CclError *error);

/* Measures a label map and waits for the result. Allocates nothing. Rows and shapes have the bits
 * of those of ccl_measure_volume_labels(); the rows of frames those of ccl_measure_labels(), and
 * their shapes those of ccl_features_derive().
 *
 * labels: in device memory, of the planned size; the slice stride of a frame is not used. Pixels
 * with labels above max_labels count as background. intensity: in device memory, needed with
 * CUDACCL_COLUMN_INTENSITY; NULL is allowed otherwise. table: filled on success.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (nothing was read or written) or CUDACCL_ERROR_DEVICE.
 * Since: 0.3 */
CUDACCL_API
CclStatus ccl_cuda_map_measurer_run (CclMapMeasurer *measurer, const CclVolumeLabels *labels,
    const CclVolumeIntensity *intensity, CclMapTable *table, CclError *error);

/* Frees the object and sets the handle to NULL. Since: 0.3 */
CUDACCL_API
void ccl_cuda_map_measurer_free (CclMapMeasurer **measurer);

/* Finds the runs of label maps in device memory, for COCO's encoding (rle.h). One thread at a time.
 * Since: 0.4 */
typedef struct CclMapRuns CclMapRuns;

/* Makes an object that finds runs in maps of width × height pixels, 1…CUDACCL_MAX_PIXELS in all.
 * Free it with ccl_cuda_map_runs_free().
 *
 * It takes half a byte of device memory and of pinned host memory per pixel at first, and more when
 * a map has more runs.
 *
 * Returns the object, or NULL: CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_NO_MEMORY (nothing stays
 * allocated), CUDACCL_ERROR_DEVICE. Since: 0.4 */
CUDACCL_API
CclMapRuns *ccl_cuda_map_runs_new (
    CclCudaDevice *device, uint32_t width, uint32_t height, CclError *error);

/* As ccl_cuda_labeller_set_stream(). CUDACCL_ERROR_ARGUMENT if the object is NULL. Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_map_runs_set_stream (CclMapRuns *self, void *stream, CclError *error);

/* Finds the runs of a label map and waits for them. A map with more runs than the object has memory
 * for makes it allocate some and look again.
 *
 * labels: in device memory, of the object's size, aligned to 4 bytes. runs: set to the runs, in
 * host memory, valid until the next call or until the object is freed. n: set to their number.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_NO_MEMORY or CUDACCL_ERROR_DEVICE.
 * Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_map_runs_find (CclMapRuns *self, const CclLabels *labels,
    const CclLabelRun **runs, uint64_t *n, CclError *error);

/* Frees the object and sets the handle to NULL. Since: 0.4 */
CUDACCL_API
void ccl_cuda_map_runs_free (CclMapRuns **runs);

/* A copy of an array in device memory to another place there, of up to four dimensions. */
typedef struct CclCudaArrayCopy {
  uint32_t item_bytes; /* of an element: 1, 2, 4 or 8 */
  uint64_t shape[4];   /* lengths of the dimensions, 1 for those that there are not */
  const void *from;
  void *to;                               /* no two elements may be at one place */
  int64_t from_strides[4], to_strides[4]; /* bytes from element to element along a dimension, of any
                                           * sign */
} CclCudaArrayCopy;

/* Copies an array, whose elements may be at any distances, after the work that is queued on the
 * caller's CUstream (NULL: the legacy default stream), and waits: it transposes, reverses, gathers
 * channels or every second column.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (also if the stream is being captured) or
 * CUDACCL_ERROR_DEVICE. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_array_copy (
    CclCudaDevice *device, const CclCudaArrayCopy *copy, void *stream, CclError *error);

/* Distances in a label map in device memory, as ccl_label_distances() finds them (distance.h), with
 * the same numbers. All memory is that of the device. Since: 0.4 */
typedef struct CclCudaDistances {
  CclVolumeLabels labels;
  uint32_t width, height, depth; /* pixels; depth is 1 for frames */
  CclVolumeLabels squared;       /* filled with squared distances; not the map of the labels */
  double *roots; /* [width × height × depth], aligned to 8 bytes, filled with the roots of
                  * these, rounded once, infinite for CUDACCL_NO_DISTANCE; NULL: not
                  * wanted, but then memory of 4 bytes per pixel is allocated */
} CclCudaDistances;

/* Finds distances after the work that is queued on the caller's CUstream (NULL: the legacy default
 * stream), and waits. The time grows with the distances, a step for each pixel of them.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (also if the stream is being captured),
 * CUDACCL_ERROR_NO_MEMORY or CUDACCL_ERROR_DEVICE. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_label_distances (
    CclCudaDevice *device, const CclCudaDistances *distances, void *stream, CclError *error);

/* What numbers are. Since: 0.4 */
typedef enum CclNumberKind {
  CUDACCL_NUMBER_UNSIGNED = 0, /* integers of 1, 2, 4 or 8 bytes */
  CUDACCL_NUMBER_SIGNED = 1,
  CUDACCL_NUMBER_REAL = 2, /* floats of 4 or 8 bytes */
} CclNumberKind;

/* A label map and the values of its pixels, both in the memory of a device, and what is looked for:
 * values by their ranks among those of a label in ascending order, from 0. Since: 0.4 */
typedef struct CclCudaRanks {
  CclVolumeLabels labels;
  uint32_t width, height, depth; /* pixels; depth is 1 for frames */
  const void *values;
  size_t value_row_stride, value_slice_stride; /* bytes */
  CclNumberKind kind;
  uint32_t value_bytes;  /* of a value */
  uint32_t n_labels;     /* ≥ 1; greater labels are left out */
  uint32_t n_ranks;      /* of each label; 0: counts alone */
  const uint32_t *ranks; /* [n_ranks × n_labels], in host memory, first those of label 1, 2, … */
  double *found;    /* [n_ranks × n_labels], in host memory, filled: the values; undefined where a
                     * label has not more values than the rank */
  uint32_t *counts; /* [2 × n_labels], in host memory, filled: values that are numbers, then NaN */
} CclCudaRanks;

/* Finds the values, exactly, after the work that is queued on the caller's CUstream (NULL: the
 * legacy default stream), and waits. NaN have no rank; −0 is 0; integers of 64 bits are rounded to
 * double. It reads both once, and once more for each 4 bits of a value if there are ranks (radix
 * selection), and allocates 80 bytes of device memory for each value that is looked for.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (also if the stream is being captured),
 * CUDACCL_ERROR_NO_MEMORY or CUDACCL_ERROR_DEVICE. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_label_ranks (
    CclCudaDevice *device, const CclCudaRanks *ranks, void *stream, CclError *error);

/* The most pairs that ccl_cuda_label_contacts() has room for. Since: 0.4 */
#define CUDACCL_MAX_CONTACTS (1u << 28)

/* Finds which labels of a map in device memory touch, as ccl_contacts_rows() lists them
 * (contacts.h), after the work that is queued on the caller's CUstream (NULL: the legacy default
 * stream), and waits.
 *
 * connectivity: 4 or 8 with a depth of 1; 6, 18 or 26. contacts: [capacity], in host memory, filled
 * in order. capacity: 1…CUDACCL_MAX_CONTACTS. n: the number of pairs; if it is greater than the
 * capacity, it may be less than there are, and contacts are undefined: call it again with more
 * memory. It allocates 56 to 88 bytes of device memory for each pair of the capacity.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (also if the stream is being captured),
 * CUDACCL_ERROR_NO_MEMORY or CUDACCL_ERROR_DEVICE. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_label_contacts (CclCudaDevice *device, const CclVolumeLabels *labels,
    uint32_t width, uint32_t height, uint32_t depth, uint32_t connectivity, CclContact *contacts,
    uint32_t capacity, uint32_t *n, void *stream, CclError *error);

/* The maps of a split of components in device memory, as ccl_distance_peaks() and
 * ccl_flood_objects() have them in host memory (distance.h): of width × height × depth words.
 * Since: 0.4 */
typedef struct CclCudaFlood {
  CclVolumeLabels labels, squared; /* not written */
  CclVolumeLabels objects;         /* of its own; written */
  uint32_t width, height, depth;   /* pixels; depth is 1 for frames */
  uint32_t connectivity;           /* of the flood: 4, 6, 8, 18 or 26 */
} CclCudaFlood;

/* Finds the peaks of distances and joins them to objects, as ccl_distance_peaks() does, with the
 * same numbers, after the work that is queued on the caller's CUstream (NULL: the legacy default
 * stream), and waits.
 *
 * radius: 1…CUDACCL_MAX_PEAK_RADIUS. n_objects: filled; the objects of the maps are, too. It
 * allocates 4 bytes of device memory per pixel.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (also if the stream is being captured),
 * CUDACCL_ERROR_NO_MEMORY or CUDACCL_ERROR_DEVICE. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_distance_peaks (CclCudaDevice *device, const CclCudaFlood *maps, uint32_t radius,
    uint32_t *n_objects, void *stream, CclError *error);

/* Floods the labels from markers, as ccl_flood_objects() does, with the same result, after the work
 * that is queued on the caller's CUstream (NULL: the legacy default stream), and waits. The time
 * grows with the longest way of the flood, in pixels. It allocates 16 bytes of device memory per
 * pixel.
 *
 * The objects are markers, and 0 elsewhere; they are filled as far as they reach.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (also if the stream is being captured),
 * CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_INTERRUPTED or CUDACCL_ERROR_DEVICE; objects are undefined
 * after the latter two. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_flood_objects (
    CclCudaDevice *device, const CclCudaFlood *maps, void *stream, CclError *error);

/* Fills the holes of each label of a map in device memory, as ccl_fill_label_holes() fills those of
 * all labels of a map in host memory (distance.h), with the same result, after the work that is
 * queued on the caller's CUstream (NULL: the legacy default stream), and waits.
 *
 * labels: not written, unless it is the map of the result. width, height, depth: pixels, depth 1
 * for frames; at most CUDACCL_MAX_PIXELS in all. connectivity: of the labels: 4 or 8 with a depth
 * of 1; 6, 18 or 26. max_area: as there; 0: all holes are filled. filled: the map of the result, in
 * device memory, which may be that of the labels.
 *
 * It allocates 8 bytes of device memory per pixel, and, for each set of connected pixels of a label
 * or of the background, some 400 bytes of device memory and as many of host memory. Pixels stay on
 * the device; which label fills a set is found on the CPU.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (also if the stream is being captured),
 * CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_INTERRUPTED or CUDACCL_ERROR_DEVICE. Thread safe.
 * Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_fill_label_holes (CclCudaDevice *device, const CclVolumeLabels *labels,
    uint32_t width, uint32_t height, uint32_t depth, uint32_t connectivity, uint32_t max_area,
    const CclVolumeLabels *filled, void *stream, CclError *error);

/* Gives the labels of a map in device memory other labels, after the work that is queued on the
 * caller's CUstream (NULL: the legacy default stream), and waits.
 *
 * labels: not written, unless it is the map of the result. width, height, depth: pixels, depth 1
 * for frames; at most CUDACCL_MAX_PIXELS in all. numbers: [n + 1], in host memory: the label that
 * each of 0…n gets. Greater labels stay. replaced: the map of the result, in device memory, which
 * may be that of the labels.
 *
 * It allocates 4 × (n + 1) bytes of device memory. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (also
 * if the stream is being captured), CUDACCL_ERROR_NO_MEMORY or CUDACCL_ERROR_DEVICE. Thread safe.
 * Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_replace_labels (CclCudaDevice *device, const CclVolumeLabels *labels,
    uint32_t width, uint32_t height, uint32_t depth, const uint32_t *numbers, uint32_t n,
    const CclVolumeLabels *replaced, void *stream, CclError *error);

/* Joins components over the borders that touch, and measures them, as ccl_join_borders() does in a
 * map in host memory (periodic.h), with the same labels and rows, after the work that is queued on
 * the caller's CUstream (NULL: the legacy default stream), and waits.
 *
 * labels: in device memory, 1…n in raster order of first pixels; it gets the labels of the joined
 * components. width, height, depth, connectivity, axes: as there; at most CUDACCL_MAX_PIXELS
 * pixels. n: of components; set to that of the joined ones. rows: [n], in host memory, filled as
 * far as there are joined components.
 *
 * It allocates up to 160 bytes of device memory and some 450 of host memory per component. The
 * pixels of the borders that touch are copied to the host.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (also if the map has other labels than 1…n, or the
 * stream is being captured), CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_INTERRUPTED or
 * CUDACCL_ERROR_DEVICE; the labels are undefined after the latter three. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_cuda_join_borders (CclCudaDevice *device, const CclVolumeLabels *labels,
    uint32_t width, uint32_t height, uint32_t depth, uint32_t connectivity, uint32_t axes,
    uint32_t *n, CclVolumeComponent *rows, void *stream, CclError *error);

/* Allocates size bytes of device memory, for programs without CUDA headers. Free it with
 * ccl_cuda_memory_free() on the same device.
 *
 * memory: filled with the address of the memory, NULL if size is 0 and after an error.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_NO_MEMORY or CUDACCL_ERROR_DEVICE.
 * Thread safe. Since: 0.3 */
CUDACCL_API
CclStatus ccl_cuda_memory_new (CclCudaDevice *device, size_t size, void **memory, CclError *error);

/* Frees device memory and sets the handle to NULL. Work that uses the memory must have ended.
 * Since: 0.3 */
CUDACCL_API
void ccl_cuda_memory_free (CclCudaDevice *device, void **memory);

/* Copies size bytes from host memory to device memory, after the work that is queued on the legacy
 * default stream, and waits.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT or CUDACCL_ERROR_DEVICE. Thread safe. Since: 0.3 */
CUDACCL_API
CclStatus ccl_cuda_memory_upload (
    CclCudaDevice *device, const void *host, void *memory, size_t size, CclError *error);

/* Copies size bytes from device memory to host memory, after the work that is queued on the legacy
 * default stream, and waits. The results of a run are complete when it was waited for.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT or CUDACCL_ERROR_DEVICE. Thread safe. Since: 0.3 */
CUDACCL_API
CclStatus ccl_cuda_memory_download (
    CclCudaDevice *device, const void *memory, void *host, size_t size, CclError *error);

/* Copies a label map of width × height pixels from device memory to host memory, as
 * ccl_cuda_memory_download() does. Bytes of a row beyond 4 × width are not written. Since: 0.3 */
CUDACCL_API
CclStatus ccl_cuda_labels_download (CclCudaDevice *device, const CclLabels *from, uint32_t width,
    uint32_t height, const CclLabels *to, CclError *error);

/* The number of the device whose memory an address is in.
 *
 * Returns -1 if there is none: CUDACCL_ERROR_ARGUMENT, CUDACCL_ERROR_NOT_FOUND (no driver, a build
 * without GPU support), CUDACCL_ERROR_DEVICE. Thread safe. Since: 0.3 */
CUDACCL_API
int ccl_cuda_find_device_of (const void *address, CclError *error);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_DEVICE_H */
