/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GPUs, and arrays and columns of component tables in their memory. */
#include "module.h"

#include <map>

int
device_of (uintptr_t address)
{
  CclError error = {};
  const int device = ccl_cuda_find_device_of ((const void *)address, &error);
  if (device < 0)
    throw nb::value_error (error.status == CUDACCL_ERROR_ARGUMENT
                               ? "the array's address is not in the memory of a GPU"
                               : "the array says that it is on a GPU, but there is no NVIDIA "
                                 "driver here");
  return device;
}

CclCudaDevice *
open_device (int number)
{
  static std::map<int, CclCudaDevice *> devices;
  if (number == HOST)
    return nullptr;
  const auto known = devices.find (number);
  if (known != devices.end ())
    return known->second;
  CclError error = {};
  CclCudaDevice *device = ccl_cuda_device_open (number, &error);
  if (!device)
    raise (error);
  return devices[number] = device;
}

/* The bytes of an array; ValueError if memory cannot have so many. */
static size_t
size_of (const std::vector<size_t> &shape, size_t size)
{
  bool is_empty = false;
  for (size_t length : shape)
    is_empty |= length == 0;
  if (is_empty)
    return 0;
  for (size_t length : shape)
    if (__builtin_mul_overflow (size, length, &size) || size > PTRDIFF_MAX)
      throw nb::value_error ("an array of this shape is too large");
  return size;
}

static const std::map<std::string, ElementType> ELEMENT_TYPES = {{"bool", {'b', 1}},
    {"uint8", {'u', 1}}, {"uint16", {'u', 2}}, {"uint32", {'u', 4}}, {"uint64", {'u', 8}},
    {"int8", {'i', 1}}, {"int16", {'i', 2}}, {"int32", {'i', 4}}, {"int64", {'i', 8}},
    {"float32", {'f', 4}}, {"float64", {'f', 8}}};

/* Device memory that other libraries can read. */
class DeviceMemory {
public:
  DeviceMemory (const DeviceMemory &) = delete;

  nb::typed<nb::dict, nb::str, nb::any>
  cuda_array_interface () const
  {
    nb::dict interface;
    interface["shape"] = nb::tuple (nb::cast (shape_));
    interface["typestr"] = nb::str (
        (std::string (type_.size == 1 ? "|" : "<") + type_.kind + std::to_string (type_.size))
            .c_str ());
    interface["data"] = nb::make_tuple ((uintptr_t)memory_, is_read_only_);
    interface["strides"] = stride_ ? nb::object (nb::make_tuple (stride_)) : nb::none ();
    interface["version"] = 3;
    return interface;
  }

  nb::object
  tensor (nb::handle self) const
  {
    return is_read_only_ ? tensor_of<nb::ro> (self) : tensor_of<> (self);
  }

  int
  device () const
  {
    return number_;
  }

  size_t
  length () const
  {
    if (shape_.empty ())
      throw nb::type_error ("an array without dimensions has no len()");
    return shape_[0];
  }

protected:
  DeviceMemory (std::vector<size_t> shape, ElementType type, int device)
      : shape_ (std::move (shape)), type_ (type), number_ (device)
  {
  }

  template <typename... Config>
  nb::object
  tensor_of (nb::handle self) const
  {
    const auto code = type_.kind == 'b'   ? nb::dlpack::dtype_code::Bool
                      : type_.kind == 'i' ? nb::dlpack::dtype_code::Int
                      : type_.kind == 'f' ? nb::dlpack::dtype_code::Float
                                          : nb::dlpack::dtype_code::UInt;
    const int64_t stride = (int64_t)stride_ / type_.size;
    return nb::cast (nb::ndarray<nb::array_api, Config...> (memory_, shape_.size (), shape_.data (),
        self, stride_ ? &stride : nullptr, {(uint8_t)code, (uint8_t)(8 * type_.size), 1},
        nb::device::cuda::value, number_));
  }

  std::vector<size_t> shape_;
  ElementType type_;
  int number_;
  void *memory_ = nullptr;
  size_t stride_ = 0; /* bytes; 0: C order, without gaps */
  bool is_read_only_ = false;
};

/* A column of rows that another object owns, which it keeps alive. */
class DeviceColumn : public DeviceMemory {
public:
  DeviceColumn (
      nb::object owner, uintptr_t address, size_t length, size_t stride, bool is_real, int device)
      : DeviceMemory ({length}, {is_real ? 'f' : 'i', is_real ? 8 : 4}, device),
        owner_ (std::move (owner))
  {
    memory_ = length ? (void *)address : nullptr;
    stride_ = stride;
    is_read_only_ = true;
  }

private:
  nb::object owner_;
};

static ElementType
element_type_of (const std::string &dtype)
{
  const auto known = ELEMENT_TYPES.find (dtype);
  if (known == ELEMENT_TYPES.end ())
    throw nb::type_error (
        "a DeviceArray is of bool, integers, or floats of 32 or 64 bits, not of this type");
  return known->second;
}

/* An array in device memory, in C order, without gaps. */
class DeviceArray : public DeviceMemory {
public:
  DeviceArray (std::vector<size_t> shape, const std::string &dtype, int device)
      : DeviceMemory (std::move (shape), element_type_of (dtype), device)
  {
    if (device < 0)
      throw nb::value_error ("a GPU's number is not negative");
    n_bytes_ = size_of (shape_, (size_t)type_.size);
    device_ = open_device (device);
    CclError error = {};
    check (ccl_cuda_memory_new (device_, n_bytes_, &memory_, &error), error);
  }

  ~DeviceArray ()
  {
    ccl_cuda_memory_free (device_, &memory_);
  }

  void
  copy (void *host, bool to_host) const
  {
    call_library ([&] (CclError *error) {
      return to_host ? ccl_cuda_memory_download (device_, memory_, host, n_bytes_, error)
                     : ccl_cuda_memory_upload (device_, host, memory_, n_bytes_, error);
    });
  }

  size_t
  n_bytes () const
  {
    return n_bytes_;
  }

  Shape
  shape () const
  {
    return nb::tuple (nb::cast (shape_));
  }

  std::string
  type_name () const
  {
    return type_.name ();
  }

  /* As numpy.empty() prints shapes: (3, 4). */
  std::string
  text () const
  {
    const nb::str shape = nb::str (nb::tuple (nb::cast (shape_)));
    return "<cudaccl.DeviceArray of " + type_name () + ", shape " + shape.c_str () +
           ", on cuda:" + std::to_string (number_) + ">";
  }

private:
  size_t n_bytes_;
  CclCudaDevice *device_ = nullptr; /* open until the process ends */
};

/* use_instead: why the memory cannot be copied to NumPy without a word. */
template <typename Array>
static void
bind_device_memory (nb::class_<Array> &bound, const char *use_instead)
{
  bound.def ("__len__", &Array::length)
      .def_prop_ro ("device", &Array::device, "The GPU's number.")
      .def_prop_ro ("__cuda_array_interface__", &Array::cuda_array_interface)
      .def (
          "__array__",
          [=] (nb::handle, const nb::args &, const nb::kwargs &) -> nb::object {
            throw nb::type_error (use_instead);
          },
          nb::sig ("def __array__(self, *arguments: object, **options: object) -> typing.Any"))
      .def (
          "__dlpack__",
          [] (nb::handle self, const nb::kwargs &options) {
            const nb::object tensor = nb::cast<const Array &> (self).tensor (self);
            return tensor.attr ("__dlpack__") (**options);
          },
          nb::sig ("def __dlpack__(self, **options: typing.Any) -> object"))
      .def ("__dlpack_device__", [] (const Array &array) {
        return std::pair<int, int> (nb::device::cuda::value, array.device ());
      });
}

void
bind_device (nb::module_ &module)
{
  nb::class_<DeviceArray> array (module, "DeviceArray",
      "An array in the memory of a GPU: a C-contiguous block that other libraries read through\n"
      "DLPack or __cuda_array_interface__. Since: 0.2");
  array
      .def (
          nb::init<std::vector<size_t>, std::string, int> (), "shape"_a, "dtype"_a, "device"_a = 0)
      .def_prop_ro ("shape", &DeviceArray::shape, "The lengths of the dimensions.")
      .def_prop_ro (
          "dtype",
          [] (const DeviceArray &array) {
            return nb::module_::import_ ("numpy").attr ("dtype") (array.type_name ());
          },
          nb::sig ("def dtype(self) -> numpy.dtype[typing.Any]"),
          "The type of the elements: bool, an integer, float32 or float64.")
      .def_prop_ro (
          "ndim", [] (const DeviceArray &array) { return array.shape ().size (); },
          "The number of dimensions.")
      .def ("__repr__", &DeviceArray::text)
      .def_prop_ro ("nbytes", &DeviceArray::n_bytes, "Bytes.")
      .def (
          "copy_to_host",
          [] (nb::handle self) {
            return nb::module_::import_ ("cudaccl").attr ("copy_to_host") (self);
          },
          nb::sig ("def copy_to_host(self) -> numpy.typing.NDArray[typing.Any]"),
          "A new array of NumPy of the same shape and type. Since: 0.4")
      .def (
          "_copy",
          [] (const DeviceArray &array, nb::handle host, bool to_host) {
            const Buffer bytes (host, to_host ? PyBUF_CONTIG : PyBUF_CONTIG_RO);
            if ((size_t)bytes.view.len != array.n_bytes ())
              throw nb::value_error ("the arrays differ in size");
            array.copy (bytes.view.buf, to_host);
          },
          "host"_a, "to_host"_a);
  bind_device_memory (array, "the array is in the memory of a GPU: its method copy_to_host() makes "
                             "an array of NumPy of it");
  nb::class_<DeviceColumn> column (module, "DeviceColumn",
      "A column of a component table in the memory of a GPU, which other libraries read through\n"
      "DLPack or __cuda_array_interface__. Since: 0.3");
  column.def (nb::init<nb::object, uintptr_t, size_t, size_t, bool, int> (), "owner"_a, "address"_a,
      "length"_a, "stride"_a, "is_real"_a, "device"_a);
  bind_device_memory (column,
      "the column is in the memory of a GPU: copy_to_host() of its table makes an array of NumPy");
}
