/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Graphs of operations, and their launchable copies. */
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <cuda.h>

#include "tests/simcuda/scheduler.h"

namespace simcuda {

struct Function;

struct GraphNode {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::string name;
  std::vector<GraphNode *> after;
  std::function<CUresult ()> run; /* of nodes other than kernels */
  Function *function = nullptr;   /* of kernels */
  Launch launch;
  std::vector<void *> parameters; /* into launch.parameters, in the layout of kernelParams */
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes; /* every node comes after its dependencies */
  bool is_global = false;                        /* captured in the global mode */
  bool is_broken = false;                        /* its capture is invalid */
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

/* The launchable graph's copy of a node; NULL without one. */
GraphNode *graph_find (GraphExec *exec, const GraphNode *original);

/* The function that runs a kernel launch. */
std::function<CUresult ()> launch_work (const Launch &launch);

/* A copy of the current nodes for one launch, in an order that satisfies the dependencies. */
std::function<CUresult ()> graph_work (const GraphExec &exec);

} /* namespace simcuda */
