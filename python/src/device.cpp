/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GPUs and arrays in their memory. */
#include "module.h"

#include <dlfcn.h>
#include <map>

/* Functions of the CUDA driver API, with its types written out: no CUDA header is needed. */
struct Driver {
  int (*init) (unsigned);
  int (*pointer_attribute) (void *, int, unsigned long long);
  int (*device_get) (int *, int);
  int (*primary_context_retain) (void **, int);
  int (*context_push) (void *);
  int (*context_pop) (void **);
  int (*allocate) (unsigned long long *, size_t);
  int (*free) (unsigned long long);
  int (*copy_to_host) (void *, unsigned long long, size_t);
  int (*copy_to_device) (unsigned long long, const void *, size_t);
  int (*error_name) (int, const char **);
};

/* CU_POINTER_ATTRIBUTE_MEMORY_TYPE with CU_MEMORYTYPE_DEVICE, and …_DEVICE_ORDINAL. */
constexpr int MEMORY_TYPE = 2, DEVICE_MEMORY = 2, DEVICE_ORDINAL = 9;

template <typename Function>
static bool
load (void *library, const char *name, Function &function)
{
  function = (Function)dlsym (library, name);
  return function != nullptr;
}

/* The driver, or NULL where there is none. */
static const Driver *
find_driver ()
{
  static Driver driver;
  static const bool found = [] {
    void *library = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library && load (library, "cuInit", driver.init) &&
           load (library, "cuPointerGetAttribute", driver.pointer_attribute) &&
           load (library, "cuDeviceGet", driver.device_get) &&
           load (library, "cuDevicePrimaryCtxRetain", driver.primary_context_retain) &&
           load (library, "cuCtxPushCurrent_v2", driver.context_push) &&
           load (library, "cuCtxPopCurrent_v2", driver.context_pop) &&
           load (library, "cuMemAlloc_v2", driver.allocate) &&
           load (library, "cuMemFree_v2", driver.free) &&
           load (library, "cuMemcpyDtoH_v2", driver.copy_to_host) &&
           load (library, "cuMemcpyHtoD_v2", driver.copy_to_device) &&
           load (library, "cuGetErrorName", driver.error_name) && driver.init (0) == 0;
  }();
  return found ? &driver : nullptr;
}

static const Driver &
need_driver ()
{
  const Driver *driver = find_driver ();
  if (!driver)
    throw std::runtime_error ("there is no NVIDIA driver here");
  return *driver;
}

static void
check_result (int result, const char *what)
{
  if (result == 0)
    return;
  const char *name = nullptr;
  find_driver ()->error_name (result, &name);
  const std::string message = std::string (what) + ": " + (name ? name : "unknown error");
  if (result == 2) { /* CUDA_ERROR_OUT_OF_MEMORY */
    PyErr_SetString (PyExc_MemoryError, message.c_str ());
    throw nb::python_error ();
  }
  throw std::runtime_error (message);
}

int
device_of (uintptr_t address)
{
  const Driver *driver = find_driver ();
  unsigned memory_type = 0;
  int device = 0;
  if (!driver || driver->pointer_attribute (&memory_type, MEMORY_TYPE, address) != 0 ||
      memory_type != DEVICE_MEMORY ||
      driver->pointer_attribute (&device, DEVICE_ORDINAL, address) != 0)
    throw nb::value_error (driver ? "the array's address is not in the memory of a GPU"
                                  : "the array says that it is on a GPU, but there is no NVIDIA "
                                    "driver here");
  return device;
}

CclCudaDevice *
open_device (int number)
{
  static std::map<int, CclCudaDevice *> devices;
  const auto known = devices.find (number);
  if (known != devices.end ())
    return known->second;
  CclError error = {};
  CclCudaDevice *device = ccl_cuda_device_open (number, &error);
  if (!device)
    raise (error);
  return devices[number] = device;
}

/* Makes a device's primary context current. */
class CurrentContext {
public:
  explicit CurrentContext (int number) : driver_ (need_driver ())
  {
    static std::map<int, void *> contexts; /* retained until the process ends */
    void *&context = contexts[number];
    int device = 0;
    check_result (driver_.device_get (&device, number), "cuDeviceGet");
    if (!context)
      check_result (driver_.primary_context_retain (&context, device), "cuDevicePrimaryCtxRetain");
    check_result (driver_.context_push (context), "cuCtxPushCurrent");
  }

  CurrentContext (const CurrentContext &) = delete;

  ~CurrentContext ()
  {
    void *context;
    driver_.context_pop (&context);
  }

private:
  const Driver &driver_;
};

/* An array in device memory, in C order, without gaps. */
class DeviceArray {
public:
  DeviceArray (std::vector<size_t> shape, const std::string &dtype, int device)
      : shape_ (std::move (shape)), device_ (device)
  {
    if (dtype == "int32")
      type_ = {'i', 4};
    else if (dtype == "uint8")
      type_ = {'u', 1};
    else if (dtype == "bool")
      type_ = {'b', 1};
    else if (dtype == "float64")
      type_ = {'f', 8};
    else
      throw nb::type_error ("a DeviceArray is of int32, uint8, bool or float64");
    n_bytes_ = (size_t)type_.size;
    for (size_t length : shape_)
      n_bytes_ *= length;
    const CurrentContext current (device);
    if (n_bytes_ > 0)
      check_result (need_driver ().allocate (&address_, n_bytes_), "cuMemAlloc");
  }

  DeviceArray (const DeviceArray &) = delete;

  ~DeviceArray ()
  {
    if (!address_)
      return;
    const CurrentContext current (device_);
    need_driver ().free (address_);
  }

  void
  copy (void *host, bool to_host) const
  {
    if (n_bytes_ == 0)
      return;
    const Driver &driver = need_driver ();
    const CurrentContext current (device_);
    int result;
    {
      const nb::gil_scoped_release release;
      result = to_host ? driver.copy_to_host (host, address_, n_bytes_)
                       : driver.copy_to_device (address_, host, n_bytes_);
    }
    check_result (result, to_host ? "cuMemcpyDtoH" : "cuMemcpyHtoD");
  }

  nb::dict
  cuda_array_interface () const
  {
    nb::dict interface;
    interface["shape"] = nb::tuple (nb::cast (shape_));
    interface["typestr"] = nb::str (
        (std::string (type_.size == 1 ? "|" : "<") + type_.kind + std::to_string (type_.size))
            .c_str ());
    interface["data"] = nb::make_tuple (address_, false);
    interface["strides"] = nb::none ();
    interface["version"] = 3;
    return interface;
  }

  nb::object
  tensor (nb::handle self) const
  {
    const auto code = type_.kind == 'b'   ? nb::dlpack::dtype_code::Bool
                      : type_.kind == 'i' ? nb::dlpack::dtype_code::Int
                      : type_.kind == 'f' ? nb::dlpack::dtype_code::Float
                                          : nb::dlpack::dtype_code::UInt;
    return nb::cast (
        nb::ndarray<nb::array_api> ((void *)address_, shape_.size (), shape_.data (), self, nullptr,
            {(uint8_t)code, (uint8_t)(8 * type_.size), 1}, nb::device::cuda::value, device_));
  }

  size_t
  n_bytes () const
  {
    return n_bytes_;
  }

  int
  device () const
  {
    return device_;
  }

  nb::tuple
  shape () const
  {
    return nb::tuple (nb::cast (shape_));
  }

  std::string
  dtype () const
  {
    return type_.kind == 'f' ? "float64" : type_.name ();
  }

private:
  std::vector<size_t> shape_;
  ElementType type_;
  size_t n_bytes_;
  int device_;
  unsigned long long address_ = 0;
};

void
bind_device (nb::module_ &module)
{
  nb::class_<DeviceArray> (module, "DeviceArray",
      "An array in the memory of a GPU: a C-contiguous block that other libraries read through\n"
      "DLPack or __cuda_array_interface__. Since: 0.2")
      .def (nb::init<std::vector<size_t>, std::string, int> (), nb::arg ("shape"),
          nb::arg ("dtype"), nb::arg ("device") = 0)
      .def_prop_ro ("shape", &DeviceArray::shape, "The lengths of the dimensions.")
      .def_prop_ro ("dtype", &DeviceArray::dtype, "'int32', 'uint8', 'bool' or 'float64'.")
      .def_prop_ro ("device", &DeviceArray::device, "The GPU's number.")
      .def_prop_ro ("nbytes", &DeviceArray::n_bytes, "Bytes.")
      .def_prop_ro ("__cuda_array_interface__", &DeviceArray::cuda_array_interface)
      .def ("__dlpack__",
          [] (nb::handle self, const nb::kwargs &options) {
            const nb::object tensor = nb::cast<const DeviceArray &> (self).tensor (self);
            return tensor.attr ("__dlpack__") (**options);
          })
      .def ("__dlpack_device__",
          [] (const DeviceArray &array) {
            return nb::make_tuple (nb::device::cuda::value, array.device ());
          })
      .def (
          "_copy",
          [] (const DeviceArray &array, nb::handle host, bool to_host) {
            Py_buffer buffer;
            const int flags = to_host ? PyBUF_CONTIG : PyBUF_CONTIG_RO;
            if (PyObject_GetBuffer (host.ptr (), &buffer, flags) != 0)
              throw nb::python_error ();
            struct Release {
              Py_buffer *buffer;
              ~Release ()
              {
                PyBuffer_Release (buffer);
              }
            } release = {&buffer};
            if ((size_t)buffer.len != array.n_bytes ())
              throw nb::value_error ("the arrays differ in size");
            array.copy (buffer.buf, to_host);
          },
          nb::arg ("host"), nb::arg ("to_host"));
}
