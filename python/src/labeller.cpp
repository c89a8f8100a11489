/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labellers of frames and volumes. */
#include "module.h"

#include <cudaccl/columns.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <utility>

/* CclLabellerOptions with a threshold for any type. */
struct Options {
  Threshold threshold;
  bool invert;
  uint32_t min_area, max_area;
};

/* A labeller of the library. Its memory for component tables may be lent to an array. */
struct Engine {
  CclPixelFormat format;
  Handle<CclLabeller, ccl_labeller_free> frames; /* one of the two is NULL */
  Handle<CclVolumeLabeller, ccl_volume_labeller_free> volumes;
  std::vector<size_t> shape; /* that it is made for */
  std::atomic<bool> is_lent = false;

  explicit Engine (CclPixelFormat pixels) : format (pixels)
  {
  }
};

/* A component table in the memory of an engine, which makes no other table before this one is
 * gone. */
struct LentRows {
  std::shared_ptr<Engine> engine;
  void *data;
  size_t size;        /* bytes */
  CclCudaDevice *gpu; /* in whose memory they are; NULL: host memory */

  LentRows (std::shared_ptr<Engine> lender, const void *rows, size_t n_bytes, CclCudaDevice *device)
      : engine (std::move (lender)), data ((void *)rows), size (n_bytes), gpu (device)
  {
    engine->is_lent = true;
  }

  LentRows (const LentRows &) = delete;

  ~LentRows ()
  {
    engine->is_lent = false;
  }
};

/* Rows as a buffer, and the number of components. */
using Rows = nb::typed<nb::tuple, nb::any, uint32_t>;

/* A GPU's table of so many bytes or more is lent. A copy of it would take 4 µs for each 100 kB,
 * because the GPU has just written it, and slow the next run, which writes to memory that the CPU
 * has read. */
constexpr size_t LENT_BYTES = 65536;

/* The most engines of one format. One of them is never lent, for callers that keep all their
 * tables. */
constexpr size_t MOST_ENGINES = 3;

class Labeller {
public:
  Labeller (const std::vector<uint32_t> &shape, int connectivity, int device,
      uint32_t max_components, const std::string &algorithm, uint32_t n_threads,
      bool table_on_device)
      : shape_ (shape.begin (), shape.end ()), connectivity_ (connectivity), device_ (device),
        gpu_ (open_device (device)), max_components_ (max_components), algorithm_ (algorithm),
        n_threads_ (n_threads), table_on_device_ (table_on_device)
  {
    if (table_on_device && (!gpu_ || shape.size () != 2))
      throw nb::value_error ("only labellers of images on a GPU leave tables in device memory");
    call_library ([&] (CclError *error) {
      return add_engine (CUDACCL_PIXEL_FORMAT_8, error) ? CUDACCL_OK : error->status;
    });
  }

  /* Whether the library reads the pixels of an image as they are and compares them with the
   * threshold. */
  bool
  reads (const View &image, int64_t threshold) const
  {
    const bool has_words = format_of (image) == CUDACCL_PIXEL_FORMAT_16;
    const bool is_aligned = !has_words || image.device == HOST || !image.has_plain_rows () ||
                            ((uintptr_t)image.data | (size_t)image.strides[0]) % 2 == 0;
    return (has_words || image.type.is_byte ()) &&
           (image.device != HOST || image.has_plain_rows ()) && is_aligned && threshold >= 0 &&
           threshold <= (has_words ? 65535 : 255);
  }

  /* Changes the shape of the next images, of two dimensions. */
  void
  resize (const std::vector<uint32_t> &shape)
  {
    if (shape.size () != 2 || shape_.size () != 2)
      throw nb::value_error ("only labellers of images can be resized");
    const WithoutGil release;
    const std::lock_guard<std::mutex> lock (mutex_);
    shape_.assign (shape.begin (), shape.end ());
    mask_.reset ();
  }

  /* Labels an image; returns the rows of the component table and the number of components. */
  Rows
  run (View &image, std::variant<int64_t, double> number, bool invert, int64_t min_area,
      int64_t max_area, View *labels)
  {
    const Threshold threshold = threshold_for (image, number);
    const bool as_it_is = reads (image, threshold.whole);
    const CclPixelFormat format = as_it_is ? format_of (image) : CUDACCL_PIXEL_FORMAT_8;
    check_image (image, as_it_is);
    if (labels)
      labels->check_map_of (shape_, device_);
    const Options options = {
        threshold, invert, to_uint32 ("min_area", min_area), to_uint32 ("max_area", max_area)};
    std::shared_ptr<Engine> engine;
    bool lend = false;
    const auto lock = call_library (mutex_, [&] (CclError *error) {
      engine = free_engine (format, nullptr);
      if (!engine && add_engine (format, error))
        engine = engines_.back ();
      if (!engine || !fit (*engine, error))
        return error->status;
      const CclStatus status = engine->volumes
                                   ? run_volume (*engine, image, as_it_is, options, labels, error)
                                   : run_frame (*engine, image, as_it_is, options, labels, error);
      lend = status == CUDACCL_OK && (table_on_device_ || can_lend (engine));
      return status;
    });
    if (labels)
      labels->write_back ();
    return engine->volumes ? rows (engine, volume_table_, lend) : rows (engine, table_, lend);
  }

  std::string
  algorithm () const
  {
    return engines_[0]->volumes ? "volumes" : ccl_labeller_algorithm (engines_[0]->frames);
  }

private:
  /* Images of uint16 are read as they are, volumes are not. */
  CclPixelFormat
  format_of (const View &image) const
  {
    const bool has_words = image.type.kind == 'u' && image.type.size == 2 && shape_.size () == 2 &&
                           std::endian::native == std::endian::little;
    return has_words ? CUDACCL_PIXEL_FORMAT_16 : CUDACCL_PIXEL_FORMAT_8;
  }

  /* A labeller of images of the shape, or NULL. */
  CclLabeller *
  make_frames (CclPixelFormat format, CclError *error) const
  {
    const CclLabellerPlan plan = {.width = (uint32_t)shape_[1],
        .height = (uint32_t)shape_[0],
        .connectivity = (CclConnectivity)connectivity_,
        .max_components = max_components_,
        .algorithm = algorithm_.c_str (),
        .n_threads = n_threads_,
        .format = format,
        .table_location = table_on_device_ ? CUDACCL_LOCATION_DEVICE : CUDACCL_LOCATION_HOST};
    return gpu_ ? ccl_cuda_labeller_new (gpu_, &plan, error) : ccl_cpu_labeller_new (&plan, error);
  }

  /* Resizes an engine to the shape, or replaces its labeller where the algorithm is another one for
   * this shape. Returns whether it fits. */
  bool
  fit (Engine &engine, CclError *error) const
  {
    if (engine.shape == shape_)
      return true;
    CclStatus status =
        ccl_labeller_resize (engine.frames, (uint32_t)shape_[1], (uint32_t)shape_[0], error);
    if (status == CUDACCL_ERROR_UNSUPPORTED) {
      CclLabeller *other = make_frames (engine.format, error);
      if (!other)
        return false;
      engine.frames.reset (other);
      status = CUDACCL_OK;
    }
    if (status == CUDACCL_OK)
      engine.shape = shape_;
    return status == CUDACCL_OK;
  }

  /* Returns whether there is one more. */
  bool
  add_engine (CclPixelFormat format, CclError *error)
  {
    auto engine = std::make_shared<Engine> (format);
    engine->shape = shape_;
    if (shape_.size () == 2) {
      engine->frames.reset (make_frames (format, error));
    } else {
      const CclVolumePlan plan = {.width = (uint32_t)shape_[2],
          .height = (uint32_t)shape_[1],
          .depth = (uint32_t)shape_[0],
          .connectivity = (CclVolumeConnectivity)connectivity_,
          .max_components = max_components_};
      engine->volumes.reset (gpu_ ? ccl_cuda_volume_labeller_new (gpu_, &plan, error)
                                  : ccl_cpu_volume_labeller_new (&plan, error));
    }
    if (!engine->frames && !engine->volumes)
      return false;
    engines_.push_back (engine);
    return true;
  }

  /* An engine of a format that is not lent, other than the given one. */
  std::shared_ptr<Engine>
  free_engine (CclPixelFormat format, const std::shared_ptr<Engine> &other) const
  {
    for (const auto &engine : engines_)
      if (engine->format == format && engine != other && !engine->is_lent)
        return engine;
    return nullptr;
  }

  size_t
  count_engines (CclPixelFormat format) const
  {
    return (size_t)std::count_if (engines_.begin (), engines_.end (),
        [=] (const auto &engine) { return engine->format == format; });
  }

  /* Whether the table of an engine is large and there is another engine for the next run. The first
   * large table is copied: it may be the only one. */
  bool
  can_lend (const std::shared_ptr<Engine> &engine)
  {
    const size_t size = engine->volumes ? size_of (volume_table_) : size_of (table_);
    if (device_ == HOST || size < LENT_BYTES || !std::exchange (had_large_table_, true))
      return false;
    CclError error = {};
    return free_engine (engine->format, engine) ||
           (count_engines (engine->format) < MOST_ENGINES && add_engine (engine->format, &error));
  }

  void
  check_image (View &image, bool as_it_is) const
  {
    if (image.shape != shape_)
      throw nb::value_error ("the image has another shape than the labeller");
    if (image.device == HOST)
      return;
    if (image.device != device_)
      throw nb::value_error (
          ("the image is on GPU " + std::to_string (image.device) + ", the labeller runs on " +
              (device_ == HOST ? "the CPU" : "GPU " + std::to_string (device_)))
              .c_str ());
    if (!image.type.is_byte () && !as_it_is)
      throw nb::type_error ("on a GPU, images must be of uint8, uint16 or bool");
    image.make_plain ();
  }

  /* The pixels as the library reads them. */
  struct Pixels {
    const void *data;
    size_t row_stride, slice_stride;
    CclLocation location;
    CclLabellerOptions options;
  };

  Pixels
  prepare (const View &image, bool as_it_is, const Options &options)
  {
    const CclLabellerOptions same = {.threshold = (uint32_t)options.threshold.whole,
        .invert = options.invert,
        .min_area = options.min_area,
        .max_area = options.max_area};
    const size_t ndim = shape_.size ();
    if (as_it_is || image.device != HOST) {
      CclLabellerOptions given = same;
      if (!as_it_is)
        given.threshold = 256; /* out of range, which the library reports */
      return {image.data, (size_t)image.strides[ndim - 2], (size_t)image.strides[0],
          image.location (), given};
    }
    if (!mask_)
      mask_.reset (new uint8_t[image.n_elements ()]);
    make_mask (image, options.threshold, mask_.get ());
    CclLabellerOptions of_mask = same;
    of_mask.threshold = 0;
    return {mask_.get (), shape_[ndim - 1], shape_[ndim - 1] * shape_[ndim - 2],
        CUDACCL_LOCATION_HOST, of_mask};
  }

  CclStatus
  run_frame (const Engine &engine, const View &image, bool as_it_is, const Options &options,
      const View *labels, CclError *error)
  {
    const Pixels pixels = prepare (image, as_it_is, options);
    const CclFrame frame = {pixels.data, pixels.row_stride, pixels.location};
    CclLabels map = {};
    if (labels)
      map = {labels->data, (size_t)labels->strides[0]};
    if (device_ != HOST)
      ccl_cuda_labeller_set_stream (engine.frames, image.library_stream (), nullptr);
    return ccl_labeller_run (
        engine.frames, &frame, &pixels.options, labels ? &map : nullptr, &table_, error);
  }

  CclStatus
  run_volume (const Engine &engine, const View &image, bool as_it_is, const Options &options,
      const View *labels, CclError *error)
  {
    const Pixels pixels = prepare (image, as_it_is, options);
    const CclVolume volume = {pixels.data, pixels.row_stride, pixels.slice_stride, pixels.location};
    CclVolumeLabels map = {};
    if (labels)
      map = {labels->data, (size_t)labels->strides[1], (size_t)labels->strides[0]};
    if (device_ != HOST)
      ccl_cuda_volume_labeller_set_stream (engine.volumes, image.library_stream (), nullptr);
    return ccl_volume_labeller_run (
        engine.volumes, &volume, &pixels.options, labels ? &map : nullptr, &volume_table_, error);
  }

  template <typename Table>
  static size_t
  size_of (const Table &table)
  {
    return table.n_rows * sizeof *table.rows;
  }

  template <typename Table>
  Rows
  rows (const std::shared_ptr<Engine> &engine, const Table &table, bool lend) const
  {
    const size_t size = size_of (table);
    if (lend)
      return nb::make_tuple (
          std::make_unique<LentRows> (engine, table.rows, size, table_on_device_ ? gpu_ : nullptr),
          table.n_components);
    return nb::make_tuple (nb::bytearray (table.rows, size), table.n_components);
  }

  std::vector<size_t> shape_;
  int connectivity_, device_;
  CclCudaDevice *gpu_; /* NULL: the CPU */
  uint32_t max_components_;
  std::string algorithm_;
  uint32_t n_threads_;
  bool table_on_device_;
  std::vector<std::shared_ptr<Engine>> engines_; /* of each format one at least is not lent */
  CclTable table_ = {};                          /* of the last run */
  CclVolumeTable volume_table_ = {};
  bool had_large_table_ = false;
  std::unique_ptr<uint8_t[]> mask_;
  std::mutex mutex_;
};

/* Copies rows in device memory to a contiguous array of their size. */
static void
download (const LentRows &rows, nb::handle host)
{
  const Buffer bytes (host, PyBUF_CONTIG);
  if (!rows.gpu || (size_t)bytes.view.len != rows.size)
    throw nb::value_error ("the arrays differ in size");
  call_library ([&] (CclError *error) {
    return ccl_cuda_memory_download (rows.gpu, rows.data, bytes.view.buf, rows.size, error);
  });
}

/* The buffer protocol of LentRows in host memory: writable bytes. */
static int
get_buffer (PyObject *self, Py_buffer *buffer, int flags)
{
  const LentRows &rows = *nb::inst_ptr<LentRows> (self);
  if (rows.gpu) {
    PyErr_SetString (PyExc_BufferError, "the rows are in device memory");
    return -1;
  }
  return PyBuffer_FillInfo (buffer, self, rows.data, (Py_ssize_t)rows.size, 0, flags);
}

static PyType_Slot lent_rows_slots[] = {{Py_bf_getbuffer, (void *)get_buffer}, {0, nullptr}};

/* The list of columns: name, whether it is a double, whether only volumes have it. */
static nb::typed<nb::list, nb::typed<nb::tuple, nb::str, bool, bool>>
list_columns ()
{
  nb::list columns;
#define APPEND(field, is_real, is_of_volumes)                                                      \
  columns.append (nb::make_tuple (#field, is_real, is_of_volumes));
#define COUNT(field, key) APPEND (field, false, false)
#define REAL(field, key) APPEND (field, true, false)
#define VOLUME_COUNT(field, key) APPEND (field, false, true)
#define VOLUME_REAL(field, key) APPEND (field, true, true)
  CUDACCL_COLUMNS (COUNT, REAL, VOLUME_COUNT, VOLUME_REAL)
  return columns;
}

void
bind_labeller (nb::module_ &module)
{
  module.def ("columns", list_columns,
      "The columns of a component table: name, whether it is a double, whether only volumes have "
      "it.");
  nb::class_<LentRows> (module, "LentRows", nb::type_slots (lent_rows_slots),
      "The rows of a component table in memory of a labeller. Those in host memory have the buffer "
      "protocol.")
      .def_prop_ro ("address", [] (const LentRows &rows) { return (uintptr_t)rows.data; })
      .def_prop_ro (
          "size", [] (const LentRows &rows) { return rows.size; }, "Bytes.")
      .def ("download", download, "host"_a, "Copies rows in device memory to an array.");
  nb::class_<Labeller> (module, "Labeller", "A labeller of frames or volumes of one shape.")
      .def (nb::init<std::vector<uint32_t>, int, int, uint32_t, std::string, uint32_t, bool> (),
          "shape"_a, "connectivity"_a, "device"_a, "max_components"_a, "algorithm"_a, "n_threads"_a,
          "table_on_device"_a)
      .def ("run", &Labeller::run, "image"_a, "threshold"_a, "invert"_a, "min_area"_a, "max_area"_a,
          "labels"_a.none (),
          "Labels an image; returns the component table's rows as a buffer, and the number of "
          "components.")
      .def ("resize", &Labeller::resize, "shape"_a,
          "Changes the shape of the next images, of two dimensions.")
      .def ("reads", &Labeller::reads, "image"_a, "threshold"_a,
          "Whether the library reads the pixels as they are and compares them with the threshold.")
      .def_prop_ro ("algorithm", &Labeller::algorithm);
}
