/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernel-graph.h"

#include <string.h>

bool
ccl_cuda_kernel_graph_is_possible (const CclCudaDevice *device)
{
  const CclCudaDriver *driver = device->driver;
  return driver->cuGraphCreate && driver->cuGraphAddKernelNode &&
         driver->cuGraphInstantiateWithFlags && driver->cuGraphExecKernelNodeSetParams &&
         driver->cuGraphExecDestroy && driver->cuGraphDestroy && driver->cuGraphLaunch;
}

/* The description of a kernel's node; arguments[0] is its parameter struct. */
static CUDA_KERNEL_NODE_PARAMS
describe (const CclCudaLaunch *launch, void **arguments)
{
  return (CUDA_KERNEL_NODE_PARAMS){
      .func = launch->function,
      .gridDimX = launch->grid[0],
      .gridDimY = launch->grid[1],
      .gridDimZ = launch->grid[2],
      .blockDimX = launch->block[0],
      .blockDimY = launch->block[1],
      .blockDimZ = launch->block[2],
      .kernelParams = arguments,
  };
}

/* Adds a node behind the previous one, if there is one. */
static CclStatus
add_node (CUgraph graph, CclCudaDevice *device, const CclCudaLaunch *launch, CUgraphNode previous,
    void *parameters, CUgraphNode *node, CclError *error)
{
  const CclCudaDriver *driver = device->driver;
  void *arguments[] = {launch->parameters ? launch->parameters : parameters};
  const CUDA_KERNEL_NODE_PARAMS description = describe (launch, arguments);
  const bool overlaps =
      previous && ccl_cuda_launch_overlaps (device, launch) && driver->cuGraphAddDependencies_v2;
  CclStatus status = ccl_cuda_call (driver, error,
      cuGraphAddKernelNode (node, graph, &previous, previous && !overlaps, &description));
  if (status || !overlaps)
    return status;
  const CUgraphEdgeData edge = {
      .from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
      .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
  };
  return ccl_cuda_call (
      driver, error, cuGraphAddDependencies_v2 (graph, &previous, node, &edge, 1));
}

CclStatus
ccl_cuda_kernel_graph_build (CclCudaKernelGraph *graph, CclCudaDevice *device,
    const CclCudaLaunch *launches, uint32_t n, uint32_t needed, void *parameters, CclError *error)
{
  const CclCudaDriver *driver = device->driver;
  CUgraphNode previous = NULL;
  ccl_cuda_kernel_graph_clear (graph, device);
  CclStatus status = ccl_cuda_call (driver, error, cuGraphCreate (&graph->source, 0));
  for (uint32_t i = 0; i < n && !status; i++) {
    if (!(needed >> i & 1))
      continue;
    status = add_node (
        graph->source, device, &launches[i], previous, parameters, &graph->nodes[i], error);
    previous = graph->nodes[i];
  }
  if (!status)
    status = ccl_cuda_call (
        driver, error, cuGraphInstantiateWithFlags (&graph->graph, graph->source, 0));
  if (status)
    ccl_cuda_kernel_graph_clear (graph, device);
  return status;
}

CclStatus
ccl_cuda_kernel_graph_set (CclCudaKernelGraph *graph, CclCudaDevice *device,
    const CclCudaLaunch *launch, uint32_t index, void *parameters, CclError *error)
{
  void *arguments[] = {launch->parameters ? launch->parameters : parameters};
  if (!graph->nodes[index])
    return CUDACCL_OK;
  const CUDA_KERNEL_NODE_PARAMS description = describe (launch, arguments);
  return ccl_cuda_call (device->driver, error,
      cuGraphExecKernelNodeSetParams (graph->graph, graph->nodes[index], &description));
}

void
ccl_cuda_kernel_graph_clear (CclCudaKernelGraph *graph, CclCudaDevice *device)
{
  if (graph->graph)
    device->driver->cuGraphExecDestroy (graph->graph);
  if (graph->source)
    device->driver->cuGraphDestroy (graph->source);
  memset (graph, 0, sizeof *graph);
}
