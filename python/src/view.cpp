/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays of callers. */
#include "module.h"

#include <nanobind/stl/variant.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

std::string
ElementType::name () const
{
  if (kind == 'b')
    return "bool";
  if (is_brain)
    return "bfloat16";
  return (kind == 'u' ? "uint" : kind == 'i' ? "int" : "float") + std::to_string (8 * size);
}

[[noreturn]] static void
refuse_type (const std::string &type)
{
  throw nb::type_error (("arrays must hold bool, integers or floats, not " + type).c_str ());
}

static ElementType
check_type (char kind, int size, const std::string &name)
{
  if (kind == 'b' && size == 1)
    return {kind, size};
  if ((kind == 'i' || kind == 'u') && (size == 1 || size == 2 || size == 4 || size == 8))
    return {kind, size};
  if (kind == 'f' && (size == 2 || size == 4 || size == 8))
    return {kind, size, name == "bfloat16"};
  if (kind == 'f')
    throw nb::type_error (("pixels of " + name +
                           " cannot be read here: compare them with a threshold first, as in "
                           "image > 0.5")
                              .c_str ());
  refuse_type (name);
}

/* The element type of a format of the buffer protocol, as in Python's module struct. */
static ElementType
type_of_format (const char *format, int size)
{
  const char *code = format ? format : "B";
  if (*code == '@' || *code == '=' || *code == '<')
    code++;
  if (*code == '>' || *code == '!')
    throw nb::type_error ("arrays must be in the byte order of this machine");
  const std::string bits = std::to_string (8 * size);
  if (strlen (code) == 1) {
    if (*code == '?')
      return check_type ('b', size, "bool");
    if (strchr ("bhilqn", *code))
      return check_type ('i', size, "int" + bits);
    if (strchr ("BHILQN", *code))
      return check_type ('u', size, "uint" + bits);
    if (strchr ("efdg", *code))
      return check_type ('f', size, "float" + bits);
  }
  refuse_type (*code == 'Z'              ? "complex numbers"
               : *code == 'O'            ? "objects"
               : *code == 'T'            ? "structures"
               : strpbrk (code, "swcpx") ? "text or bytes"
                                         : "other types");
}

/* How the arrays of a class are imported. */
struct ArrayClass {
  const ExchangeApi *exchange; /* NULL: the class has none */
  bool has_cuda_interface;     /* whether it has __cuda_array_interface__, perhaps not for all */
};

/* What an object's class offers. To find that out takes long, so it is kept for each class, which
 * then lives until the process ends. */
static ArrayClass
class_of (nb::handle object)
{
  static std::unordered_map<PyObject *, ArrayClass> classes;
  const nb::handle type = object.type ();
  const auto known = classes.find (type.ptr ());
  if (known != classes.end ())
    return known->second;
  const ArrayClass found = {
      find_exchange_api (type), nb::hasattr (type, "__cuda_array_interface__")};
  if (found.exchange || found.has_cuda_interface)
    classes[nb::borrow (type).release ().ptr ()] = found;
  return found;
}

bool
View::import_buffer (nb::handle object, bool writable)
{
  if (!PyObject_CheckBuffer (object.ptr ()))
    return false;
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer (object.ptr (), &buffer_, flags) != 0) {
    buffer_.obj = nullptr;
    const nb::python_error error;
    if (writable && PyObject_GetBuffer (object.ptr (), &buffer_, PyBUF_STRIDES) == 0)
      throw nb::value_error ("the output array is read-only");
    PyErr_Clear ();
    buffer_.obj = nullptr;
    if (!nb::hasattr (object, "__dlpack__"))
      throw error;
    return false; /* an array on a GPU whose class also serves arrays in host memory */
  }
  data = (char *)buffer_.buf;
  type = type_of_format (buffer_.format, (int)buffer_.itemsize);
  shape.assign (buffer_.shape, buffer_.shape + buffer_.ndim);
  strides.assign (buffer_.strides, buffer_.strides + buffer_.ndim);
  return true;
}

/* The element type of a typestr of __cuda_array_interface__, such as "<u2". */
static ElementType
type_of_interface (const std::string &typestr)
{
  static const struct {
    char kind;
    const char *name;
  } names[] = {{'b', "bool"}, {'i', "int"}, {'u', "uint"}, {'f', "float"}, {'c', "complex"}};

  if (typestr.size () < 3 || typestr.size () > 6)
    refuse_type ("'" + typestr + "'");
  if (typestr[0] == '>')
    throw nb::type_error ("arrays must be in the byte order of this machine");
  const int size = atoi (typestr.c_str () + 2);
  for (const auto &known : names)
    if (known.kind == typestr[1])
      return check_type (known.kind, size, known.name + std::to_string (8 * size));
  refuse_type ("'" + typestr + "'");
}

bool
View::import_cuda_array_interface (
    nb::handle object, std::optional<uintptr_t> wanted_stream, bool writable)
{
  static PyObject *const name = PyUnicode_InternFromString ("__cuda_array_interface__");
  static PyObject *const keys[] = {PyUnicode_InternFromString ("stream"),
      PyUnicode_InternFromString ("mask"), PyUnicode_InternFromString ("typestr"),
      PyUnicode_InternFromString ("shape"), PyUnicode_InternFromString ("strides"),
      PyUnicode_InternFromString ("data")};
  enum { STREAM, MASK, TYPESTR, SHAPE, STRIDES, DATA };
  PyObject *found = PyObject_GetAttr (object.ptr (), name);
  if (!found) {
    PyErr_Clear (); /* libraries raise different errors for arrays in host memory */
    return false;
  }
  const nb::object interface = nb::steal (found);

  const auto field = [&] (int key) -> nb::object {
    PyObject *value = PyDict_GetItem (interface.ptr (), keys[key]);
    return value ? nb::borrow (value) : nb::none ();
  };
  if (!nb::isinstance<nb::dict> (interface))
    throw nb::type_error ("__cuda_array_interface__ is not a dict");
  /* Without a stream, nothing says when the array is complete; DLPack waits for it. */
  const nb::object given_stream = field (STREAM);
  if (!wanted_stream && given_stream.is_none () && nb::hasattr (object, "__dlpack__"))
    return false;
  if (!field (MASK).is_none ())
    throw nb::value_error ("masked arrays are not supported");

  bool is_read_only;
  try {
    type = type_of_interface (nb::cast<std::string> (field (TYPESTR)));
    shape = nb::cast<std::vector<size_t>> (field (SHAPE));
    const nb::object given_strides = field (STRIDES);
    if (!given_strides.is_none ())
      strides = nb::cast<std::vector<ptrdiff_t>> (given_strides);
    const auto [address, flag] = nb::cast<std::pair<uintptr_t, bool>> (field (DATA));
    data = (char *)address;
    is_read_only = flag;
    stream = wanted_stream || given_stream.is_none () ? wanted_stream.value_or (0)
                                                      : nb::cast<uintptr_t> (given_stream);
  } catch (const std::bad_cast &) {
    throw nb::type_error ("__cuda_array_interface__ has missing or wrong fields");
  }
  if (!strides.empty () && strides.size () != shape.size ())
    throw nb::value_error ("shape and strides of __cuda_array_interface__ differ in length");
  if (writable && is_read_only)
    throw nb::value_error ("the output array is read-only");
  device = n_elements () > 0 ? device_of ((uintptr_t)data) : 0;
  owner_ = nb::borrow (object);
  return true;
}

/* Whether a DLPack device is a GPU; ValueError if it is neither a GPU nor the host. */
static bool
is_on_gpu (int device_type)
{
  const bool on_gpu =
      device_type == nb::device::cuda::value || device_type == nb::device::cuda_managed::value;
  if (!on_gpu && device_type != nb::device::cpu::value &&
      device_type != nb::device::cuda_host::value)
    throw nb::value_error ("the array is neither in host memory nor on an NVIDIA GPU");
  return on_gpu;
}

static ElementType
type_of_dlpack (nb::dlpack::dtype dtype)
{
  static const struct {
    char kind;
    const char *name;
  } types[] = {{'i', "int"}, {'u', "uint"}, {'f', "float"}, {0, "handles of "}, {'f', "bfloat"},
      {'c', "complex"}, {'b', "bool"}};
  const bool is_known = dtype.code < sizeof types / sizeof *types;
  const std::string name = (is_known ? types[dtype.code].name : "other types of ") +
                           std::to_string (dtype.bits) +
                           (is_known && types[dtype.code].kind ? "" : " bits");

  if (dtype.lanes != 1)
    refuse_type ("vectors");
  return check_type (is_known ? types[dtype.code].kind : 0, dtype.bits / 8, name);
}

bool
View::import_exchange (const ExchangeApi *api, nb::handle object,
    std::optional<uintptr_t> wanted_stream, bool writable)
{
  if (!api)
    return false;
  exchanged_.reset (api->import_array (object));
  const nb::dlpack::dltensor &tensor = exchanged_->tensor;
  if (writable && exchanged_->is_read_only ())
    throw nb::value_error ("the output array is read-only");
  type = type_of_dlpack (tensor.dtype);
  data = (char *)tensor.data + tensor.byte_offset;
  shape.assign (tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides)
    for (int i = 0; i < tensor.ndim; i++)
      strides.push_back ((ptrdiff_t)tensor.strides[i] * type.size);
  if (is_on_gpu (tensor.device.device_type)) {
    device = tensor.device.device_id;
    stream = wanted_stream ? *wanted_stream : api->current_stream (device);
  }
  return true;
}

bool
View::import_dlpack (nb::handle object, std::optional<uintptr_t> wanted_stream, bool writable)
{
  if (!nb::hasattr (object, "__dlpack__") || !nb::hasattr (object, "__dlpack_device__"))
    return false;
  const nb::object place = object.attr ("__dlpack_device__") ();
  const bool on_gpu = is_on_gpu (nb::cast<int> (nb::int_ (place[0])));

  /* For DLPack, 1 is the legacy default stream and 0 is not allowed. */
  stream = on_gpu ? wanted_stream.value_or (0) : 0;
  const nb::object capsule = on_gpu ? object.attr ("__dlpack__") ("stream"_a = stream ? stream : 1)
                                    : object.attr ("__dlpack__") ();
  if (writable)
    tensor_ = nb::ndarray<nb::ro> (nb::cast<nb::ndarray<>> (capsule));
  else
    tensor_ = nb::cast<nb::ndarray<nb::ro>> (capsule);

  type = type_of_dlpack (tensor_.dtype ());
  data = (char *)tensor_.data ();
  for (size_t i = 0; i < tensor_.ndim (); i++) {
    shape.push_back (tensor_.shape (i));
    strides.push_back ((ptrdiff_t)tensor_.stride (i) * type.size);
  }
  device = on_gpu ? tensor_.device_id () : HOST;
  return true;
}

void
View::normalise_strides ()
{
  const bool missing = strides.empty ();
  strides.resize (shape.size ());
  ptrdiff_t natural = type.size;
  for (size_t i = shape.size (); i-- > 0;) {
    if (missing || shape[i] == 1)
      strides[i] = natural;
    natural = strides[i] * (ptrdiff_t)shape[i];
  }
}

View::View (nb::handle object, std::optional<uintptr_t> wanted_stream, bool writable)
    : is_writable_ (writable)
{
  try {
    const ArrayClass known = class_of (object);
    const bool try_cuda = known.has_cuda_interface;
    /* Classes with arrays on GPUs may refuse the buffer protocol with an exception, which takes
     * long. */
    if (!import_exchange (known.exchange, object, wanted_stream, writable) &&
        !(try_cuda && import_cuda_array_interface (object, wanted_stream, writable)) &&
        !import_buffer (object, writable) &&
        !(!try_cuda && import_cuda_array_interface (object, wanted_stream, writable)) &&
        !import_dlpack (object, wanted_stream, writable))
      throw nb::type_error ((std::string ("an array is needed, not ") +
                             nb::cast<std::string> (nb::str (object.type ().attr ("__name__"))))
                                .c_str ());
  } catch (...) {
    if (buffer_.obj)
      PyBuffer_Release (&buffer_);
    throw;
  }
  normalise_strides ();
  check_capture ();
}

/* Nothing may be allocated for a stream that is being captured into a CUDA graph. The legacy
 * default stream, 0 and 1, never is. */
void
View::check_capture () const
{
  if (device == HOST || stream < 2)
    return;
  CclError error = {};
  const CclStatus status =
      ccl_cuda_stream_check_capture (open_device (device), (void *)stream, &error);
  if (status != CUDACCL_OK) {
    if (buffer_.obj)
      PyBuffer_Release (const_cast<Py_buffer *> (&buffer_));
    check (status, error);
  }
}

/* Device memory for copies of arrays that is not used now, the oldest first: allocating takes
 * longer than copying. */
struct Block {
  int device;
  size_t size;
  void *memory;
};
static std::vector<Block> free_list;
constexpr size_t MOST_BLOCKS = 4;

static void
free_block (const Block &block)
{
  void *memory = block.memory;
  ccl_cuda_memory_free (open_device (block.device), &memory);
}

void
free_blocks ()
{
  for (const Block &block : free_list)
    free_block (block);
  free_list.clear ();
}

/* Memory of at least that size, and at most four times as much. */
static void *
take_block (int device, size_t size)
{
  for (size_t i = 0; i < free_list.size (); i++)
    if (free_list[i].device == device && free_list[i].size >= size &&
        free_list[i].size / 4 <= size) {
      void *const memory = free_list[i].memory;
      free_list.erase (free_list.begin () + (ptrdiff_t)i);
      return memory;
    }
  void *memory = nullptr;
  CclError error = {};
  check (ccl_cuda_memory_new (open_device (device), size, &memory, &error), error);
  return memory;
}

static void
give_block (const Block &block)
{
  free_list.push_back (block);
  if (free_list.size () > MOST_BLOCKS) {
    free_block (free_list.front ());
    free_list.erase (free_list.begin ());
  }
}

View::~View ()
{
  if (scattered_)
    give_block ({device, n_elements () * (size_t)type.size, data});
  if (buffer_.obj)
    PyBuffer_Release (&buffer_);
}

/* Between the caller's elements and the copy of them. */
void
View::copy_elements (bool back) const
{
  const size_t ndim = shape.size ();
  CclCudaArrayCopy copy = {(uint32_t)type.size, {1, 1, 1, 1}, scattered_, data, {}, {}};
  if (ndim > 4)
    throw nb::value_error ("an array on a GPU has at most four dimensions here");
  for (size_t i = 0; i < ndim; i++) {
    copy.shape[4 - ndim + i] = shape[i];
    copy.from_strides[4 - ndim + i] = scattered_strides_[i];
    copy.to_strides[4 - ndim + i] = strides[i];
  }
  if (back) {
    std::swap_ranges (copy.from_strides, copy.from_strides + 4, copy.to_strides);
    copy.from = data;
    copy.to = scattered_;
  }
  CclCudaDevice *const gpu = open_device (device);
  call_library (
      [&] (CclError *error) { return ccl_cuda_array_copy (gpu, &copy, library_stream (), error); });
}

bool
View::make_plain ()
{
  if (has_plain_rows () || device == HOST)
    return has_plain_rows ();
  for (size_t i = 0; i < shape.size (); i++)
    if (is_writable_ && strides[i] == 0 && shape[i] > 1)
      throw nb::value_error ("the elements of the output array are not at places of their own");
  const size_t size = n_elements () * (size_t)type.size;
  void *const memory = take_block (device, size);
  scattered_ = data;
  scattered_strides_ = strides;
  data = (char *)memory;
  ptrdiff_t distance = type.size;
  for (size_t i = shape.size (); i-- > 0; distance *= (ptrdiff_t)shape[i])
    strides[i] = distance;
  copy_elements (false);
  return true;
}

void
View::write_back () const
{
  if (scattered_)
    copy_elements (true);
}

void
View::take_channel (size_t channel)
{
  if (shape.empty () || channel >= shape.back () || scattered_)
    throw nb::value_error ("the array has no such channel");
  data += (ptrdiff_t)channel * strides.back ();
  shape.pop_back ();
  strides.pop_back ();
  for (size_t i = shape.size (); i-- > 0;) /* a row may have had one pixel */
    if (shape[i] == 1)
      strides[i] = i + 1 < shape.size () ? strides[i + 1] * (ptrdiff_t)shape[i + 1] : type.size;
}

size_t
View::n_elements () const
{
  size_t n = 1;
  for (size_t length : shape)
    if (__builtin_mul_overflow (n, length, &n))
      throw nb::value_error ("the array's shape has more elements than memory has bytes");
  return n;
}

bool
View::has_no_gaps () const
{
  return has_plain_rows () && (n_elements () == 0 || strides[0] * (ptrdiff_t)shape[0] ==
                                                         (ptrdiff_t)n_elements () * type.size);
}

bool
View::make_words ()
{
  return (shape.size () == 2 || shape.size () == 3) && make_plain () && type.size == 4 &&
         type.kind != 'f';
}

void
View::check_labels ()
{
  if (!make_words ())
    throw nb::value_error ("a label map must be a plain array of int32 or uint32 of two or three "
                           "dimensions");
}

void
View::check_map_of (const std::vector<size_t> &image, int labelled_on)
{
  if (shape != image)
    throw nb::value_error ("the label map has another shape than the image");
  if ((type.kind != 'i' && type.kind != 'u') || type.size != 4)
    throw nb::type_error ("the label map must be of int32 or uint32");
  if (device != labelled_on)
    throw nb::value_error ("the label map must be in the memory of the labeller's device");
  if (!make_plain ())
    throw nb::value_error ("the pixels of a row of the label map must be consecutive");
}

WordMap::WordMap (const View &view)
{
  const size_t ndim = view.shape.size ();
  map = {view.data, (size_t)view.strides[ndim - 2], (size_t)view.strides[0]};
  width = to_uint32 ("the width", (int64_t)view.shape[ndim - 1]);
  height = to_uint32 ("the height", (int64_t)view.shape[ndim - 2]);
  depth = ndim == 3 ? to_uint32 ("the depth", (int64_t)view.shape[0]) : 1;
}

CclValueType
value_type_of (const ElementType &type)
{
  switch (type.size) {
  case 1:
    return CUDACCL_VALUE_TYPE_8;
  case 2:
    return CUDACCL_VALUE_TYPE_16;
  case 4:
    return type.kind == 'f' ? CUDACCL_VALUE_TYPE_REAL_32 : CUDACCL_VALUE_TYPE_32;
  default:
    return type.kind == 'f' ? CUDACCL_VALUE_TYPE_REAL_64 : CUDACCL_VALUE_TYPE_64;
  }
}

bool
View::has_plain_rows () const
{
  ptrdiff_t extent = type.size;
  for (size_t i = shape.size (); i-- > 0;) {
    if (i + 1 == shape.size () ? strides[i] != extent : strides[i] < extent)
      return false;
    extent = strides[i] * ((ptrdiff_t)shape[i] - 1) + extent;
  }
  return true;
}

void
View::check_host_labels (size_t n_dimensions) const
{
  if (shape.size () != n_dimensions || device != HOST || !has_plain_rows () || type.size != 4)
    throw nb::value_error ("labels must be a plain array of uint32 in host memory");
}

/* Floats of 16 bits, which no compiler of C++ has to know, as numbers that equal them. */
struct Half {
  uint16_t bits;

  operator double () const
  {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 0    ? ldexp (fraction, -24)
                        : exponent == 31 ? (fraction ? NAN : INFINITY)
                                         : ldexp (fraction + 1024, exponent - 25);
    return bits >> 15 ? -size : size;
  }
};

struct BrainFloat {
  uint16_t bits;

  operator double () const
  {
    const uint32_t word = (uint32_t)bits << 16;
    float number;
    memcpy (&number, &word, sizeof number);
    return number;
  }
};

/* Compares values with a limit, in a type that holds both without rounding. */
template <typename T, typename Limit>
static void
compare_row (const char *row, ptrdiff_t stride, size_t n, Limit limit, uint8_t *mask)
{
  if (stride == sizeof (T) && (uintptr_t)row % alignof (T) == 0) {
    const T *values = (const T *)row;
    for (size_t x = 0; x < n; x++)
      mask[x] = values[x] > limit;
    return;
  }
  for (size_t x = 0; x < n; x++, row += stride) {
    T value;
    memcpy (&value, row, sizeof value);
    mask[x] = value > limit;
  }
}

template <typename T>
static void
make_mask_row (
    const char *row, ptrdiff_t stride, size_t n, const Threshold &threshold, uint8_t *mask)
{
  if constexpr (!std::is_integral_v<T>) {
    compare_row<T> (row, stride, n, threshold.real, mask); /* not a number: background */
  } else {
    const int64_t whole = threshold.whole;
    const bool below =
        std::is_signed_v<T> ? whole < (int64_t)std::numeric_limits<T>::min () : whole < 0;
    const bool above = whole >= 0 && (uint64_t)whole >= (uint64_t)std::numeric_limits<T>::max ();
    if (below || above)
      memset (mask, below, n);
    else
      compare_row<T> (row, stride, n, (T)whole, mask);
  }
}

using MakeMaskRow = void (*) (const char *, ptrdiff_t, size_t, const Threshold &, uint8_t *);

static MakeMaskRow
row_function (ElementType type)
{
  const bool is_signed = type.kind == 'i';
  if (type.kind == 'f' && type.size == 2)
    return type.is_brain ? make_mask_row<BrainFloat> : make_mask_row<Half>;
  if (type.kind == 'f')
    return type.size == 4 ? make_mask_row<float> : make_mask_row<double>;
  switch (type.size) {
  case 1:
    return is_signed ? make_mask_row<int8_t> : make_mask_row<uint8_t>;
  case 2:
    return is_signed ? make_mask_row<int16_t> : make_mask_row<uint16_t>;
  case 4:
    return is_signed ? make_mask_row<int32_t> : make_mask_row<uint32_t>;
  default:
    return is_signed ? make_mask_row<int64_t> : make_mask_row<uint64_t>;
  }
}

void
make_mask (const View &image, const Threshold &threshold, uint8_t *mask)
{
  const MakeMaskRow make_row = row_function (image.type);
  const size_t ndim = image.shape.size ();
  const size_t n_slices = ndim == 3 ? image.shape[0] : 1;
  const ptrdiff_t slice_stride = ndim == 3 ? image.strides[0] : 0;
  const size_t n_rows = image.shape[ndim - 2], n = image.shape[ndim - 1];

  for (size_t z = 0; z < n_slices; z++)
    for (size_t y = 0; y < n_rows; y++, mask += n)
      make_row (image.data + (ptrdiff_t)z * slice_stride + (ptrdiff_t)y * image.strides[ndim - 2],
          image.strides[ndim - 1], n, threshold, mask);
}

Threshold
threshold_for (const View &image, const std::variant<int64_t, double> &number)
{
  const int64_t *whole = std::get_if<int64_t> (&number);
  if (whole)
    return {*whole, (double)*whole};
  if (image.type.kind != 'f')
    throw nb::type_error ("the threshold of integers is an integer");
  return {0, std::get<double> (number)};
}

/* Writes the foreground of an image in host memory to a mask of bool without gaps. */
static void
compare (const View &image, std::variant<int64_t, double> number, const View &mask)
{
  const size_t ndim = image.shape.size ();
  if (image.device != HOST || ndim < 2 || ndim > 3 || mask.shape != image.shape ||
      !mask.type.is_byte () || !mask.is_dense ())
    throw nb::value_error ("an image and a mask of its shape are needed");
  const Threshold threshold = threshold_for (image, number);
  const WithoutGil release;
  make_mask (image, threshold, (uint8_t *)mask.data);
}

void
bind_view (nb::module_ &module)
{
  module.def ("compare", compare, "image"_a, "threshold"_a, "mask"_a,
      "Sets a mask of bool to where an image is greater than the threshold. Nothing is rounded.");
  nb::class_<View> (module, "View", "The caller's array, without a copy.")
      .def (nb::init<nb::handle, std::optional<uintptr_t>, bool> (), "array"_a.none (),
          "stream"_a = nb::none (), "writable"_a = false)
      .def_prop_ro (
          "shape", [] (const View &view) -> Shape { return nb::tuple (nb::cast (view.shape)); })
      .def_prop_ro (
          "device", [] (const View &view) { return view.device; },
          "The GPU's number, or -1 for host memory.")
      .def_prop_ro ("dtype", [] (const View &view) { return view.type.name (); })
      .def_prop_ro (
          "is_byte", [] (const View &view) { return view.type.is_byte (); },
          "Whether the elements are uint8 or bool.")
      .def_prop_ro (
          "is_float", [] (const View &view) { return view.type.kind == 'f'; },
          "Whether the elements are floats.")
      .def ("take_channel", &View::take_channel, "channel"_a,
          "Keeps one channel of an array whose last dimension has channels.");
}
