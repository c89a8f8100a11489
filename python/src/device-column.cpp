/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Columns of component tables in device memory. */
#include "module.h"

/* A column of rows that another object owns, which it keeps alive. */
class DeviceColumn {
public:
  DeviceColumn (
      nb::object owner, uintptr_t address, size_t length, size_t stride, bool is_real, int device)
      : owner_ (std::move (owner)), address_ (address), length_ (length), stride_ (stride),
        is_real_ (is_real), device_ (device)
  {
  }

  nb::typed<nb::dict, nb::str, nb::any>
  cuda_array_interface () const
  {
    nb::dict interface;
    interface["shape"] = nb::make_tuple (length_);
    interface["typestr"] = nb::str (is_real_ ? "<f8" : "<i4");
    interface["data"] = nb::make_tuple (length_ ? address_ : 0, true);
    interface["strides"] = nb::make_tuple (stride_);
    interface["version"] = 3;
    return interface;
  }

  nb::object
  tensor (nb::handle self) const
  {
    const int bytes = is_real_ ? 8 : 4;
    const auto code = is_real_ ? nb::dlpack::dtype_code::Float : nb::dlpack::dtype_code::Int;
    const int64_t stride = (int64_t)stride_ / bytes;
    return nb::cast (nb::ndarray<nb::array_api, nb::ro> ((void *)address_, 1, &length_, self,
        &stride, {(uint8_t)code, (uint8_t)(8 * bytes), 1}, nb::device::cuda::value, device_));
  }

  size_t
  length () const
  {
    return length_;
  }

  int
  device () const
  {
    return device_;
  }

private:
  nb::object owner_;
  uintptr_t address_;
  size_t length_, stride_; /* elements, bytes */
  bool is_real_;
  int device_;
};

void
bind_device_column (nb::module_ &module)
{
  nb::class_<DeviceColumn> column (module, "DeviceColumn",
      "A column of a component table in the memory of a GPU, which other libraries read through\n"
      "DLPack or __cuda_array_interface__. Since: 0.3");
  column.def (nb::init<nb::object, uintptr_t, size_t, size_t, bool, int> (), "owner"_a, "address"_a,
      "length"_a, "stride"_a, "is_real"_a, "device"_a);
  bind_device_memory (column,
      "the column is in the memory of a GPU: copy_to_host() of its table makes an array of NumPy");
}
