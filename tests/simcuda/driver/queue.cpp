/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "queue.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <list>
#include <thread>

#include "tests/simcuda/settings.h"

namespace simcuda {

std::mutex driver_lock;

namespace {

/* Never destroyed: threads may call the driver while the process ends. */
std::condition_variable &changed = *new std::condition_variable;
std::list<OperationPointer> &pending = *new std::list<OperationPointer>; /* in queueing order */
std::string &running = *new std::string; /* name of the running operation; empty when idle */
bool device_lost, stopping;
std::thread device_thread;
bool device_started;

Random &
draw ()
{
  static Random random (settings ().seed);
  return random;
}

bool
is_free (const Operation &operation)
{
  return std::all_of (operation.after.begin (), operation.after.end (),
      [] (const OperationPointer &other) { return other->done; });
}

/* The operation to run now: requested by want (), and with all dependencies done. */
std::list<OperationPointer>::iterator
choose ()
{
  std::vector<std::list<OperationPointer>::iterator> choices;
  for (auto i = pending.begin (); i != pending.end (); i++) {
    if (!(*i)->wanted || !is_free (**i))
      continue;
    if (!settings ().seed)
      return i;
    choices.push_back (i);
  }
  return choices.empty () ? pending.end () : choices[draw ().below (uint32_t (choices.size ()))];
}

uint64_t
now ()
{
  return uint64_t (
      std::chrono::steady_clock::now ().time_since_epoch () / std::chrono::nanoseconds (1));
}

/* Runs one operation, if one can run now; releases the lock meanwhile. No two threads run
 * operations at the same time. */
bool
work_once (std::unique_lock<std::mutex> &lock)
{
  auto next = running.empty () ? choose () : pending.end ();
  if (next == pending.end ())
    return false;
  OperationPointer operation = *next;
  pending.erase (next);
  CUresult result = CUDA_SUCCESS;
  if (operation->run && !device_lost && operation->context->error == CUDA_SUCCESS) {
    running = operation->name;
    lock.unlock ();
    result = operation->run ();
    lock.lock ();
    running.clear ();
  }
  if (result != CUDA_SUCCESS)
    operation->context->error = result;
  operation->run = nullptr;
  operation->after.clear ();
  operation->end = now ();
  operation->done = true;
  changed.notify_all ();
  return true;
}

/* The device thread. */
void
work ()
{
  std::unique_lock<std::mutex> lock (driver_lock);
  while (!stopping) {
    if (!work_once (lock))
      changed.wait (lock);
  }
}

/* Ends the device thread when the process ends; operations that were not waited for are dropped. */
struct Stopper {
  ~Stopper ()
  {
    if (!device_started)
      return;
    {
      std::lock_guard<std::mutex> lock (driver_lock);
      stopping = true;
      pending.clear ();
      changed.notify_all ();
    }
    device_thread.join ();
  }
} stopper;

} /* namespace */

void
want (const OperationPointer &operation)
{
  if (!operation || operation->wanted || operation->done)
    return;
  operation->wanted = true;
  for (const OperationPointer &other : operation->after)
    want (other);
  changed.notify_all ();
}

void
ask_for (const OperationPointer &operation, std::unique_lock<std::mutex> &lock)
{
  want (operation);
  if (settings ().order == Order::lazy && !settings ().seed)
    work_once (lock);
}

OperationPointer
enqueue (Stream *stream, const char *name, std::function<CUresult ()> run,
    const std::vector<OperationPointer> &after)
{
  bool early = settings ().order == Order::eager || (settings ().seed && draw ().below (2));
  if (early && !device_started) {
    device_thread = std::thread (work);
    device_started = true;
  }
  Context *context = stream->context;
  OperationPointer operation = std::make_shared<Operation> ();
  operation->name = name;
  operation->context = context;
  operation->run = std::move (run);

  auto come_after = [&] (const OperationPointer &other) {
    if (other && !other->done)
      operation->after.push_back (other);
  };
  for (const OperationPointer &other : after)
    come_after (other);
  come_after (stream->last);
  if (stream == &context->legacy) {
    for (Stream *other : context->streams) {
      if (other->blocking)
        come_after (other->last);
    }
  } else if (stream->blocking) {
    come_after (context->legacy.last);
  }
  stream->last = operation;
  pending.push_back (operation);
  if (early)
    want (operation);
  return operation;
}

void
wait_for (OperationPointer operation, std::unique_lock<std::mutex> &lock)
{
  if (!operation)
    return;
  want (operation);
  auto deadline = std::chrono::steady_clock::now () + std::chrono::seconds (settings ().timeout);
  while (!operation->done) {
    /* In lazy order the waiting thread runs the operations, in eager order the device thread. */
    if (settings ().order == Order::lazy && work_once (lock))
      continue;
    if (changed.wait_until (lock, deadline) == std::cv_status::timeout && !operation->done) {
      complain ("%s has not completed after %u s%s%s%s", operation->name.c_str (),
          settings ().timeout, running.empty () ? "" : "; the device is executing ",
          running.c_str (), running.empty () ? "" : " (does a thread poll with a plain load?)");
      abort ();
    }
  }
}

void
drain (Context *context, std::unique_lock<std::mutex> &lock)
{
  for (;;) {
    auto left = std::find_if (pending.rbegin (), pending.rend (),
        [&] (const OperationPointer &operation) { return operation->context == context; });
    OperationPointer last = left == pending.rend () ? nullptr : *left;
    if (!last) {
      /* The running operation is in no list. */
      if (running.empty ())
        return;
      changed.wait (lock);
      continue;
    }
    wait_for (last, lock);
  }
}

void
lose_device (bool lost)
{
  device_lost = lost;
}

} /* namespace simcuda */
