/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies from the memory of one device to that of another. The driver takes the direct way between
 * the devices where there is one, and goes through system memory otherwise. */
#include <stdlib.h>

#include "device.h"

struct CclCudaPeer {
  CclCudaDevice *device; /* to which memory is copied */
  CUcontext context;     /* from which it is copied */
  CUevent written;       /* of that context: the end of the work before the latest copy */
};

/* Makes the peer's context current, as ccl_cuda_device_enter() does the device's. */
static CclStatus
enter_peer (CclCudaPeer *peer, CclError *error)
{
  return ccl_cuda_call (peer->device->driver, error, cuCtxPushCurrent (peer->context));
}

static CclStatus
create_event (CclCudaPeer *peer, CclError *error)
{
  CclStatus status = enter_peer (peer, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_call (
      peer->device->driver, error, cuEventCreate (&peer->written, CU_EVENT_DISABLE_TIMING));
  ccl_cuda_device_leave (peer->device);
  return status;
}

CclCudaPeer *
ccl_cuda_peer_new (CclCudaDevice *device, void *context, CclError *error)
{
  if (!device || !context) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device and a context are needed");
    return NULL;
  }
  CclCudaPeer *peer = calloc (1, sizeof *peer);
  if (!peer) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a peer");
    return NULL;
  }
  peer->device = ccl_cuda_device_ref (device);
  peer->context = context;
  if (create_event (peer, error) != CUDACCL_OK)
    ccl_cuda_peer_free (&peer);
  return peer;
}

CclStatus
ccl_cuda_peer_copy (CclCudaPeer *peer, const void *from, void *from_stream, void *to,
    void *to_stream, size_t size, CclError *error)
{
  if (!peer || !from || !to)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "peer, source and destination must not be NULL");
  const CclCudaDriver *driver = peer->device->driver;
  CclStatus status = enter_peer (peer, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_call (driver, error, cuEventRecord (peer->written, from_stream));
  ccl_cuda_device_leave (peer->device);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_enter (peer->device, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_call (driver, error, cuStreamWaitEvent (to_stream, peer->written, 0));
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (driver, error,
        cuMemcpyPeerAsync ((CUdeviceptr)to, peer->device->context, (CUdeviceptr)from, peer->context,
            size, to_stream));
  ccl_cuda_device_leave (peer->device);
  return status;
}

void
ccl_cuda_peer_free (CclCudaPeer **peer)
{
  if (!peer || !*peer)
    return;
  /* The event belongs to a context that may be gone with its device. */
  if ((*peer)->written && enter_peer (*peer, NULL) == CUDACCL_OK) {
    (*peer)->device->driver->cuEventDestroy ((*peer)->written);
    ccl_cuda_device_leave ((*peer)->device);
  }
  ccl_cuda_device_unref (&(*peer)->device);
  free (*peer);
  *peer = NULL;
}
