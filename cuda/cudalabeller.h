/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The GPU labeller: the job of labeller.h on an NVIDIA GPU, compute capability 7.5 and later.
 *
 * The CUDA driver (libcuda) is looked up at run time, so programs that link this start on
 * machines without it; there, opening a device says CCL_ERROR_NOT_FOUND. Device memory here is
 * any pointer that the driver API gave in the device's context. CUDA's own types appear as
 * void * so that callers need no CUDA headers: a context is a CUcontext, a stream a CUstream.
 */
#ifndef CCL_CUDA_LABELLER_H
#define CCL_CUDA_LABELLER_H

#include "labeller.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A device, with the kernels loaded on it. Reference counted; any thread may use it. */
typedef struct CclCudaDevice CclCudaDevice;

/* Opens a device by its number (0, 1, …; -1 means the first) in its primary context, which is
 * retained until the last reference is gone.
 *
 * Returns a new reference, or NULL: CCL_ERROR_NOT_FOUND (no driver, no such device),
 * CCL_ERROR_UNSUPPORTED (compute capability below 7.5), CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CclCudaDevice *ccl_cuda_device_open (int number, CclError *error);

/* As ccl_cuda_device_open(), in a CUcontext of the caller's that must outlive the device. */
CclCudaDevice *ccl_cuda_device_open_in_context (void *context, CclError *error);

CclCudaDevice *ccl_cuda_device_ref (CclCudaDevice *device);

/* Drops a reference and clears the handle; NULL and a NULL handle are fine. Labellers keep
 * their own reference. */
void ccl_cuda_device_unref (CclCudaDevice **device);

/* The device's name as the driver gives it; lives as long as the device. */
const char *ccl_cuda_device_name (const CclCudaDevice *device);

/* Plans a labeller on a device: allocates label buffer, table and all scratch memory there.
 * Free with ccl_labeller_free().
 *
 * Frames may be host or device memory, label maps are device memory.
 *
 * Returns the labeller, or NULL: CCL_ERROR_ARGUMENT, CCL_ERROR_UNSUPPORTED (the algorithm is
 * none of ccl_cuda_algorithms() or lacks the connectivity), CCL_ERROR_NO_MEMORY (nothing stays
 * allocated), CCL_ERROR_DEVICE. */
CclLabeller *ccl_cuda_labeller_new (CclCudaDevice *device, const CclPlan *plan, CclError *error);

/* Runs of the labeller are queued on this CUstream from now on, behind whatever is queued there
 * already; NULL goes back to the labeller's own stream. */
void ccl_cuda_labeller_set_stream (CclLabeller *labeller, void *stream);

/* The CUstream that runs of the labeller are queued on. */
void *ccl_cuda_labeller_get_stream (CclLabeller *labeller);

/* The names that plan.algorithm may have, NULL-terminated, in the order of preference of "auto".
 * Static memory. */
const char *const *ccl_cuda_algorithms (void);

/* Whether an algorithm of that list offers the connectivity. */
bool ccl_cuda_algorithm_offers (const char *algorithm, CclConnectivity connectivity);

#ifdef __cplusplus
}
#endif

#endif /* CCL_CUDA_LABELLER_H */
