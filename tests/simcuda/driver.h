/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files that implement the driver's functions share. */
#ifndef SIMCUDA_DRIVER_H
#define SIMCUDA_DRIVER_H

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <cuda.h>

#include "faults.h"
#include "graph.h"
#include "kernel.h"
#include "queue.h"
#include "scheduler.h"

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

/* Every handle that was given out and not taken back, and what it is. */
enum class HandleKind { context, stream, event, module, function, graph, graph_exec, graph_node };
void add_handle (const void *handle, HandleKind kind);
void remove_handle (const void *handle);
bool is_handle (const void *handle, HandleKind kind);
size_t count_handles (HandleKind kind);

/* The beginning of every function of the driver: takes the lock, and says whether the call is
 * to fail from the start. */
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
 * NULL: it is no stream. */
Stream *find_stream (Context *context, CUstream handle);

/* Queues work, or records it in the graph that the stream is captured into. */
CUresult submit (Stream *stream, CUgraphNodeType type, const char *name,
    std::function<CUresult ()> run, OperationPointer *operation = nullptr);

/* What runs a kernel. */
std::function<CUresult ()> launch_work (const Launch &launch);

struct Statistics {
  uint64_t allocations, copies, launches, synchronisations; /* calls that succeeded */
};
extern Statistics statistics;

} /* namespace simcuda */

#endif /* SIMCUDA_DRIVER_H */
