/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices, contexts, modules, launches. */
#include "driver.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <pthread.h>
#include <vector>

#include "memory.h"
#include "tests/simcuda/settings.h"
#include "tests/simcuda/simcuda.h"

using namespace simcuda;

namespace simcuda {

Statistics statistics;

static bool initialised, forked;

/* A thread's stack of contexts. Plain data without a destructor: programs also call the driver from
 * exit handlers, which run after the destructors of thread-local objects. */
class ContextStack {
public:
  bool
  empty () const
  {
    return n_ == 0;
  }

  Context *
  back () const
  {
    return contexts_[n_ - 1];
  }

  void
  push_back (Context *context)
  {
    if (n_ == sizeof contexts_ / sizeof *contexts_) {
      complain ("a thread ended with %zu contexts that it pushed and never popped", n_);
      abort ();
    }
    contexts_[n_++] = context;
  }

  void
  pop_back ()
  {
    n_--;
  }

private:
  Context *contexts_[1000];
  size_t n_;
};
static thread_local ContextStack context_stack;

Context *
current_context ()
{
  return context_stack.empty () ? nullptr : context_stack.back ();
}

Call::Call (CallKind kind, bool needs_context) : lock (driver_lock), context (current_context ())
{
  /* As with the real driver, a forked child cannot use its parent's CUDA state. */
  error = !initialised || forked ? CUDA_ERROR_NOT_INITIALIZED : count_call (kind);
  if (error == CUDA_SUCCESS && needs_context) {
    if (!context || !is_handle (context, HandleKind::context))
      error = CUDA_ERROR_INVALID_CONTEXT;
    else
      error = context->error;
  }
}

/* The kernels. */

static std::map<std::string, Kernel> &
kernels ()
{
  static std::map<std::string, Kernel> all;
  return all;
}

void
register_kernel (const Kernel &kernel)
{
  if (!kernels ().emplace (kernel.name, kernel).second) {
    complain ("two kernels are named %s", kernel.name);
    abort ();
  }
}

const Kernel *
find_kernel (const char *name)
{
  auto found = kernels ().find (name);
  return found == kernels ().end () ? nullptr : &found->second;
}

/* The file that contains the code at an address, for messages. */
static const char *
caller_file (void *address)
{
  Dl_info info;
  return dladdr (address, &info) && info.dli_fname ? info.dli_fname : "somebody";
}

} /* namespace simcuda */

static bool
valid_device (CUdevice device)
{
  return device >= 0 && device < settings ().n_devices;
}

#define EXPORT extern "C" __attribute__ ((visibility ("default"))) CUresult

/* Called by the generated stubs of driver functions that the simulator does not implement. */
EXPORT
simcuda_not_simulated (const char *name, void *caller)
{
  complain ("%s is not simulated (called by %s)", name, caller_file (caller));
  return CUDA_ERROR_NOT_SUPPORTED;
}

EXPORT
cuInit (unsigned flags)
{
  std::lock_guard<std::mutex> lock (driver_lock);
  if (flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (forked)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (settings ().n_devices == 0)
    return CUDA_ERROR_NO_DEVICE;
  CUresult fault = count_call (CallKind::init);
  if (fault != CUDA_SUCCESS)
    return fault;
  if (!initialised) {
    if (settings ().seed)
      complain ("SIMCUDA_SEED=%llu", (unsigned long long)settings ().seed);
    pthread_atfork (nullptr, nullptr, [] { forked = true; });
    initialised = true;
  }
  return CUDA_SUCCESS;
}

EXPORT
cuDriverGetVersion (int *version)
{
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

/* Devices. */

EXPORT
cuDeviceGetCount (int *count)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = settings ().n_devices;
  return CUDA_SUCCESS;
}

EXPORT
cuDeviceGet (CUdevice *device, int ordinal)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device (ordinal))
    return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

EXPORT
cuDeviceGetName (char *name, int length, CUdevice device)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  if (!name || length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device (device))
    return CUDA_ERROR_INVALID_DEVICE;
  snprintf (name, size_t (length), "%s", settings ().name.c_str ());
  return CUDA_SUCCESS;
}

EXPORT
cuDeviceGetUuid_v2 (CUuuid *uuid, CUdevice device)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  if (!valid_device (device))
    return CUDA_ERROR_INVALID_DEVICE;
  memset (uuid, 0, sizeof *uuid);
  memcpy (uuid->bytes, "simcuda", 7);
  uuid->bytes[15] = char (device);
  return CUDA_SUCCESS;
}

EXPORT
cuDeviceGetPCIBusId (char *text, int length, CUdevice device)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  if (!valid_device (device))
    return CUDA_ERROR_INVALID_DEVICE;
  snprintf (text, size_t (length), "0000:%02x:00.0", device + 1);
  return CUDA_SUCCESS;
}

EXPORT
cuDeviceTotalMem_v2 (size_t *bytes, CUdevice device)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  if (!valid_device (device))
    return CUDA_ERROR_INVALID_DEVICE;
  *bytes = settings ().memory;
  return CUDA_SUCCESS;
}

/* Values of a recent GPU; attributes not listed are 0. */
static int
attribute_value (CUdevice_attribute attribute, CUdevice device)
{
  const Settings &s = settings ();
  auto chosen = s.attributes.find (attribute);
  if (chosen != s.attributes.end ())
    return chosen->second;
  switch (int (attribute)) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    return 1024;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return 64;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    return 0x7fffffff;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    return 65535;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return 48 * 1024;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return 227 * 1024;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return 228 * 1024;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return 1024;
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    return 64 * 1024;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return 32;
  case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
    return 0x7fffffff;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return 65536;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return 1000000;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return 64;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return 4 << 20;
  case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
    return 512;
  case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
    return 32;
  case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
  case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
  case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
  case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    return 1;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return s.n_multiprocessors;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return 2048;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    return 32;
  case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
    return device + 1;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return s.compute_capability / 10;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return s.compute_capability % 10;
  default:
    return 0;
  }
}

EXPORT
cuDeviceGetAttribute (int *value, CUdevice_attribute attribute, CUdevice device)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  if (!value || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device (device))
    return CUDA_ERROR_INVALID_DEVICE;
  *value = attribute_value (attribute, device);
  return CUDA_SUCCESS;
}

EXPORT
cuDeviceCanAccessPeer (int *can, CUdevice device, CUdevice peer)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  if (!can)
    return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device (device) || !valid_device (peer))
    return CUDA_ERROR_INVALID_DEVICE;
  *can = 0;
  return CUDA_SUCCESS;
}

EXPORT
cuCtxEnablePeerAccess (CUcontext, unsigned)
{
  Call call;
  return call.error ? call.error : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

EXPORT
cuCtxDisablePeerAccess (CUcontext)
{
  Call call;
  return call.error ? call.error : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

/* Contexts. */

static Context *primary[16];

static Context *
new_context (int device, unsigned flags)
{
  Context *context = new Context;
  context->device = device;
  context->flags = flags;
  context->legacy.context = context;
  add_handle (context, HandleKind::context);
  return context;
}

static void
destroy_context (Context *context, std::unique_lock<std::mutex> &lock)
{
  drain (context, lock);
  for (Stream *stream : context->streams) {
    remove_handle (stream);
    delete stream;
  }
  release_all (context);
  remove_handle (context);
  delete context;
}

EXPORT
cuCtxCreate_v2 (CUcontext *handle, unsigned flags, CUdevice device)
{
  Call call (CallKind::create, false);
  if (call.error)
    return call.error;
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device (device))
    return CUDA_ERROR_INVALID_DEVICE;
  Context *context = new_context (device, flags);
  context_stack.push_back (context);
  *handle = reinterpret_cast<CUcontext> (context);
  return CUDA_SUCCESS;
}

EXPORT
cuCtxCreate_v3 (
    CUcontext *handle, CUexecAffinityParam *, int n_parameters, unsigned flags, CUdevice device)
{
  return n_parameters ? CUDA_ERROR_NOT_SUPPORTED : cuCtxCreate_v2 (handle, flags, device);
}

EXPORT
cuCtxCreate_v4 (CUcontext *handle, CUctxCreateParams *parameters, unsigned flags, CUdevice device)
{
  return parameters ? CUDA_ERROR_NOT_SUPPORTED : cuCtxCreate_v2 (handle, flags, device);
}

EXPORT
cuCtxDestroy_v2 (CUcontext handle)
{
  Call call (CallKind::other, false);
  Context *context = reinterpret_cast<Context *> (handle);
  if (!is_handle (context, HandleKind::context) || context->is_primary)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!context_stack.empty () && context_stack.back () == context)
    context_stack.pop_back ();
  destroy_context (context, call.lock);
  return call.error;
}

EXPORT
cuDevicePrimaryCtxRetain (CUcontext *handle, CUdevice device)
{
  Call call (CallKind::create, false);
  if (call.error)
    return call.error;
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device (device))
    return CUDA_ERROR_INVALID_DEVICE;
  if (!primary[device]) {
    primary[device] = new_context (device, 0);
    primary[device]->is_primary = true;
  }
  primary[device]->n_references++;
  *handle = reinterpret_cast<CUcontext> (primary[device]);
  return CUDA_SUCCESS;
}

EXPORT
cuDevicePrimaryCtxRelease_v2 (CUdevice device)
{
  Call call (CallKind::other, false);
  if (!valid_device (device))
    return CUDA_ERROR_INVALID_DEVICE;
  if (!primary[device])
    return CUDA_ERROR_INVALID_CONTEXT;
  if (--primary[device]->n_references == 0) {
    Context *context = primary[device];
    primary[device] = nullptr;
    destroy_context (context, call.lock);
  }
  return call.error;
}

EXPORT
cuDevicePrimaryCtxGetState (CUdevice device, unsigned *flags, int *active)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  if (!valid_device (device))
    return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *active = primary[device] != nullptr;
  return CUDA_SUCCESS;
}

EXPORT
cuDevicePrimaryCtxSetFlags_v2 (CUdevice device, unsigned)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  return valid_device (device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

EXPORT
cuCtxPushCurrent_v2 (CUcontext handle)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  Context *context = reinterpret_cast<Context *> (handle);
  if (!is_handle (context, HandleKind::context))
    return CUDA_ERROR_INVALID_CONTEXT;
  context_stack.push_back (context);
  return CUDA_SUCCESS;
}

EXPORT
cuCtxPopCurrent_v2 (CUcontext *handle)
{
  /* Works on a lost device, too: the context stack belongs to the calling thread. */
  if (context_stack.empty ())
    return CUDA_ERROR_INVALID_CONTEXT;
  if (handle)
    *handle = reinterpret_cast<CUcontext> (context_stack.back ());
  context_stack.pop_back ();
  return CUDA_SUCCESS;
}

EXPORT
cuCtxSetCurrent (CUcontext handle)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  Context *context = reinterpret_cast<Context *> (handle);
  if (context && !is_handle (context, HandleKind::context))
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!context_stack.empty ())
    context_stack.pop_back ();
  if (context)
    context_stack.push_back (context);
  return CUDA_SUCCESS;
}

EXPORT
cuCtxGetCurrent (CUcontext *handle)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  *handle = reinterpret_cast<CUcontext> (call.context);
  return CUDA_SUCCESS;
}

EXPORT
cuCtxGetDevice (CUdevice *device)
{
  Call call;
  if (call.error)
    return call.error;
  *device = call.context->device;
  return CUDA_SUCCESS;
}

EXPORT
cuCtxGetFlags (unsigned *flags)
{
  Call call;
  if (call.error)
    return call.error;
  *flags = call.context->flags;
  return CUDA_SUCCESS;
}

EXPORT
cuCtxGetApiVersion (CUcontext, unsigned *version)
{
  *version = 3020;
  return CUDA_SUCCESS;
}

/* The limits of a new context. */
EXPORT
cuCtxGetLimit (size_t *value, CUlimit limit)
{
  Call call;
  if (call.error)
    return call.error;
  switch (limit) {
  case CU_LIMIT_STACK_SIZE:
    *value = 1024;
    return CUDA_SUCCESS;
  case CU_LIMIT_PRINTF_FIFO_SIZE:
    *value = 1 << 20;
    return CUDA_SUCCESS;
  case CU_LIMIT_MALLOC_HEAP_SIZE:
    *value = 8 << 20;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  }
}

EXPORT
cuCtxGetStreamPriorityRange (int *least, int *greatest)
{
  Call call;
  if (call.error)
    return call.error;
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return CUDA_SUCCESS;
}

EXPORT
cuCtxSynchronize (void)
{
  Call call (CallKind::synchronise);
  if (call.error)
    return call.error;
  statistics.synchronisations++;
  drain (call.context, call.lock);
  return call.context->error;
}

/* Modules. */

EXPORT
cuModuleLoadData (CUmodule *handle, const void *image)
{
  Call call (CallKind::create);
  if (call.error)
    return call.error;
  if (!handle || !image)
    return CUDA_ERROR_INVALID_VALUE;
  Module *module = new Module;
  module->context = call.context;
  add_handle (module, HandleKind::module);
  *handle = reinterpret_cast<CUmodule> (module);
  return CUDA_SUCCESS;
}

EXPORT
cuModuleLoadDataEx (CUmodule *handle, const void *image, unsigned, CUjit_option *, void **)
{
  return cuModuleLoadData (handle, image);
}

EXPORT
cuModuleLoadFatBinary (CUmodule *handle, const void *image)
{
  return cuModuleLoadData (handle, image);
}

EXPORT
cuModuleUnload (CUmodule handle)
{
  Call call;
  Module *module = reinterpret_cast<Module *> (handle);
  if (!is_handle (module, HandleKind::module))
    return CUDA_ERROR_INVALID_HANDLE;
  for (auto &i : module->functions)
    remove_handle (i.second.get ());
  remove_handle (module);
  delete module;
  return call.error;
}

EXPORT
cuModuleGetFunction (CUfunction *handle, CUmodule module_handle, const char *name)
{
  void *caller = __builtin_return_address (0);
  Call call;
  if (call.error)
    return call.error;
  Module *module = reinterpret_cast<Module *> (module_handle);
  if (!handle || !name)
    return CUDA_ERROR_INVALID_VALUE;
  if (!is_handle (module, HandleKind::module))
    return CUDA_ERROR_INVALID_HANDLE;
  std::unique_ptr<Function> &function = module->functions[name];
  if (!function) {
    const Kernel *kernel = find_kernel (name);
    if (!kernel) {
      complain ("no kernel named %s is part of the simulator (requested by %s)", name,
          caller_file (caller));
      module->functions.erase (name);
      return CUDA_ERROR_NOT_FOUND;
    }
    function.reset (new Function{kernel, module, 48 * 1024});
    add_handle (function.get (), HandleKind::function);
  }
  *handle = reinterpret_cast<CUfunction> (function.get ());
  return CUDA_SUCCESS;
}

static Function *
find_function (CUfunction handle)
{
  Function *function = reinterpret_cast<Function *> (handle);
  return is_handle (function, HandleKind::function) ? function : nullptr;
}

EXPORT
cuFuncGetAttribute (int *value, CUfunction_attribute attribute, CUfunction handle)
{
  Call call;
  if (call.error)
    return call.error;
  Function *function = find_function (handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  switch (int (attribute)) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = function->kernel->max_threads;
    break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = 32;
    break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    *value = settings ().compute_capability;
    break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = int (function->most_dynamic_shared);
    break;
  default:
    *value = 0;
    break;
  }
  return CUDA_SUCCESS;
}

EXPORT
cuFuncSetAttribute (CUfunction handle, CUfunction_attribute attribute, int value)
{
  Call call;
  if (call.error)
    return call.error;
  Function *function = find_function (handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    if (value < 0 || value > 227 * 1024)
      return CUDA_ERROR_INVALID_VALUE;
    function->most_dynamic_shared = unsigned (value);
  }
  return CUDA_SUCCESS;
}

EXPORT
cuFuncSetCacheConfig (CUfunction handle, CUfunc_cache)
{
  Call call;
  if (call.error)
    return call.error;
  return find_function (handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

EXPORT
cuFuncGetParamInfo (CUfunction handle, size_t index, size_t *offset, size_t *size)
{
  Call call;
  if (call.error)
    return call.error;
  Function *function = find_function (handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (index >= function->kernel->parameters.size ())
    return CUDA_ERROR_INVALID_VALUE;
  *offset = function->kernel->parameters[index].offset;
  if (size)
    *size = function->kernel->parameters[index].size;
  return CUDA_SUCCESS;
}

EXPORT
cuOccupancyMaxActiveBlocksPerMultiprocessor (
    int *n_blocks, CUfunction handle, int block_size, size_t dynamic_shared)
{
  Call call;
  if (call.error)
    return call.error;
  Function *function = find_function (handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!n_blocks || block_size <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  *n_blocks =
      block_size > function->kernel->max_threads
          ? 0
          : int (blocks_per_multiprocessor (unsigned (block_size), unsigned (dynamic_shared)));
  return CUDA_SUCCESS;
}

EXPORT
cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags (
    int *n_blocks, CUfunction handle, int block_size, size_t dynamic_shared, unsigned)
{
  return cuOccupancyMaxActiveBlocksPerMultiprocessor (n_blocks, handle, block_size, dynamic_shared);
}

/* Launches. */

/* Checks a launch as the driver does and copies its parameters. */
static CUresult
make_launch (Launch *launch, const Function *function, void **parameters, void **extra)
{
  const Kernel *kernel = function->kernel;
  const Size3 &grid = launch->grid, &block = launch->block;

  launch->kernel = kernel;
  launch->context = function->module->context;
  if (!grid.count () || !block.count () || grid.x > 0x7fffffff || grid.y > 65535 ||
      grid.z > 65535 || block.x > 1024 || block.y > 1024 || block.z > 64 || block.count () > 1024 ||
      launch->dynamic_shared > function->most_dynamic_shared) {
    complain (
        "kernel %s cannot be launched with %u × %u × %u blocks of %u × %u × %u threads and %u "
        "bytes of shared memory",
        kernel->name, grid.x, grid.y, grid.z, block.x, block.y, block.z, launch->dynamic_shared);
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (block.count () > uint64_t (kernel->max_threads)) {
    complain ("kernel %s, compiled for %d threads a block, cannot be launched with %llu",
        kernel->name, kernel->max_threads, (unsigned long long)block.count ());
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  }
  if (launch->cooperative &&
      grid.count () >
          uint64_t (settings ().n_multiprocessors) *
              blocks_per_multiprocessor (unsigned (block.count ()), launch->dynamic_shared))
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;

  launch->parameters.assign (kernel->parameters_size, 0);
  if (extra) {
    const void *buffer = nullptr;
    size_t size = 0;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
      if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
        buffer = extra[i + 1];
      else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
        size = *static_cast<size_t *> (extra[i + 1]);
      else
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (parameters || !buffer || size != kernel->parameters_size) {
      complain ("kernel %s takes %zu bytes of parameters, not %zu", kernel->name,
          kernel->parameters_size, size);
      return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy (launch->parameters.data (), buffer, size);
    return CUDA_SUCCESS;
  }
  for (size_t i = 0; i < kernel->parameters.size (); i++) {
    if (!parameters || !parameters[i]) {
      complain ("kernel %s takes %zu parameters; number %zu is missing", kernel->name,
          kernel->parameters.size (), i + 1);
      return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy (launch->parameters.data () + kernel->parameters[i].offset, parameters[i],
        kernel->parameters[i].size);
  }
  return CUDA_SUCCESS;
}

static CUresult
submit_launch (Call *call, CUfunction function_handle, Launch *launch, CUstream stream_handle,
    void **parameters, void **extra)
{
  Function *function = find_function (function_handle);
  Stream *stream = find_stream (call->context, stream_handle);
  if (!function || !stream || function->module->context != call->context)
    return CUDA_ERROR_INVALID_HANDLE;
  CUresult result = make_launch (launch, function, parameters, extra);
  if (result)
    return result;
  statistics.launches++;
  if (stream->capture) {
    GraphNode *node = graph_add (stream->capture, CU_GRAPH_NODE_TYPE_KERNEL, launch->kernel->name,
        stream->capture_ends, nullptr);
    graph_set_launch (node, function, *launch);
    add_handle (node, HandleKind::graph_node);
    stream->capture_ends = {node};
    return CUDA_SUCCESS;
  }
  return submit (stream, CU_GRAPH_NODE_TYPE_KERNEL, launch->kernel->name, launch_work (*launch));
}

EXPORT
cuLaunchKernel (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, CUstream stream,
    void **parameters, void **extra)
{
  Call call (CallKind::launch);
  if (call.error)
    return call.error;
  Launch launch;
  launch.grid = {grid_x, grid_y, grid_z};
  launch.block = {block_x, block_y, block_z};
  launch.dynamic_shared = shared;
  return submit_launch (&call, function, &launch, stream, parameters, extra);
}

EXPORT
cuLaunchCooperativeKernel (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, CUstream stream,
    void **parameters)
{
  Call call (CallKind::launch);
  if (call.error)
    return call.error;
  Launch launch;
  launch.grid = {grid_x, grid_y, grid_z};
  launch.block = {block_x, block_y, block_z};
  launch.dynamic_shared = shared;
  launch.cooperative = true;
  return submit_launch (&call, function, &launch, stream, parameters, nullptr);
}

EXPORT
cuLaunchKernelEx (
    const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra)
{
  Call call (CallKind::launch);
  if (call.error)
    return call.error;
  if (!config || (config->numAttrs && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  Launch launch;
  launch.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
  launch.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
  launch.dynamic_shared = config->sharedMemBytes;
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const CUlaunchAttribute &attribute = config->attrs[i];
    switch (int (attribute.id)) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      launch.cooperative = attribute.value.cooperative;
      break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      launch.programmatic = attribute.value.programmaticStreamSerializationAllowed;
      break;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      break;
    default:
      complain ("launch attribute %d is not simulated", int (attribute.id));
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  }
  return submit_launch (&call, function, &launch, config->hStream, parameters, extra);
}

/* Graphs. */

static Graph *
valid_graph (CUgraph handle)
{
  Graph *graph = reinterpret_cast<Graph *> (handle);
  return is_handle (graph, HandleKind::graph) ? graph : nullptr;
}

static GraphNode *
valid_node (CUgraphNode handle)
{
  GraphNode *node = reinterpret_cast<GraphNode *> (handle);
  return is_handle (node, HandleKind::graph_node) ? node : nullptr;
}

EXPORT
cuGraphCreate (CUgraph *handle, unsigned flags)
{
  Call call (CallKind::create, false);
  if (call.error)
    return call.error;
  if (!handle || flags)
    return CUDA_ERROR_INVALID_VALUE;
  Graph *graph = new Graph;
  add_handle (graph, HandleKind::graph);
  *handle = reinterpret_cast<CUgraph> (graph);
  return CUDA_SUCCESS;
}

EXPORT
cuGraphDestroy (CUgraph handle)
{
  Call call (CallKind::other, false);
  Graph *graph = valid_graph (handle);
  if (!graph)
    return CUDA_ERROR_INVALID_VALUE;
  for (auto &node : graph->nodes)
    remove_handle (node.get ());
  remove_handle (graph);
  delete graph;
  return call.error;
}

EXPORT
cuGraphGetNodes (CUgraph handle, CUgraphNode *nodes, size_t *n_nodes)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  Graph *graph = valid_graph (handle);
  if (!graph || !n_nodes)
    return CUDA_ERROR_INVALID_VALUE;
  if (nodes) {
    size_t n = std::min (*n_nodes, graph->nodes.size ());
    for (size_t i = 0; i < *n_nodes; i++)
      nodes[i] = i < n ? reinterpret_cast<CUgraphNode> (graph->nodes[i].get ()) : nullptr;
    *n_nodes = n;
  } else {
    *n_nodes = graph->nodes.size ();
  }
  return CUDA_SUCCESS;
}

EXPORT
cuGraphNodeGetType (CUgraphNode handle, CUgraphNodeType *type)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  GraphNode *node = valid_node (handle);
  if (!node || !type)
    return CUDA_ERROR_INVALID_VALUE;
  *type = node->type;
  return CUDA_SUCCESS;
}

static CUresult
launch_of_parameters (
    Launch *launch, Function **function, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
  if (!parameters || !(*function = find_function (parameters->func)))
    return CUDA_ERROR_INVALID_VALUE;
  launch->grid = {parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ};
  launch->block = {parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ};
  launch->dynamic_shared = parameters->sharedMemBytes;
  return make_launch (launch, *function, parameters->kernelParams, parameters->extra);
}

EXPORT
cuGraphAddKernelNode_v2 (CUgraphNode *handle, CUgraph graph_handle, const CUgraphNode *after,
    size_t n_after, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
  Call call (CallKind::launch);
  if (call.error)
    return call.error;
  Graph *graph = valid_graph (graph_handle);
  if (!graph || !handle || (n_after && !after))
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode *> others;
  for (size_t i = 0; i < n_after; i++) {
    others.push_back (valid_node (after[i]));
    if (!others.back ())
      return CUDA_ERROR_INVALID_VALUE;
  }
  Launch launch;
  Function *function;
  CUresult result = launch_of_parameters (&launch, &function, parameters);
  if (result)
    return result;
  GraphNode *node =
      graph_add (graph, CU_GRAPH_NODE_TYPE_KERNEL, launch.kernel->name, others, nullptr);
  graph_set_launch (node, function, launch);
  add_handle (node, HandleKind::graph_node);
  *handle = reinterpret_cast<CUgraphNode> (node);
  return CUDA_SUCCESS;
}

/* Whether a node of the graph was added before another one. */
static bool
is_before (const Graph *graph, const GraphNode *first, const GraphNode *second)
{
  bool found = false;
  for (const auto &node : graph->nodes) {
    if (node.get () == second)
      return found;
    found |= node.get () == first;
  }
  return false;
}

/* Edges must lead to nodes that were added later. One that starts at the programmatic port of a
 * kernel lets the next kernel start before that one has ended. */
EXPORT
cuGraphAddDependencies_v2 (CUgraph graph_handle, const CUgraphNode *from, const CUgraphNode *to,
    const CUgraphEdgeData *edges, size_t n_edges)
{
  Call call (CallKind::create);
  if (call.error)
    return call.error;
  Graph *graph = valid_graph (graph_handle);
  if (!graph || (n_edges && (!from || !to)))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n_edges; i++) {
    GraphNode *upper = valid_node (from[i]), *lower = valid_node (to[i]);
    const CUgraphEdgeData edge = edges ? edges[i] : CUgraphEdgeData{};
    const bool is_programmatic = edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    const int port = is_programmatic ? CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC
                                     : CU_GRAPH_KERNEL_NODE_PORT_DEFAULT;
    if (!upper || !lower || !is_before (graph, upper, lower) || edge.from_port != port ||
        edge.to_port || (is_programmatic && (!upper->function || !lower->function)))
      return CUDA_ERROR_INVALID_VALUE;
    lower->after.push_back (upper);
    lower->launch.programmatic |= is_programmatic;
  }
  return CUDA_SUCCESS;
}

EXPORT
cuGraphKernelNodeGetParams_v2 (CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
  Call call (CallKind::other, false);
  if (call.error)
    return call.error;
  GraphNode *node = valid_node (handle);
  if (!node || !node->function || !parameters)
    return CUDA_ERROR_INVALID_VALUE;
  memset (parameters, 0, sizeof *parameters);
  parameters->func = reinterpret_cast<CUfunction> (node->function);
  parameters->gridDimX = node->launch.grid.x;
  parameters->gridDimY = node->launch.grid.y;
  parameters->gridDimZ = node->launch.grid.z;
  parameters->blockDimX = node->launch.block.x;
  parameters->blockDimY = node->launch.block.y;
  parameters->blockDimZ = node->launch.block.z;
  parameters->sharedMemBytes = node->launch.dynamic_shared;
  parameters->kernelParams = node->parameters.data ();
  return CUDA_SUCCESS;
}

/* Changes a node's launch parameters; its launch attributes stay. */
static CUresult
change_launch (GraphNode *node, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
  Launch launch;
  Function *function;
  CUresult result = launch_of_parameters (&launch, &function, parameters);
  if (result)
    return result;
  launch.cooperative = node->launch.cooperative;
  launch.programmatic = node->launch.programmatic;
  graph_set_launch (node, function, launch);
  return CUDA_SUCCESS;
}

EXPORT
cuGraphKernelNodeSetParams_v2 (CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
  Call call (CallKind::other);
  if (call.error)
    return call.error;
  GraphNode *node = valid_node (handle);
  if (!node || !node->function)
    return CUDA_ERROR_INVALID_VALUE;
  return change_launch (node, parameters);
}

EXPORT
cuGraphInstantiateWithFlags (CUgraphExec *handle, CUgraph graph_handle, unsigned long long)
{
  Call call (CallKind::create);
  if (call.error)
    return call.error;
  Graph *graph = valid_graph (graph_handle);
  if (!graph || !handle)
    return CUDA_ERROR_INVALID_VALUE;
  GraphExec *exec = graph_instantiate (*graph).release ();
  add_handle (exec, HandleKind::graph_exec);
  *handle = reinterpret_cast<CUgraphExec> (exec);
  return CUDA_SUCCESS;
}

EXPORT
cuGraphInstantiateWithParams (
    CUgraphExec *handle, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *parameters)
{
  CUresult result = cuGraphInstantiateWithFlags (handle, graph, parameters->flags);
  parameters->result_out = result ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return result;
}

EXPORT
cuGraphExecDestroy (CUgraphExec handle)
{
  Call call (CallKind::other, false);
  GraphExec *exec = reinterpret_cast<GraphExec *> (handle);
  if (!is_handle (exec, HandleKind::graph_exec))
    return CUDA_ERROR_INVALID_VALUE;
  remove_handle (exec);
  delete exec;
  return call.error;
}

EXPORT
cuGraphExecKernelNodeSetParams_v2 (
    CUgraphExec handle, CUgraphNode node_handle, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters)
{
  Call call (CallKind::other);
  if (call.error)
    return call.error;
  GraphExec *exec = reinterpret_cast<GraphExec *> (handle);
  GraphNode *original = valid_node (node_handle);
  if (!is_handle (exec, HandleKind::graph_exec) || !original)
    return CUDA_ERROR_INVALID_VALUE;
  GraphNode *node = graph_find (exec, original);
  if (!node || !node->function)
    return CUDA_ERROR_INVALID_VALUE;
  return change_launch (node, parameters);
}

EXPORT
cuGraphUpload (CUgraphExec handle, CUstream stream)
{
  Call call;
  if (call.error)
    return call.error;
  if (!is_handle (handle, HandleKind::graph_exec) || !find_stream (call.context, stream))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

EXPORT
cuGraphLaunch (CUgraphExec handle, CUstream stream_handle)
{
  Call call (CallKind::launch);
  if (call.error)
    return call.error;
  GraphExec *exec = reinterpret_cast<GraphExec *> (handle);
  Stream *stream = find_stream (call.context, stream_handle);
  if (!is_handle (exec, HandleKind::graph_exec) || !stream)
    return CUDA_ERROR_INVALID_VALUE;
  statistics.launches++;
  return submit (stream, CU_GRAPH_NODE_TYPE_GRAPH, "a graph", graph_work (*exec));
}

/* Looking up functions. */

EXPORT
cuGetProcAddress_v2 (
    const char *name, void **function, int, cuuint64_t, CUdriverProcAddressQueryResult *found)
{
  void *caller = __builtin_return_address (0);
  static const char *const suffixes[] = {"_v4", "_v3", "_v2", ""};
  if (!name || !function)
    return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  Dl_info info;
  dladdr (reinterpret_cast<void *> (cuInit), &info);
  void *self = dlopen (info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  for (const char *suffix : suffixes) {
    if (!*function && self)
      *function = dlsym (self, (std::string (name) + suffix).c_str ());
  }
  if (self)
    dlclose (self);
  if (found)
    *found = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (!*function)
    complain ("the simulator has no function %s (requested by %s)", name, caller_file (caller));
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

extern "C" __attribute__ ((visibility ("default"))) CUresult simcuda_get_proc_address (
    const char *name, void **function, int version, cuuint64_t flags) asm("cuGetProcAddress");
extern "C" CUresult
simcuda_get_proc_address (const char *name, void **function, int version, cuuint64_t flags)
{
  return cuGetProcAddress_v2 (name, function, version, flags, nullptr);
}

/* For tests. */

__attribute__ ((visibility ("default"))) int
simcuda_order_fault (const char *text)
{
  std::lock_guard<std::mutex> lock (driver_lock);
  return order_fault (text) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

__attribute__ ((visibility ("default"))) void
simcuda_get_statistics (SimcudaStatistics *s)
{
  std::lock_guard<std::mutex> lock (driver_lock);
  ScheduleStatistics schedule = schedule_statistics ();
  s->allocations = statistics.allocations;
  s->copies = statistics.copies;
  s->launches = statistics.launches;
  s->synchronisations = statistics.synchronisations;
  s->captures = statistics.captures;
  s->faults = count_faults ();
  s->threads = schedule.threads;
  s->switches = schedule.switches;
  s->device_allocations = count_allocations (MemoryKind::device);
  s->pinned_allocations = count_allocations (MemoryKind::pinned);
  s->contexts = count_handles (HandleKind::context);
  s->streams = count_handles (HandleKind::stream);
  s->events = count_handles (HandleKind::event);
  s->modules = count_handles (HandleKind::module);
  s->graphs = count_handles (HandleKind::graph) + count_handles (HandleKind::graph_exec);
}

/* SIMCUDA_REPORT_LEAKS: reports the objects that still exist when the process ends. */
namespace {
struct LeakReport {
  ~LeakReport ()
  {
    if (!settings ().report_leaks)
      return;
    SimcudaStatistics s;
    simcuda_get_statistics (&s);
    complain (
        "not freed: %llu device and %llu pinned allocations, %llu contexts, %llu streams, %llu "
        "events, %llu modules, %llu graphs",
        (unsigned long long)s.device_allocations, (unsigned long long)s.pinned_allocations,
        (unsigned long long)s.contexts, (unsigned long long)s.streams, (unsigned long long)s.events,
        (unsigned long long)s.modules, (unsigned long long)s.graphs);
    complain ("calls: %llu allocations, %llu copies, %llu launches, %llu synchronisations, %llu "
              "threads, %llu switches",
        (unsigned long long)s.allocations, (unsigned long long)s.copies,
        (unsigned long long)s.launches, (unsigned long long)s.synchronisations,
        (unsigned long long)s.threads, (unsigned long long)s.switches);
  }
} leak_report;
} /* namespace */
