/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labellers of frames and volumes. */
#include "module.h"

#include <memory>
#include <mutex>

/* CclOptions with the threshold of any integer type. */
struct Options {
  int64_t threshold;
  bool invert;
  uint32_t min_area, max_area;
};

class Labeller {
public:
  Labeller (const std::vector<uint32_t> &shape, int connectivity, int device,
      uint32_t max_components, const std::string &algorithm, uint32_t n_threads)
      : shape_ (shape.begin (), shape.end ()), device_ (device)
  {
    CclError error = {};
    CclCudaDevice *gpu = device == HOST ? nullptr : open_device (device);
    {
      const nb::gil_scoped_release release;
      if (shape.size () == 2)
        make_for_frames (gpu,
            {.width = shape[1],
                .height = shape[0],
                .connectivity = (CclConnectivity)connectivity,
                .max_components = max_components,
                .algorithm = algorithm.c_str (),
                .n_threads = n_threads},
            &error);
      else
        make_for_volumes (gpu,
            {.width = shape[2],
                .height = shape[1],
                .depth = shape[0],
                .connectivity = (CclVolumeConnectivity)connectivity,
                .max_components = max_components},
            &error);
    }
    if (!frames_ && !volumes_)
      raise (error);
  }

  Labeller (const Labeller &) = delete;

  ~Labeller ()
  {
    ccl_labeller_free (&frames_);
    ccl_volume_labeller_free (&volumes_);
  }

  /* Labels an image; returns the rows of the component table and the number of components. */
  nb::tuple
  run (const View &image, int64_t threshold, bool invert, int64_t min_area, int64_t max_area,
      const View *labels)
  {
    check_image (image);
    if (labels)
      check_labels (*labels);
    const Options options = {
        threshold, invert, to_uint32 ("min_area", min_area), to_uint32 ("max_area", max_area)};
    CclError error = {};
    CclStatus status;

    /* Two Python threads may call at once. A thread that waits for the mutex does not hold the
     * GIL. */
    std::unique_lock<std::mutex> lock (mutex_, std::defer_lock);
    {
      const nb::gil_scoped_release release;
      lock.lock ();
      status = volumes_ ? run_volume (image, options, labels, &error)
                        : run_frame (image, options, labels, &error);
    }
    check (status, error);
    return volumes_ ? rows (volume_table_) : rows (table_);
  }

  std::string
  algorithm () const
  {
    return volumes_ ? "volumes" : ccl_labeller_algorithm (frames_);
  }

private:
  void
  make_for_frames (CclCudaDevice *gpu, const CclPlan &plan, CclError *error)
  {
    frames_ = gpu ? ccl_cuda_labeller_new (gpu, &plan, error) : ccl_cpu_labeller_new (&plan, error);
  }

  void
  make_for_volumes (CclCudaDevice *gpu, const CclVolumePlan &plan, CclError *error)
  {
    volumes_ = gpu ? ccl_cuda_volume_labeller_new (gpu, &plan, error)
                   : ccl_cpu_volume_labeller_new (&plan, error);
  }

  void
  check_image (const View &image) const
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
    if (!image.type.is_byte ())
      throw nb::type_error ("on a GPU, images must be of uint8 or bool");
    if (!image.has_plain_rows ())
      throw nb::value_error ("on a GPU, the pixels of a row must be consecutive: copy the image");
  }

  void
  check_labels (const View &labels) const
  {
    if (labels.shape != shape_)
      throw nb::value_error ("the label map has another shape than the image");
    if (labels.type.kind == 'b' || labels.type.size != 4)
      throw nb::type_error ("the label map must be of int32 or uint32");
    if (labels.device != device_)
      throw nb::value_error ("the label map must be in the memory of the labeller's device");
    if (!labels.has_plain_rows ())
      throw nb::value_error ("the pixels of a row of the label map must be consecutive");
  }

  /* The pixels as the library reads them: one byte per pixel, in rows. */
  struct Pixels {
    const void *data;
    size_t row_stride, slice_stride;
    CclLocation location;
    CclOptions options;
  };

  Pixels
  prepare (const View &image, const Options &options)
  {
    const CclOptions same = {
        (uint32_t)options.threshold, options.invert, options.min_area, options.max_area};
    const size_t ndim = shape_.size ();
    const bool fits = options.threshold >= 0 && options.threshold <= 255;
    if (image.device != HOST || (fits && image.type.is_byte () && image.has_plain_rows ())) {
      CclOptions given = same;
      if (!fits)
        given.threshold = 256; /* out of range, which the library reports */
      return {image.data, (size_t)image.strides[ndim - 2], (size_t)image.strides[0],
          image.device == HOST ? CCL_LOCATION_HOST : CCL_LOCATION_DEVICE, given};
    }
    if (!mask_)
      mask_.reset (new uint8_t[image.n_elements ()]);
    make_mask (image, options.threshold, mask_.get ());
    CclOptions of_mask = same;
    of_mask.threshold = 0;
    return {mask_.get (), shape_[ndim - 1], shape_[ndim - 1] * shape_[ndim - 2], CCL_LOCATION_HOST,
        of_mask};
  }

  CclStatus
  run_frame (const View &image, const Options &options, const View *labels, CclError *error)
  {
    const Pixels pixels = prepare (image, options);
    const CclFrame frame = {pixels.data, pixels.row_stride, pixels.location};
    CclLabels map = {};
    if (labels)
      map = {labels->data, (size_t)labels->strides[0]};
    if (device_ != HOST)
      ccl_cuda_labeller_set_stream (frames_, stream_of (image));
    return ccl_labeller_run (
        frames_, &frame, &pixels.options, labels ? &map : nullptr, &table_, error);
  }

  CclStatus
  run_volume (const View &image, const Options &options, const View *labels, CclError *error)
  {
    const Pixels pixels = prepare (image, options);
    const CclVolume volume = {pixels.data, pixels.row_stride, pixels.slice_stride, pixels.location};
    CclVolumeLabels map = {};
    if (labels)
      map = {labels->data, (size_t)labels->strides[1], (size_t)labels->strides[0]};
    if (device_ != HOST)
      ccl_cuda_volume_labeller_set_stream (volumes_, stream_of (image));
    return ccl_volume_labeller_run (
        volumes_, &volume, &pixels.options, labels ? &map : nullptr, &volume_table_, error);
  }

  /* The labeller's own stream waits for the legacy default stream, 1, as well. */
  static void *
  stream_of (const View &image)
  {
    return image.stream == 1 ? nullptr : (void *)image.stream;
  }

  template <typename Table>
  static nb::tuple
  rows (const Table &table)
  {
    return nb::make_tuple (
        nb::bytearray (table.rows, table.n_rows * sizeof *table.rows), table.n_components);
  }

  std::vector<size_t> shape_;
  int device_;
  CclLabeller *frames_ = nullptr; /* one of the two is NULL */
  CclVolumeLabeller *volumes_ = nullptr;
  CclTable table_ = {};
  CclVolumeTable volume_table_ = {};
  std::unique_ptr<uint8_t[]> mask_;
  std::mutex mutex_;
};

void
bind_labeller (nb::module_ &module)
{
  nb::class_<Labeller> (module, "Labeller", "A labeller of frames or volumes of one shape.")
      .def (nb::init<std::vector<uint32_t>, int, int, uint32_t, std::string, uint32_t> (),
          nb::arg ("shape"), nb::arg ("connectivity"), nb::arg ("device"),
          nb::arg ("max_components"), nb::arg ("algorithm"), nb::arg ("n_threads"))
      .def ("run", &Labeller::run, nb::arg ("image"), nb::arg ("threshold"), nb::arg ("invert"),
          nb::arg ("min_area"), nb::arg ("max_area"), nb::arg ("labels").none (),
          "Labels an image; returns the component table's rows as bytes, and the number of "
          "components.")
      .def_prop_ro ("algorithm", &Labeller::algorithm);
}
