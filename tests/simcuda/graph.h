/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Graphs: recorded work with its order, and copies of them that can be launched. */
#ifndef SIMCUDA_GRAPH_H
#define SIMCUDA_GRAPH_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <cuda.h>

#include "scheduler.h"

namespace simcuda {

struct Function;

struct GraphNode {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::string name;
  std::vector<GraphNode *> after;
  std::function<CUresult ()> run; /* of nodes that are no kernels */
  Function *function = nullptr;   /* of kernels */
  Launch launch;
  std::vector<void *> parameters; /* into launch.parameters, as kernelParams wants them */
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes; /* each after those it depends on */
};

struct GraphExec {
  Graph graph;
  std::vector<const GraphNode *> originals; /* of the nodes, in their order */
};

/* Adds a node. */
GraphNode *graph_add (Graph *graph, CUgraphNodeType type, const char *name,
    const std::vector<GraphNode *> &after, std::function<CUresult ()> run);

void graph_set_launch (GraphNode *node, Function *function, const Launch &launch);

std::unique_ptr<GraphExec> graph_instantiate (const Graph &graph);

/* The node of a launchable graph that was made from a node; NULL without one. */
GraphNode *graph_find (GraphExec *exec, const GraphNode *original);

/* What a launch runs: a copy of the nodes as they are now, in an order that they allow. */
std::function<CUresult ()> graph_work (const GraphExec &exec);

} /* namespace simcuda */

#endif /* SIMCUDA_GRAPH_H */
