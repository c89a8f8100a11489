/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NVIDIA's Performance Primitives, looked up at run time: the labeller that comes with CUDA. */
#ifndef BENCH_PEER_NPP_H
#define BENCH_PEER_NPP_H

#include "device.h"

typedef struct PeerNpp PeerNpp;

/* NPP; the first call loads it. NULL if it is not found, or older than CUDA 11. */
const PeerNpp *peer_npp (void);

/* "NPP 13.0.0"; lives as long as the program. */
const char *peer_npp_version (const PeerNpp *npp);

/* Bytes of device memory that labelling a frame of that size needs beside the label map; 0 on an
 * error. */
size_t peer_npp_scratch_size (const PeerNpp *npp, uint32_t width, uint32_t height);

/* Queues the labelling of a frame in device memory; the device's context is current. Background
 * pixels get labels like all others, and 0 is a label. Strides in bytes. */
CclStatus peer_npp_queue (const PeerNpp *npp, const CclCudaDevice *device, CUdeviceptr frame,
    size_t frame_stride, CUdeviceptr labels, size_t label_stride, uint32_t width, uint32_t height,
    uint32_t connectivity, CUdeviceptr scratch, CUstream stream, CclError *error);

#endif /* BENCH_PEER_NPP_H */
