/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the extension module share: errors, arrays of callers, devices. */
/* a guard: the compiler refuses #pragma once in a header that it precompiles */
#ifndef CUDACCL_PYTHON_MODULE_H
#define CUDACCL_PYTHON_MODULE_H

#include <cudaccl/cudaccl.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "exchange.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

namespace nb = nanobind;

/* A shape as Python has it. */
using Shape = nb::typed<nb::tuple, size_t, nb::ellipsis>;

/* The device number of arrays and objects in host memory. */
constexpr int HOST = -1;

/* Raises the Python exception for an error of the library. */
[[noreturn]] void raise (const CclError &error);

/* Raises if a call of the library failed. */
inline void
check (CclStatus status, const CclError &error)
{
  if (status != CUDACCL_OK)
    raise (error);
  if (PyErr_Occurred ()) /* of a signal */
    throw nb::python_error ();
}

/* Whether Ctrl-C, or another signal, has made Python raise an exception. Asks twenty
 * times a second at most. Call without the GIL. */
bool is_interrupted (void *);

/* Releases the GIL while the library works, which Ctrl-C stops: the functions then return
 * CUDACCL_ERROR_INTERRUPTED, and raise() throws what Python's handler of the signal has raised. */
class WithoutGil {
public:
  WithoutGil ()
  {
    ccl_set_interruption (is_interrupted, nullptr);
  }
  ~WithoutGil ()
  {
    ccl_set_interruption (nullptr, nullptr);
  }
  WithoutGil (const WithoutGil &) = delete;

private:
  nb::gil_scoped_release release_;
};

/* Calls call (error) without the GIL, and raises if it does not return CUDACCL_OK. */
template <typename Call>
void
call_library (Call call)
{
  CclError error = {};
  CclStatus status;
  {
    const WithoutGil release;
    status = call (&error);
  }
  check (status, error);
}

/* The same with the mutex of an object, because two Python threads may call at once. A thread that
 * waits for the mutex does not hold the GIL. Returns the lock: results in the object's memory are
 * valid as long as it is held. */
template <typename Call>
std::unique_lock<std::mutex>
call_library (std::mutex &mutex, Call call)
{
  std::unique_lock<std::mutex> lock (mutex, std::defer_lock);
  call_library ([&] (CclError *error) {
    lock.lock ();
    return call (error);
  });
  return lock;
}

/* The integer as uint32_t; ValueError with the argument's name if it is out of range. */
uint32_t to_uint32 (const char *name, int64_t value);

/* The GPU of that number. It stays open until the process ends. Call with the GIL held. */
CclCudaDevice *open_device (int number);

/* The number of the GPU whose memory an address is in; ValueError if it is in none's. */
int device_of (uintptr_t address);

/* The element types of arrays. */
struct ElementType {
  char kind;             /* 'b' bool, 'i' signed integer, 'u' unsigned integer, 'f' float */
  int size;              /* bytes */
  bool is_brain = false; /* bfloat16: a float of 16 bits with the exponent of float32 */

  bool
  is_byte () const
  {
    return size == 1 && kind != 'i';
  }

  std::string name () const;
};

/* The caller's array in host or device memory, imported without a copy through the buffer
 * protocol, __cuda_array_interface__ or DLPack. The memory stays valid as long as the view. */
class View {
public:
  /* stream: the CUstream on which the array is to be used. Without it, the stream that the array or
   * its library names is used, or 0: the legacy default stream. */
  View (nb::handle object, std::optional<uintptr_t> stream, bool writable);
  View (const View &) = delete;
  ~View ();

  char *data = nullptr;
  std::vector<size_t> shape;
  std::vector<ptrdiff_t> strides; /* bytes; those of dimensions of length 1 are as in C order */
  ElementType type = {'u', 1};
  int device = HOST;
  uintptr_t stream = 0;

  size_t n_elements () const;

  /* Whether the elements of a row are consecutive, and rows and slices do not overlap. */
  bool has_plain_rows () const;

  /* The same, where an array on a GPU whose elements lie in another way is replaced by a copy on
   * that GPU first. */
  bool make_plain ();

  /* Copies what has been written to such a copy to the caller's array. */
  void write_back () const;

  /* Keeps one channel of an array whose last dimension has channels. */
  void take_channel (size_t channel);

  /* Raises if this is no label map in host memory of so many dimensions. */
  void check_host_labels (size_t n_dimensions) const;

private:
  bool import_exchange (const ExchangeApi *api, nb::handle object,
      std::optional<uintptr_t> wanted_stream, bool writable);
  bool import_buffer (nb::handle object, bool writable);
  bool import_cuda_array_interface (
      nb::handle object, std::optional<uintptr_t> wanted_stream, bool writable);
  bool import_dlpack (nb::handle object, std::optional<uintptr_t> wanted_stream, bool writable);
  void normalise_strides ();
  void check_capture () const;
  void copy_elements (bool back) const;

  std::unique_ptr<ExchangedArray, ReleaseExchanged> exchanged_;
  Py_buffer buffer_ = {};
  nb::object owner_;
  nb::ndarray<nb::ro> tensor_;
  bool is_writable_;
  char *scattered_ = nullptr; /* the caller's elements, where data is a copy of them */
  std::vector<ptrdiff_t> scattered_strides_;
};

/* Frees the device memory that is kept for copies of arrays. Call with the GIL held. */
void free_blocks ();

/* A threshold for pixels of any type. */
struct Threshold {
  int64_t whole; /* for integers */
  double real;   /* for floats */
};

/* number: an integer, for floats any number. */
Threshold threshold_for (const View &image, const std::variant<int64_t, double> &number);

/* Converts host memory to a foreground mask: 1 where a value is greater than the threshold. */
void make_mask (const View &image, const Threshold &threshold, uint8_t *mask);

/* Each part adds its classes to the module. */
void bind_batch (nb::module_ &module);
void bind_chunks (nb::module_ &module);
void bind_view (nb::module_ &module);
void bind_device (nb::module_ &module);
void bind_device_column (nb::module_ &module);
void bind_labeller (nb::module_ &module);
void bind_contours (nb::module_ &module);
void bind_distance (nb::module_ &module);
void bind_measure (nb::module_ &module);
void bind_foreground (nb::module_ &module);
void bind_ground (nb::module_ &module);
void bind_plain_images (nb::module_ &module);
void bind_tiled (nb::module_ &module);
void bind_values (nb::module_ &module);
void bind_tracker (nb::module_ &module);

#endif /* CUDACCL_PYTHON_MODULE_H */
