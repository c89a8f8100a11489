/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams, and the execution of their operations.
 *
 * An operation lists the operations it depends on. One operation runs at a time. In eager order a
 * separate thread, the device thread, runs each operation as soon as its dependencies are done. In
 * lazy order an operation runs only when a caller waits for it or for one that depends on it; the
 * waiting thread runs it. With a seed, chance decides whether an operation runs early and which of
 * several runnable operations comes first.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <cuda.h>

namespace simcuda {

struct Context;

struct Operation {
  std::string name; /* for messages */
  Context *context = nullptr;
  std::function<CUresult ()> run; /* empty: nothing to run, a marker in the stream */
  std::vector<std::shared_ptr<Operation>> after;
  bool wanted = false;
  bool done = false;
  uint64_t end = 0; /* ns */
};
typedef std::shared_ptr<Operation> OperationPointer;

struct GraphNode;
struct Graph;

struct Stream {
  Context *context = nullptr;
  bool blocking = true; /* synchronises with the legacy default stream */
  OperationPointer last;
  Graph *capture = nullptr;              /* graph of the capture in progress, or NULL */
  std::vector<GraphNode *> capture_ends; /* dependencies of the next recorded node */
};

struct Event {
  Context *context = nullptr;
  bool timed = true;
  OperationPointer recorded; /* NULL: never recorded */
  Graph *capture = nullptr;  /* recorded in a capture */
  std::vector<GraphNode *> capture_ends;
};

struct Context {
  int device = 0;
  bool is_primary = false;
  int n_references = 0;
  unsigned flags = 0;
  CUresult error = CUDA_SUCCESS; /* stays until the context is destroyed */
  Stream legacy;
  std::set<Stream *> streams;
};

/* Guards all state of the simulator; released while an operation runs. */
extern std::mutex driver_lock;

/* The caller of each function below holds the lock. */

/* Appends an operation to the stream. By the rules of the legacy default stream it may also depend
 * on operations of other streams. Returns the operation. */
OperationPointer enqueue (Stream *stream, const char *name, std::function<CUresult ()> run,
    const std::vector<OperationPointer> &after = {});

/* Waits until the operation is done; releases the lock meanwhile. NULL counts as done. */
void wait_for (OperationPointer operation, std::unique_lock<std::mutex> &lock);

/* Waits for all operations of a context. */
void drain (Context *context, std::unique_lock<std::mutex> &lock);

/* Lets the operation and its dependencies run, without waiting for them. */
void want (const OperationPointer &operation);

/* A query of an operation that is not done. In lazy order, without a device thread, it runs one of
 * the operations that are to be done for it, so that a caller who asks again and again gets on. */
void ask_for (const OperationPointer &operation, std::unique_lock<std::mutex> &lock);

/* true: from now on operations are not run and count as done. */
void lose_device (bool lost);

} /* namespace simcuda */
