/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches of masks. */
#include "module.h"

#include <mutex>

class Batch {
public:
  Batch (const std::vector<uint32_t> &shape, int connectivity)
      : shape_ (shape.begin (), shape.end ())
  {
    CclBatchPlan plan = CUDACCL_BATCH_PLAN_DEFAULT;
    CclError error = {};
    if (shape.size () != 3)
      throw nb::value_error ("a batch has three dimensions");
    plan.n_masks = shape[0];
    plan.height = shape[1];
    plan.width = shape[2];
    plan.connectivity = (CclConnectivity)connectivity;
    batch_ = ccl_cpu_batch_new (&plan, &error);
    if (!batch_)
      raise (error);
  }

  Batch (const Batch &) = delete;

  ~Batch ()
  {
    ccl_batch_free (&batch_);
  }

  /* Returns rows and offsets. */
  nb::typed<nb::tuple, nb::bytearray, nb::bytearray>
  label (const View &masks, const View *labels, const View *areas)
  {
    const CclMasks given = masks_of (masks);
    const CclVolumeLabels maps[] = {map_of (labels), map_of (areas)};
    CclBatchTable table = {};
    const auto lock = run ([&] (CclError *error) {
      return ccl_batch_label (
          batch_, &given, labels ? &maps[0] : nullptr, areas ? &maps[1] : nullptr, &table, error);
    });
    return nb::make_tuple (
        nb::bytearray (table.rows, table.offsets[table.n_masks] * sizeof *table.rows),
        nb::bytearray (table.offsets, (table.n_masks + 1) * sizeof *table.offsets));
  }

  void
  fill_holes (const View &masks, int64_t max_area, uint8_t value)
  {
    const CclMasks given = masks_of (masks);
    const uint32_t area = to_uint32 ("max_area", max_area);
    run ([&] (CclError *error) {
      return ccl_batch_fill_holes (batch_, &given, area, value, error);
    });
  }

  void
  remove_small (const View &masks, int64_t min_area)
  {
    const CclMasks given = masks_of (masks);
    const uint32_t area = to_uint32 ("min_area", min_area);
    run ([&] (CclError *error) { return ccl_batch_remove_small (batch_, &given, area, error); });
  }

private:
  /* A thread that waits for the mutex does not hold the GIL. Returns with the mutex locked. */
  template <typename Call>
  std::unique_lock<std::mutex>
  run (Call call)
  {
    std::unique_lock<std::mutex> lock (mutex_, std::defer_lock);
    CclError error = {};
    CclStatus status;
    {
      const nb::gil_scoped_release release;
      lock.lock ();
      status = call (&error);
    }
    check (status, error);
    return lock;
  }

  CclMasks
  masks_of (const View &masks) const
  {
    if (masks.shape != shape_ || !masks.type.is_byte ())
      throw nb::value_error ("the masks must have the shape of the batch, and be of uint8 or bool");
    if (masks.device != HOST || !masks.has_plain_rows ())
      throw nb::value_error (
          "the masks must be in host memory, with consecutive pixels in each row");
    return {masks.data, (size_t)masks.strides[1], (size_t)masks.strides[0]};
  }

  CclVolumeLabels
  map_of (const View *map) const
  {
    if (!map)
      return {};
    if (map->shape != shape_ || map->type.size != 4 || map->type.kind == 'f' ||
        map->device != HOST || !map->has_plain_rows ())
      throw nb::value_error ("maps must have the shape of the batch, be of int32 or uint32, and be "
                             "in host memory, with consecutive pixels in each row");
    return {map->data, (size_t)map->strides[1], (size_t)map->strides[0]};
  }

  std::vector<size_t> shape_;
  CclBatch *batch_ = nullptr;
  std::mutex mutex_;
};

void
bind_batch (nb::module_ &module)
{
  nb::class_<Batch> (module, "Batch", "Many masks of one size.")
      .def (nb::init<std::vector<uint32_t>, int> (), nb::arg ("shape"), nb::arg ("connectivity"))
      .def ("label", &Batch::label, nb::arg ("masks"), nb::arg ("labels").none (),
          nb::arg ("areas").none (), "Labels the masks; returns rows and offsets as bytes.")
      .def ("fill_holes", &Batch::fill_holes, nb::arg ("masks"), nb::arg ("max_area"),
          nb::arg ("value"), "Fills the holes of the masks in place.")
      .def ("remove_small", &Batch::remove_small, nb::arg ("masks"), nb::arg ("min_area"),
          "Removes small components of the masks in place.");
}
