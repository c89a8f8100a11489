/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches of masks, in host memory or on a GPU. */
#include "module.h"

#include <mutex>

class Batch {
public:
  Batch (const std::vector<uint32_t> &shape, int connectivity, int device)
      : shape_ (shape.begin (), shape.end ()), device_ (device)
  {
    CclBatchPlan plan = CUDACCL_BATCH_PLAN_DEFAULT;
    if (shape.size () != 3)
      throw nb::value_error ("a batch has three dimensions");
    plan.n_masks = shape[0];
    plan.height = shape[1];
    plan.width = shape[2];
    plan.connectivity = (CclConnectivity)connectivity;
    CclCudaDevice *const gpu = open_device (device);
    batch_.make ([&] (CclError *error) {
      return gpu ? ccl_cuda_batch_new (gpu, &plan, error) : ccl_cpu_batch_new (&plan, error);
    });
  }

  /* Returns rows and offsets. */
  nb::typed<nb::tuple, nb::bytearray, nb::bytearray>
  label (View &masks, View *labels, View *areas)
  {
    const CclMasks given = masks_of (masks);
    const CclVolumeLabels maps[] = {map_of (labels), map_of (areas)};
    CclBatchTable table = {};
    const auto lock = run (masks, [&] (CclError *error) {
      return ccl_batch_label (
          batch_, &given, labels ? &maps[0] : nullptr, areas ? &maps[1] : nullptr, &table, error);
    });
    for (const View *map : {labels, areas})
      if (map)
        map->write_back ();
    return nb::make_tuple (
        nb::bytearray (table.rows, table.offsets[table.n_masks] * sizeof *table.rows),
        nb::bytearray (table.offsets, (table.n_masks + 1) * sizeof *table.offsets));
  }

  void
  fill_holes (View &masks, int64_t max_area, uint8_t value)
  {
    const CclMasks given = masks_of (masks);
    const uint32_t area = to_uint32 ("max_area", max_area);
    run (masks, [&] (CclError *error) {
      return ccl_batch_fill_holes (batch_, &given, area, value, error);
    });
    masks.write_back ();
  }

  void
  remove_small (View &masks, int64_t min_area)
  {
    const CclMasks given = masks_of (masks);
    const uint32_t area = to_uint32 ("min_area", min_area);
    run (masks,
        [&] (CclError *error) { return ccl_batch_remove_small (batch_, &given, area, error); });
    masks.write_back ();
  }

private:
  /* Calls the library on the stream of the masks. A thread that waits for the mutex does not hold
   * the GIL. Returns with the mutex locked. */
  template <typename Call>
  std::unique_lock<std::mutex>
  run (const View &masks, Call call)
  {
    return call_library (mutex_, [&] (CclError *error) {
      if (device_ != HOST)
        ccl_cuda_batch_set_stream (batch_, masks.library_stream (), nullptr);
      return call (error);
    });
  }

  /* The distances of rows and masks in an array of the shape of the batch, or of one mask, or with
   * a dimension of length 1 behind the first. */
  std::pair<size_t, size_t>
  strides_of (View &array) const
  {
    const bool is_plain = array.device == device_ && array.make_plain ();
    std::vector<size_t> shape = array.shape;
    std::vector<ptrdiff_t> strides = array.strides;
    if (shape.size () == 4 && shape[1] == 1) {
      shape.erase (shape.begin () + 1);
      strides.erase (strides.begin () + 1);
    } else if (shape.size () == 2) {
      shape.insert (shape.begin (), 1);
      strides.insert (strides.begin (), strides[0] * (ptrdiff_t)shape[1]);
    }
    if (shape != shape_ || !is_plain)
      throw nb::value_error ("arrays must have the shape of the batch, and be where it is, with "
                             "consecutive pixels in each row");
    return {(size_t)strides[1], (size_t)strides[0]};
  }

  CclMasks
  masks_of (View &masks) const
  {
    if (!masks.type.is_byte ())
      throw nb::value_error ("masks must be of uint8 or bool");
    const auto [row, mask] = strides_of (masks);
    return {masks.data, row, mask, masks.location ()};
  }

  CclVolumeLabels
  map_of (View *map) const
  {
    if (!map)
      return {};
    if (map->type.size != 4 || map->type.kind == 'f')
      throw nb::value_error ("maps must be of int32 or uint32");
    const auto [row, slice] = strides_of (*map);
    return {map->data, row, slice};
  }

  std::vector<size_t> shape_;
  int device_;
  Handle<CclBatch, ccl_batch_free> batch_;
  std::mutex mutex_;
};

void
bind_batch (nb::module_ &module)
{
  nb::class_<Batch> (module, "Batch", "Many masks of one size.")
      .def (nb::init<std::vector<uint32_t>, int, int> (), "shape"_a, "connectivity"_a,
          "device"_a = HOST)
      .def ("label", &Batch::label, "masks"_a, "labels"_a.none (), "areas"_a.none (),
          "Labels the masks; returns rows and offsets as bytes.")
      .def ("fill_holes", &Batch::fill_holes, "masks"_a, "max_area"_a, "value"_a,
          "Fills the holes of the masks in place.")
      .def ("remove_small", &Batch::remove_small, "masks"_a, "min_area"_a,
          "Removes small components of the masks in place.");
}
