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
#include <utility>
#include <variant>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals; /* "name"_a: an argument of that name */

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

/* Releases the GIL while the library works. Ctrl-C stops that work: the function then returns
 * CUDACCL_ERROR_INTERRUPTED, and raise() throws the exception of Python's signal handler. */
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

/* An object of the library. */
template <typename Object, void (*free_object) (Object **)> class Handle {
public:
  Handle () = default;

  Handle (Handle &&other) noexcept : object_ (std::exchange (other.object_, nullptr))
  {
  }

  Handle &
  operator= (Handle &&other) noexcept
  {
    std::swap (object_, other.object_);
    return *this;
  }

  ~Handle ()
  {
    free_object (&object_);
  }

  void
  reset (Object *object)
  {
    free_object (&object_);
    object_ = object;
  }

  /* Keeps the object that create (error) returns, which is called without the GIL; raises if that
   * is NULL. */
  template <typename Create>
  void
  make (Create create)
  {
    call_library ([&] (CclError *error) {
      reset (create (error));
      return object_ ? CUDACCL_OK : error->status;
    });
  }

  operator Object * () const
  {
    return object_;
  }

private:
  Object *object_ = nullptr;
};

/* Memory that an object lends by the buffer protocol. */
class Buffer {
public:
  Buffer () = default;
  Buffer (const Buffer &) = delete;

  Buffer (nb::handle object, int flags)
  {
    if (!get (object, flags))
      throw nb::python_error ();
  }

  ~Buffer ()
  {
    if (view.obj)
      PyBuffer_Release (&view);
  }

  /* Returns false, with a Python exception, if the object does not lend it. */
  bool
  get (nb::handle object, int flags)
  {
    if (PyObject_GetBuffer (object.ptr (), &view, flags) == 0)
      return true;
    view.obj = nullptr;
    return false;
  }

  Py_buffer view = {};
};

/* The integer as uint32_t; ValueError with the argument's name if it is out of range. */
uint32_t to_uint32 (const char *name, int64_t value);

/* The GPU of that number, NULL for HOST. It stays open until the process ends. Call with the GIL
 * held. */
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

  /* The stream for functions of the library, which wait for the legacy default stream, 1, by
   * themselves. */
  void *
  library_stream () const
  {
    return stream == 1 ? nullptr : (void *)stream;
  }

  CclLocation
  location () const
  {
    return device == HOST ? CUDACCL_LOCATION_HOST : CUDACCL_LOCATION_DEVICE;
  }

  /* Whether the elements of a row are consecutive, and rows and slices do not overlap. */
  bool has_plain_rows () const;

  /* Whether there are no gaps between the elements. */
  bool has_no_gaps () const;

  /* The same of an array that must be in host memory. */
  bool
  is_dense () const
  {
    return device == HOST && has_no_gaps ();
  }

  /* The same as has_plain_rows(), but an array on a GPU without plain rows is first replaced by a
   * copy that has them, on that GPU. */
  bool make_plain ();

  /* Writes such a copy back to the caller's array. */
  void write_back () const;

  /* Keeps one channel of an array whose last dimension has channels. */
  void take_channel (size_t channel);

  /* Whether this is a plain map of int32 or uint32, of two or three dimensions, perhaps after
   * make_plain(). */
  bool make_words ();

  /* Raises if it is none, or, with a number of dimensions, none in host memory that has so many. */
  void check_labels ();
  void check_host_labels (size_t n_dimensions) const;

  /* Raises if this is not such a map for an image of a shape, on the device that labels it. */
  void check_map_of (const std::vector<size_t> &image, int labelled_on);

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

/* A map of words with plain rows, an image or a volume, and its size. */
struct WordMap {
  explicit WordMap (const View &view);

  CclVolumeLabels map;
  uint32_t width, height, depth; /* depth: 1 of an image */
};

/* Frees the device memory that is kept for copies of arrays. Call with the GIL held. */
void free_blocks ();

/* The type of values for the library; of floats of 16 bits, that of integers of 16. */
CclValueType value_type_of (const ElementType &type);

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
