/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The driver's functions for streams, capture and events. */
#include "driver.h"

#include <algorithm>
#include <cstring>

#include "tests/simcuda/settings.h"

using namespace simcuda;

#define EXPORT extern "C" __attribute__ ((visibility ("default"))) CUresult

namespace simcuda {

Stream *
find_stream (Context *context, CUstream handle)
{
  if (!handle || handle == CU_STREAM_LEGACY)
    return &context->legacy;
  Stream *stream = reinterpret_cast<Stream *> (handle);
  return is_handle (stream, HandleKind::stream) ? stream : nullptr;
}

CUresult
submit (Stream *stream, CUgraphNodeType type, const char *name, std::function<CUresult ()> run,
    OperationPointer *operation)
{
  if (stream->capture) {
    GraphNode *node =
        graph_add (stream->capture, type, name, stream->capture_ends, std::move (run));
    add_handle (node, HandleKind::graph_node);
    stream->capture_ends = {node};
    return CUDA_SUCCESS;
  }
  OperationPointer queued = enqueue (stream, name, std::move (run));
  if (operation)
    *operation = queued;
  return CUDA_SUCCESS;
}

} /* namespace simcuda */

/* Streams. */

EXPORT
cuStreamCreate (CUstream *handle, unsigned flags)
{
  Call call (CallKind::create);
  if (call.error)
    return call.error;
  if (!handle || flags > CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  Stream *stream = new Stream;
  stream->context = call.context;
  stream->blocking = flags != CU_STREAM_NON_BLOCKING;
  call.context->streams.insert (stream);
  add_handle (stream, HandleKind::stream);
  *handle = reinterpret_cast<CUstream> (stream);
  return CUDA_SUCCESS;
}

EXPORT
cuStreamCreateWithPriority (CUstream *handle, unsigned flags, int)
{
  return cuStreamCreate (handle, flags);
}

EXPORT
cuStreamDestroy_v2 (CUstream handle)
{
  Call call (CallKind::other, false);
  Stream *stream = reinterpret_cast<Stream *> (handle);
  if (!is_handle (stream, HandleKind::stream))
    return CUDA_ERROR_INVALID_HANDLE;
  /* Queued operations still run. */
  want (stream->last);
  stream->context->streams.erase (stream);
  remove_handle (stream);
  delete stream;
  return call.error;
}

EXPORT
simcuda_stream_destroy (CUstream) asm("cuStreamDestroy");
EXPORT
simcuda_stream_destroy (CUstream handle)
{
  return cuStreamDestroy_v2 (handle);
}

EXPORT
cuStreamSynchronize (CUstream handle)
{
  Call call (CallKind::synchronise);
  if (call.error)
    return call.error;
  Stream *stream = find_stream (call.context, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  statistics.synchronisations++;
  Context *context = stream->context;
  wait_for (stream->last, call.lock);
  if (stream == &context->legacy) {
    for (Stream *other : std::set<Stream *> (context->streams)) {
      if (is_handle (other, HandleKind::stream) && other->blocking)
        wait_for (other->last, call.lock);
    }
  }
  return context->error;
}

EXPORT
cuStreamQuery (CUstream handle)
{
  Call call;
  if (call.error)
    return call.error;
  Stream *stream = find_stream (call.context, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!stream->last || stream->last->done)
    return stream->context->error;
  ask_for (stream->last, call.lock);
  return CUDA_ERROR_NOT_READY;
}

EXPORT
cuStreamGetCtx (CUstream handle, CUcontext *context)
{
  Call call;
  if (call.error)
    return call.error;
  Stream *stream = find_stream (call.context, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  *context = reinterpret_cast<CUcontext> (stream->context);
  return CUDA_SUCCESS;
}

EXPORT
cuStreamGetFlags (CUstream handle, unsigned *flags)
{
  Call call;
  if (call.error)
    return call.error;
  Stream *stream = find_stream (call.context, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  *flags = stream->blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
  return CUDA_SUCCESS;
}

EXPORT
cuLaunchHostFunc (CUstream handle, CUhostFn function, void *data)
{
  Call call;
  if (call.error)
    return call.error;
  Stream *stream = find_stream (call.context, handle);
  if (!stream || !function)
    return CUDA_ERROR_INVALID_HANDLE;
  return submit (stream, CU_GRAPH_NODE_TYPE_HOST, "a host function", [function, data] {
    function (data);
    return CUDA_SUCCESS;
  });
}

EXPORT
cuStreamAddCallback (CUstream handle, CUstreamCallback function, void *data, unsigned flags)
{
  Call call;
  if (call.error)
    return call.error;
  Stream *stream = find_stream (call.context, handle);
  if (!stream || !function || flags)
    return CUDA_ERROR_INVALID_HANDLE;
  return submit (stream, CU_GRAPH_NODE_TYPE_HOST, "a callback", [function, data, handle] {
    function (handle, CUDA_SUCCESS, data);
    return CUDA_SUCCESS;
  });
}

/* Capture. */

CUresult
simcuda::forbid_in_captures (Context *context)
{
  CUresult error = CUDA_SUCCESS;
  for (Stream *stream : context->streams)
    if (stream->capture && stream->capture->is_global) {
      stream->capture->is_broken = true;
      error = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
  return error;
}

EXPORT
cuStreamBeginCapture_v2 (CUstream handle, CUstreamCaptureMode mode)
{
  Call call;
  if (call.error)
    return call.error;
  Stream *stream = find_stream (call.context, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream == &call.context->legacy)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = new Graph;
  stream->capture->is_global = mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
  stream->capture_ends.clear ();
  statistics.captures++;
  return CUDA_SUCCESS;
}

EXPORT
cuStreamEndCapture (CUstream handle, CUgraph *graph_handle)
{
  Call call;
  Stream *stream = call.context ? find_stream (call.context, handle) : nullptr;
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!stream->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  Graph *graph = stream->capture;
  size_t n_joined = 0;
  /* Every other stream that entered the capture must have been joined back into this one. */
  for (Stream *other : call.context->streams) {
    if (other->capture != graph || other == stream)
      continue;
    n_joined++;
    other->capture = nullptr;
    other->capture_ends.clear ();
  }
  (void)n_joined;
  stream->capture = nullptr;
  stream->capture_ends.clear ();
  if (!call.error && graph->is_broken)
    call.error = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (call.error || !graph_handle) {
    for (auto &node : graph->nodes)
      remove_handle (node.get ());
    delete graph;
    if (graph_handle)
      *graph_handle = nullptr;
    return call.error ? call.error : CUDA_ERROR_INVALID_VALUE;
  }
  add_handle (graph, HandleKind::graph);
  *graph_handle = reinterpret_cast<CUgraph> (graph);
  return CUDA_SUCCESS;
}

EXPORT
cuStreamIsCapturing (CUstream handle, CUstreamCaptureStatus *status)
{
  Call call;
  if (call.error)
    return call.error;
  Stream *stream = find_stream (call.context, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  *status = !stream->capture             ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->is_broken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                         : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

EXPORT
cuThreadExchangeStreamCaptureMode (CUstreamCaptureMode *mode)
{
  static thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::swap (*mode, current);
  return CUDA_SUCCESS;
}

/* Events. */

static Event *
valid_event (CUevent handle)
{
  Event *event = reinterpret_cast<Event *> (handle);
  return is_handle (event, HandleKind::event) ? event : nullptr;
}

EXPORT
cuEventCreate (CUevent *handle, unsigned flags)
{
  Call call (CallKind::create);
  if (call.error)
    return call.error;
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  Event *event = new Event;
  event->context = call.context;
  event->timed = !(flags & CU_EVENT_DISABLE_TIMING);
  add_handle (event, HandleKind::event);
  *handle = reinterpret_cast<CUevent> (event);
  return CUDA_SUCCESS;
}

EXPORT
cuEventDestroy_v2 (CUevent handle)
{
  Call call (CallKind::other, false);
  Event *event = valid_event (handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  remove_handle (event);
  delete event;
  return call.error;
}

EXPORT
simcuda_event_destroy (CUevent) asm("cuEventDestroy");
EXPORT
simcuda_event_destroy (CUevent handle)
{
  return cuEventDestroy_v2 (handle);
}

EXPORT
cuEventRecord (CUevent handle, CUstream stream_handle)
{
  Call call;
  if (call.error)
    return call.error;
  Event *event = valid_event (handle);
  Stream *stream = find_stream (call.context, stream_handle);
  if (!event || !stream || event->context != stream->context)
    return CUDA_ERROR_INVALID_HANDLE;
  event->capture = stream->capture;
  event->capture_ends = stream->capture_ends;
  event->recorded = stream->capture ? nullptr : enqueue (stream, "an event", nullptr);
  return CUDA_SUCCESS;
}

EXPORT
cuEventRecordWithFlags (CUevent handle, CUstream stream, unsigned)
{
  return cuEventRecord (handle, stream);
}

EXPORT
cuEventQuery (CUevent handle)
{
  Call call;
  if (call.error)
    return call.error;
  Event *event = valid_event (handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!event->recorded || event->recorded->done)
    return event->context->error;
  ask_for (event->recorded, call.lock);
  return CUDA_ERROR_NOT_READY;
}

EXPORT
cuEventSynchronize (CUevent handle)
{
  Call call (CallKind::synchronise);
  if (call.error)
    return call.error;
  Event *event = valid_event (handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  statistics.synchronisations++;
  Context *context = event->context;
  wait_for (event->recorded, call.lock);
  return context->error;
}

EXPORT
cuEventElapsedTime_v2 (float *milliseconds, CUevent start_handle, CUevent end_handle)
{
  Call call;
  if (call.error)
    return call.error;
  Event *start = valid_event (start_handle), *end = valid_event (end_handle);
  if (!start || !end || !start->timed || !end->timed || !start->recorded || !end->recorded)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!start->recorded->done || !end->recorded->done)
    return CUDA_ERROR_NOT_READY;
  *milliseconds = float (double (int64_t (end->recorded->end - start->recorded->end)) / 1e6);
  return CUDA_SUCCESS;
}

EXPORT
simcuda_event_elapsed_time (float *, CUevent, CUevent) asm("cuEventElapsedTime");
EXPORT
simcuda_event_elapsed_time (float *milliseconds, CUevent start, CUevent end)
{
  return cuEventElapsedTime_v2 (milliseconds, start, end);
}

EXPORT
cuStreamWaitEvent (CUstream stream_handle, CUevent handle, unsigned)
{
  Call call;
  if (call.error)
    return call.error;
  Event *event = valid_event (handle);
  Stream *stream = find_stream (call.context, stream_handle);
  if (!event || !stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture) {
    if (stream->capture && stream->capture != event->capture)
      return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    stream->capture = event->capture;
    for (GraphNode *node : event->capture_ends) {
      if (std::find (stream->capture_ends.begin (), stream->capture_ends.end (), node) ==
          stream->capture_ends.end ())
        stream->capture_ends.push_back (node);
    }
    return CUDA_SUCCESS;
  }
  if (event->recorded && !event->recorded->done)
    enqueue (stream, "a wait for an event", nullptr, {event->recorded});
  return CUDA_SUCCESS;
}
