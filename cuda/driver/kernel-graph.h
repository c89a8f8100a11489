/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sequence of kernels that is queued by one launch: a graph whose nodes follow each other. It is
 * built node by node, as other threads can invalidate the capture of a stream.
 *
 * Functions assume that the device's context is current (device.h). One thread at a time.
 */
#pragma once

#include "launch.h"

enum { CUDACCL_MAX_GRAPH_KERNELS = 32 };

/* Zeros: a graph that is not built. */
typedef struct CclCudaKernelGraph {
  CUgraphExec graph;                            /* NULL: not built */
  CUgraph source;                               /* identifies the nodes */
  CUgraphNode nodes[CUDACCL_MAX_GRAPH_KERNELS]; /* NULL: the graph lacks that kernel */
} CclCudaKernelGraph;

/* Whether the driver has graphs. */
bool ccl_cuda_kernel_graph_is_possible (const CclCudaDevice *device);

/* Builds the graph of those of n launches whose bit is set in `needed`, in their order; each takes
 * a copy of its own parameter struct, if it has one, or of the common one. A graph that was built
 * before is replaced.
 *
 * CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE: the graph is not built. */
CclStatus ccl_cuda_kernel_graph_build (CclCudaKernelGraph *graph, CclCudaDevice *device,
    const CclCudaLaunch *launches, uint32_t n, uint32_t needed, void *parameters, CclError *error);

/* Gives the kernel at this index new parameters from the next launch on; nothing happens if the
 * graph lacks it. CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_kernel_graph_set (CclCudaKernelGraph *graph, CclCudaDevice *device,
    const CclCudaLaunch *launch, uint32_t index, void *parameters, CclError *error);

/* Frees a graph; no launch of it is queued. */
void ccl_cuda_kernel_graph_clear (CclCudaKernelGraph *graph, CclCudaDevice *device);
