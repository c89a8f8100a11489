/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams and the device that works through them.
 *
 * Every piece of work is an operation that names those it must come after. They are run one at
 * a time: in eager order by a thread that plays the device, as soon as they are free to run; in
 * lazy order only once somebody waits for them (or for one behind them), and by whoever waits.
 * With a seed, what runs early and which of several free operations comes first is drawn.
 */
#ifndef SIMCUDA_QUEUE_H
#define SIMCUDA_QUEUE_H

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
  std::function<CUresult ()> run; /* empty: only a mark */
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
  bool blocking = true; /* in step with the legacy default stream */
  OperationPointer last;
  Graph *capture = nullptr;              /* being recorded into; NULL otherwise */
  std::vector<GraphNode *> capture_ends; /* what the next recorded node comes after */
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
  CUresult error = CUDA_SUCCESS; /* sticks */
  Stream legacy;
  std::set<Stream *> streams;
};

/* Guards everything in the simulator; the device's thread lets go of it while it works. */
extern std::mutex driver_lock;

/* All below are called with the lock held. */

/* Queues work behind what is in the stream and, by the rules of the legacy default stream, in
 * others. Returns it, to be waited for. */
OperationPointer enqueue (Stream *stream, const char *name, std::function<CUresult ()> run,
    const std::vector<OperationPointer> &after = {});

/* Waits until it is done; lets go of the lock meanwhile. NULL is done. */
void wait_for (const OperationPointer &operation, std::unique_lock<std::mutex> &lock);

/* Waits for all that is queued in a context. */
void drain (Context *context, std::unique_lock<std::mutex> &lock);

/* Has it done some time, without waiting. */
void want (const OperationPointer &operation);

/* From now on (true) what is queued is not run, and counts as done. */
void lose_device (bool lost);

} /* namespace simcuda */

#endif /* SIMCUDA_QUEUE_H */
