/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations shared by the files that implement the driver's functions. */
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <cuda.h>

#include "faults.h"
#include "graph.h"
#include "tests/simcuda/kernel.h"
#include "queue.h"
#include "tests/simcuda/scheduler.h"

namespace simcuda {

struct Module {
  Context *context;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

struct Function {
  const Kernel *kernel;
  Module *module;
  unsigned most_dynamic_shared; /* bytes that a launch may ask for */
};

/* All live handles with their types. */
enum class HandleKind { context, stream, event, module, function, graph, graph_exec, graph_node };
void add_handle (const void *handle, HandleKind kind);
void remove_handle (const void *handle);
bool is_handle (const void *handle, HandleKind kind);
size_t count_handles (HandleKind kind);

/* Constructed first in every driver function: takes the lock and decides whether the call fails at
 * once. */
class Call {
public:
  explicit Call (CallKind kind = CallKind::other, bool needs_context = true);

  CUresult error;
  std::unique_lock<std::mutex> lock;
  Context *context; /* the current one */
};

/* The context on top of the calling thread's stack, or NULL. */
Context *current_context ();

/* The stream of a handle: NULL and CU_STREAM_LEGACY are the context's legacy default stream.
 * Returns NULL when the handle is not a stream. */
Stream *find_stream (Context *context, CUstream handle);

/* An allocation is forbidden while any thread captures in the global mode, and makes that capture
 * invalid. Returns an error then. */
CUresult forbid_in_captures (Context *context);

/* Queues an operation, or, during a capture of the stream, adds it to the graph. */
CUresult submit (Stream *stream, CUgraphNodeType type, const char *name,
    std::function<CUresult ()> run, OperationPointer *operation = nullptr);

struct Statistics {
  uint64_t allocations, copies, launches, synchronisations, captures; /* successful calls */
};
extern Statistics statistics;

} /* namespace simcuda */
