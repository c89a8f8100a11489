/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The driver's functions for memory: allocations, copies, memsets. */
#include "driver.h"

#include <cstring>
#include <memory>
#include <vector>

#include "memory.h"
#include "tests/simcuda/settings.h"

using namespace simcuda;

#define EXPORT extern "C" __attribute__ ((visibility ("default"))) CUresult

static const size_t pitch_alignment = 512;

static void *
host_pointer (CUdeviceptr pointer)
{
  return reinterpret_cast<void *> (pointer);
}

/* Allocations. */

static CUresult
allocate_device (Call *call, CUdeviceptr *pointer, size_t size)
{
  if (!pointer || !size)
    return CUDA_ERROR_INVALID_VALUE;
  if (size > settings ().memory ||
      bytes_allocated (call->context, MemoryKind::device) > settings ().memory - size)
    return CUDA_ERROR_OUT_OF_MEMORY;
  Allocation *allocation = allocate (size, MemoryKind::device, call->context);
  if (!allocation)
    return CUDA_ERROR_OUT_OF_MEMORY;
  statistics.allocations++;
  *pointer = reinterpret_cast<CUdeviceptr> (allocation->address);
  return CUDA_SUCCESS;
}

EXPORT
cuMemAlloc_v2 (CUdeviceptr *pointer, size_t size)
{
  Call call (CallKind::allocate);
  const CUresult error = call.error ? call.error : forbid_in_captures (call.context);
  return error ? error : allocate_device (&call, pointer, size);
}

EXPORT
cuMemAllocAsync (CUdeviceptr *pointer, size_t size, CUstream stream)
{
  Call call (CallKind::allocate);
  if (call.error)
    return call.error;
  if (!find_stream (call.context, stream))
    return CUDA_ERROR_INVALID_HANDLE;
  return allocate_device (&call, pointer, size);
}

EXPORT
cuMemAllocPitch_v2 (
    CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned element_size)
{
  Call call (CallKind::allocate);
  const CUresult error = call.error ? call.error : forbid_in_captures (call.context);
  if (error)
    return error;
  if (!pitch || !width || !height || (element_size != 4 && element_size != 8 && element_size != 16))
    return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  return allocate_device (&call, pointer, *pitch * height);
}

EXPORT
cuMemFree_v2 (CUdeviceptr pointer)
{
  Call call;
  if (!pointer)
    return call.error;
  Allocation *allocation = find_allocation (host_pointer (pointer));
  if (!allocation || allocation->address != host_pointer (pointer) ||
      allocation->kind != MemoryKind::device)
    return CUDA_ERROR_INVALID_VALUE;
  /* As on the real device, queued operations that use the memory run first. */
  drain (allocation->context, call.lock);
  release (allocation);
  return call.error;
}

EXPORT
cuMemFreeAsync (CUdeviceptr pointer, CUstream stream_handle)
{
  Call call;
  if (call.error)
    return call.error;
  Allocation *allocation = find_allocation (host_pointer (pointer));
  Stream *stream = find_stream (call.context, stream_handle);
  if (!allocation || !stream || allocation->kind != MemoryKind::device)
    return CUDA_ERROR_INVALID_VALUE;
  return submit (stream, CU_GRAPH_NODE_TYPE_MEM_FREE, "cuMemFreeAsync", [pointer] {
    std::lock_guard<std::mutex> lock (driver_lock);
    Allocation *allocation = find_allocation (host_pointer (pointer));
    if (allocation)
      release (allocation);
    return CUDA_SUCCESS;
  });
}

static CUresult
allocate_host (Call *call, void **pointer, size_t size)
{
  if (!pointer || !size)
    return CUDA_ERROR_INVALID_VALUE;
  Allocation *allocation = allocate (size, MemoryKind::pinned, call->context);
  if (!allocation)
    return CUDA_ERROR_OUT_OF_MEMORY;
  statistics.allocations++;
  *pointer = allocation->address;
  return CUDA_SUCCESS;
}

EXPORT
cuMemAllocHost_v2 (void **pointer, size_t size)
{
  Call call (CallKind::allocate);
  const CUresult error = call.error ? call.error : forbid_in_captures (call.context);
  return error ? error : allocate_host (&call, pointer, size);
}

EXPORT
cuMemHostAlloc (void **pointer, size_t size, unsigned)
{
  Call call (CallKind::allocate);
  const CUresult error = call.error ? call.error : forbid_in_captures (call.context);
  return error ? error : allocate_host (&call, pointer, size);
}

EXPORT
cuMemFreeHost (void *pointer)
{
  Call call;
  if (!pointer)
    return call.error;
  Allocation *allocation = find_allocation (pointer);
  if (!allocation || allocation->address != pointer || allocation->kind != MemoryKind::pinned)
    return CUDA_ERROR_INVALID_VALUE;
  drain (allocation->context, call.lock);
  release (allocation);
  return call.error;
}

EXPORT
cuMemHostRegister_v2 (void *pointer, size_t size, unsigned)
{
  Call call (CallKind::allocate);
  if (call.error)
    return call.error;
  if (!pointer || !size)
    return CUDA_ERROR_INVALID_VALUE;
  if (find_allocation (pointer))
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  register_host (pointer, size, call.context);
  return CUDA_SUCCESS;
}

EXPORT
cuMemHostUnregister (void *pointer)
{
  Call call;
  Allocation *allocation = find_allocation (pointer);
  if (!allocation || allocation->address != pointer || allocation->kind != MemoryKind::registered)
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  drain (allocation->context, call.lock);
  release (allocation);
  return call.error;
}

EXPORT
cuMemHostGetDevicePointer_v2 (CUdeviceptr *device, void *pointer, unsigned)
{
  Call call;
  if (call.error)
    return call.error;
  if (!device || !lies_in_pinned_memory (pointer, 1))
    return CUDA_ERROR_INVALID_VALUE;
  *device = reinterpret_cast<CUdeviceptr> (pointer);
  return CUDA_SUCCESS;
}

EXPORT
cuMemGetInfo_v2 (size_t *free, size_t *total)
{
  Call call;
  if (call.error)
    return call.error;
  *total = settings ().memory;
  *free = *total - bytes_allocated (call.context, MemoryKind::device);
  return CUDA_SUCCESS;
}

EXPORT
cuMemGetAddressRange_v2 (CUdeviceptr *base, size_t *size, CUdeviceptr pointer)
{
  Call call;
  if (call.error)
    return call.error;
  Allocation *allocation = find_allocation (host_pointer (pointer));
  if (!allocation)
    return CUDA_ERROR_NOT_FOUND;
  if (base)
    *base = reinterpret_cast<CUdeviceptr> (allocation->address);
  if (size)
    *size = allocation->size;
  return CUDA_SUCCESS;
}

static CUresult
pointer_attribute (void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
  const Allocation *allocation = find_allocation (host_pointer (pointer));
  if (!data || !allocation)
    return CUDA_ERROR_INVALID_VALUE;
  bool is_device = allocation->kind == MemoryKind::device;
  switch (int (attribute)) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *static_cast<CUcontext *> (data) = reinterpret_cast<CUcontext> (allocation->context);
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *static_cast<unsigned *> (data) = is_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *static_cast<CUdeviceptr *> (data) = pointer;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (is_device)
      return CUDA_ERROR_INVALID_VALUE;
    *static_cast<void **> (data) = host_pointer (pointer);
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *static_cast<unsigned *> (data) = 0;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *static_cast<int *> (data) = allocation->context->device;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    *static_cast<CUdeviceptr *> (data) = reinterpret_cast<CUdeviceptr> (allocation->address);
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    *static_cast<size_t *> (data) = allocation->size;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

EXPORT
cuPointerGetAttribute (void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
  Call call (CallKind::other, false);
  return call.error ? call.error : pointer_attribute (data, attribute, pointer);
}

EXPORT
cuPointerGetAttributes (
    unsigned n, CUpointer_attribute *attributes, void **data, CUdeviceptr pointer)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  for (unsigned i = 0; i < n; i++)
    pointer_attribute (data[i], attributes[i], pointer);
  return CUDA_SUCCESS;
}

/* Copies. */

/* The source or the target of a copy: rows of bytes. */
struct Side {
  char *start;
  size_t pitch;
  bool is_device; /* false: decided by the address */
  bool is_host;
  size_t x = 0; /* bytes of the first row before the start */
};

struct Copy {
  Side from, to;
  size_t width, height; /* bytes, rows */

  /* Bytes of the copy's region. As in the driver, every row in device memory, also the last one,
   * counts as a full pitch. */
  size_t
  span (const Side &side) const
  {
    return side.is_device ? height * side.pitch - side.x : (height - 1) * side.pitch + width;
  }
};

static void
copy_rows (const Copy &copy)
{
  for (size_t y = 0; y < copy.height; y++)
    memcpy (copy.to.start + y * copy.to.pitch, copy.from.start + y * copy.from.pitch, copy.width);
}

enum class Place { device, pinned, pageable, nowhere };

static Place
place_of (const Copy &copy, const Side &side)
{
  size_t span = copy.span (side);
  if (!side.is_host && lies_in_device_memory (side.start, span))
    return Place::device;
  if (!side.is_device && lies_in_pinned_memory (side.start, span))
    return Place::pinned;
  /* With unified virtual addressing, device functions also take pinned memory. */
  if (side.is_device && lies_in_pinned_memory (side.start, span))
    return Place::pinned;
  const Allocation *allocation = find_allocation (side.start);
  if (side.is_device || (allocation && allocation->kind == MemoryKind::device))
    return Place::nowhere;
  return Place::pageable;
}

/* Queues a copy. Host memory that is not pinned is read or written before the function returns. */
static CUresult
submit_copy (Call *call, const char *name, CUstream stream_handle, Copy copy, bool wait)
{
  Stream *stream = find_stream (call->context, stream_handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!copy.width || !copy.height)
    return CUDA_SUCCESS;
  if (!copy.from.start || !copy.to.start ||
      (copy.height > 1 && (copy.from.pitch < copy.width || copy.to.pitch < copy.width)))
    return CUDA_ERROR_INVALID_VALUE;
  Place from = place_of (copy, copy.from), to = place_of (copy, copy.to);
  if (from == Place::nowhere || to == Place::nowhere) {
    const Side &side = from == Place::nowhere ? copy.from : copy.to;
    if (side.is_host)
      complain ("%s: %p is device memory, but host memory is needed", name,
          static_cast<void *> (side.start));
    else
      complain ("%s: %zu bytes at %p are not inside one allocation of device memory", name,
          copy.span (side), static_cast<void *> (side.start));
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (stream->capture && (wait || from == Place::pageable || to == Place::pageable))
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  statistics.copies++;

  std::shared_ptr<std::vector<char>> staged;
  if (from == Place::pageable) {
    staged = std::make_shared<std::vector<char>> (copy.width * copy.height);
    Copy in = copy;
    in.to = {staged->data (), copy.width, false, true};
    copy_rows (in);
    copy.from = in.to;
  }
  OperationPointer operation;
  CUresult result = submit (
      stream, CU_GRAPH_NODE_TYPE_MEMCPY, name,
      [copy, staged, name, from, to] {
        {
          std::lock_guard<std::mutex> lock (driver_lock);
          if ((from != Place::pageable && place_of (copy, copy.from) != from) ||
              (to != Place::pageable && place_of (copy, copy.to) != to)) {
            complain ("%s: its memory was freed before it completed", name);
            return CUDA_ERROR_ILLEGAL_ADDRESS;
          }
        }
        copy_rows (copy);
        return CUDA_SUCCESS;
      },
      &operation);
  if (result || stream->capture)
    return result;
  if (wait || to == Place::pageable) {
    statistics.synchronisations += wait;
    Context *context = call->context;
    wait_for (operation, call->lock);
    return context->error;
  }
  return CUDA_SUCCESS;
}

static Side
device_side (CUdeviceptr pointer, size_t pitch)
{
  return {static_cast<char *> (host_pointer (pointer)), pitch, true, false};
}

static Side
host_side (const void *pointer, size_t pitch)
{
  return {static_cast<char *> (const_cast<void *> (pointer)), pitch, false, true};
}

static Side
any_side (CUdeviceptr pointer, size_t pitch)
{
  return {static_cast<char *> (host_pointer (pointer)), pitch, false, false};
}

static CUresult
copy_bytes (
    const char *name, CUstream stream, const Side &to, const Side &from, size_t size, bool wait)
{
  Call call (CallKind::copy);
  return call.error ? call.error : submit_copy (&call, name, stream, {from, to, size, 1}, wait);
}

EXPORT
cuMemcpyHtoD_v2 (CUdeviceptr to, const void *from, size_t size)
{
  return copy_bytes (
      "cuMemcpyHtoD", nullptr, device_side (to, size), host_side (from, size), size, true);
}

EXPORT
cuMemcpyHtoDAsync_v2 (CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
  return copy_bytes (
      "cuMemcpyHtoDAsync", stream, device_side (to, size), host_side (from, size), size, false);
}

EXPORT
cuMemcpyDtoH_v2 (void *to, CUdeviceptr from, size_t size)
{
  return copy_bytes (
      "cuMemcpyDtoH", nullptr, host_side (to, size), device_side (from, size), size, true);
}

EXPORT
cuMemcpyDtoHAsync_v2 (void *to, CUdeviceptr from, size_t size, CUstream stream)
{
  return copy_bytes (
      "cuMemcpyDtoHAsync", stream, host_side (to, size), device_side (from, size), size, false);
}

/* Despite its name, this function does not make the host wait. */
EXPORT
cuMemcpyDtoD_v2 (CUdeviceptr to, CUdeviceptr from, size_t size)
{
  return copy_bytes (
      "cuMemcpyDtoD", nullptr, device_side (to, size), device_side (from, size), size, false);
}

EXPORT
cuMemcpyDtoDAsync_v2 (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
  return copy_bytes (
      "cuMemcpyDtoDAsync", stream, device_side (to, size), device_side (from, size), size, false);
}

static bool
belongs_to (CUdeviceptr pointer, CUcontext context)
{
  const Allocation *allocation = find_allocation (host_pointer (pointer));
  return allocation && allocation->context == reinterpret_cast<Context *> (context);
}

EXPORT
cuMemcpyPeerAsync (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
    size_t size, CUstream stream)
{
  Call call (CallKind::copy);
  if (call.error)
    return call.error;
  if (!belongs_to (to, to_context) || !belongs_to (from, from_context)) {
    complain ("cuMemcpyPeerAsync: memory of another context");
    return CUDA_ERROR_INVALID_VALUE;
  }
  return submit_copy (&call, "cuMemcpyPeerAsync", stream,
      {device_side (from, size), device_side (to, size), size, 1}, false);
}

EXPORT
cuMemcpy (CUdeviceptr to, CUdeviceptr from, size_t size)
{
  return copy_bytes ("cuMemcpy", nullptr, any_side (to, size), any_side (from, size), size, true);
}

EXPORT
cuMemcpyAsync (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
  return copy_bytes (
      "cuMemcpyAsync", stream, any_side (to, size), any_side (from, size), size, false);
}

static bool
read_side (Side *side, CUmemorytype type, const void *host, CUdeviceptr device, size_t x, size_t y,
    size_t pitch, size_t width)
{
  pitch = pitch ? pitch : width + x;
  switch (int (type)) {
  case CU_MEMORYTYPE_HOST:
    *side = host_side (host, pitch);
    break;
  case CU_MEMORYTYPE_DEVICE:
    *side = device_side (device, pitch);
    break;
  case CU_MEMORYTYPE_UNIFIED:
    *side = any_side (device, pitch);
    break;
  default:
    return false;
  }
  side->x = x;
  if (side->start)
    side->start += y * pitch + x;
  return x + width <= pitch;
}

static CUresult
copy_2d (const char *name, const CUDA_MEMCPY2D *p, CUstream stream, bool wait)
{
  Call call (CallKind::copy);
  if (call.error)
    return call.error;
  Copy copy;
  if (!p ||
      !read_side (&copy.from, p->srcMemoryType, p->srcHost, p->srcDevice, p->srcXInBytes, p->srcY,
          p->srcPitch, p->WidthInBytes) ||
      !read_side (&copy.to, p->dstMemoryType, p->dstHost, p->dstDevice, p->dstXInBytes, p->dstY,
          p->dstPitch, p->WidthInBytes))
    return CUDA_ERROR_INVALID_VALUE;
  copy.width = p->WidthInBytes;
  copy.height = p->Height;
  return submit_copy (&call, name, stream, copy, wait);
}

EXPORT
cuMemcpy2D_v2 (const CUDA_MEMCPY2D *copy)
{
  return copy_2d ("cuMemcpy2D", copy, nullptr, true);
}

EXPORT
cuMemcpy2DUnaligned_v2 (const CUDA_MEMCPY2D *copy)
{
  return copy_2d ("cuMemcpy2DUnaligned", copy, nullptr, true);
}

EXPORT
cuMemcpy2DAsync_v2 (const CUDA_MEMCPY2D *copy, CUstream stream)
{
  return copy_2d ("cuMemcpy2DAsync", copy, stream, false);
}

/* Memsets with elements of one, two or four bytes. */

static CUresult
set_rows (const char *name, CUdeviceptr to, size_t pitch, unsigned value, unsigned element_size,
    size_t width, size_t height, CUstream stream_handle)
{
  Call call (CallKind::copy);
  if (call.error)
    return call.error;
  Stream *stream = find_stream (call.context, stream_handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!width || !height)
    return CUDA_SUCCESS;
  size_t bytes = width * element_size;
  size_t span = (height - 1) * pitch + bytes;
  char *start = static_cast<char *> (host_pointer (to));
  if ((height > 1 && pitch < bytes) || to % element_size ||
      !(lies_in_device_memory (start, span) || lies_in_pinned_memory (start, span))) {
    complain ("%s: %zu bytes at %p are not inside one allocation of device memory", name, span,
        static_cast<void *> (start));
    return CUDA_ERROR_INVALID_VALUE;
  }
  statistics.copies++;
  return submit (stream, CU_GRAPH_NODE_TYPE_MEMSET, name, [=] {
    {
      std::lock_guard<std::mutex> lock (driver_lock);
      if (!lies_in_device_memory (start, span) && !lies_in_pinned_memory (start, span)) {
        complain ("%s: its memory was freed before it completed", name);
        return CUDA_ERROR_ILLEGAL_ADDRESS;
      }
    }
    for (size_t y = 0; y < height; y++) {
      char *row = start + y * pitch;
      if (element_size == 1) {
        memset (row, int (value), width);
        continue;
      }
      for (size_t x = 0; x < width; x++)
        memcpy (row + x * element_size, &value, element_size);
    }
    return CUDA_SUCCESS;
  });
}

EXPORT
cuMemsetD8_v2 (CUdeviceptr to, unsigned char value, size_t n)
{
  return set_rows ("cuMemsetD8", to, n, value, 1, n, 1, nullptr);
}

EXPORT
cuMemsetD8Async (CUdeviceptr to, unsigned char value, size_t n, CUstream stream)
{
  return set_rows ("cuMemsetD8Async", to, n, value, 1, n, 1, stream);
}

EXPORT
cuMemsetD16_v2 (CUdeviceptr to, unsigned short value, size_t n)
{
  return set_rows ("cuMemsetD16", to, 2 * n, value, 2, n, 1, nullptr);
}

EXPORT
cuMemsetD16Async (CUdeviceptr to, unsigned short value, size_t n, CUstream stream)
{
  return set_rows ("cuMemsetD16Async", to, 2 * n, value, 2, n, 1, stream);
}

EXPORT
cuMemsetD32_v2 (CUdeviceptr to, unsigned value, size_t n)
{
  return set_rows ("cuMemsetD32", to, 4 * n, value, 4, n, 1, nullptr);
}

EXPORT
cuMemsetD32Async (CUdeviceptr to, unsigned value, size_t n, CUstream stream)
{
  return set_rows ("cuMemsetD32Async", to, 4 * n, value, 4, n, 1, stream);
}

EXPORT
cuMemsetD2D8_v2 (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height)
{
  return set_rows ("cuMemsetD2D8", to, pitch, value, 1, width, height, nullptr);
}

EXPORT
cuMemsetD2D8Async (
    CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream)
{
  return set_rows ("cuMemsetD2D8Async", to, pitch, value, 1, width, height, stream);
}

EXPORT
cuMemsetD2D32_v2 (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height)
{
  return set_rows ("cuMemsetD2D32", to, pitch, value, 4, width, height, nullptr);
}

EXPORT
cuMemsetD2D32Async (
    CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, CUstream stream)
{
  return set_rows ("cuMemsetD2D32Async", to, pitch, value, 4, width, height, stream);
}
