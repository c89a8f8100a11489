/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The features of the labels of a label map. */
#include "module.h"

#include <cudaccl/device.h>

#include <cstring>
#include <memory>
#include <mutex>

static_assert (sizeof (CclShape) % sizeof (double) == 0, "all of its fields are doubles");

/* Checks a second plane or volume: of the shape of the labels, and where they are. */
static void
check_values (const View &labels, View &values)
{
  if (values.shape != labels.shape)
    throw nb::value_error ("the intensity image has another shape than the labels");
  if (values.device != labels.device || !values.make_plain ())
    throw nb::value_error (
        "the intensity image must be where the labels are, with consecutive pixels");
  if (!values.type.is_byte () && !(values.type.kind == 'u' && values.type.size == 2))
    throw nb::type_error ("the intensity image must be of uint8, uint16 or bool");
}

static CclPixelFormat
format_of (const View &values)
{
  return values.type.size == 2 ? CUDACCL_PIXEL_FORMAT_16 : CUDACCL_PIXEL_FORMAT_8;
}

/* The same plane or volume for the library. */
static CclVolumeIntensity
intensity_of (const View &labels, View *values)
{
  if (!values)
    return {};
  check_values (labels, *values);
  return {values->data, (size_t)values->strides[values->shape.size () - 2],
      (size_t)values->strides[0], format_of (*values)};
}

template <typename Row>
static nb::bytearray
bytes_of (const std::unique_ptr<Row[]> &rows, uint32_t n)
{
  return nb::bytearray (rows.get (), n * sizeof (Row));
}

/* The rows and shapes of the labels 1…n. */
static nb::typed<nb::tuple, nb::bytearray, nb::bytearray>
measure_labels (const View &labels, View *values, uint32_t columns, int64_t n_labels)
{
  const uint32_t n = to_uint32 ("the greatest label", n_labels);
  labels.check_host_labels (2);
  const CclLabels map = {labels.data, (size_t)labels.strides[0]};
  const CclVolumeIntensity plane = intensity_of (labels, values);
  const CclIntensity intensity = {plane.data, plane.row_stride, plane.format};
  const std::unique_ptr<CclComponent[]> rows (new CclComponent[n]);
  const std::unique_ptr<CclFeatures[]> features (new CclFeatures[n]);
  const std::unique_ptr<CclShape[]> shapes (new CclShape[n]);
  call_library ([&] (CclError *error) {
    CclStatus status = ccl_measure_labels (&map, (uint32_t)labels.shape[1],
        (uint32_t)labels.shape[0], &intensity, columns, n, rows.get (), features.get (), error);
    for (uint32_t i = 0; status == CUDACCL_OK && i < n; i++)
      ccl_features_derive (&rows[i], &features[i], columns, &shapes[i]);
    return status;
  });
  return nb::make_tuple (bytes_of (rows, n), bytes_of (shapes, n));
}

/* The rows and shapes of the labels 1…n of a volume. */
static nb::typed<nb::tuple, nb::bytearray, nb::bytearray>
measure_volume_labels (const View &labels, View *values, uint32_t columns, int64_t n_labels)
{
  const uint32_t n = to_uint32 ("the greatest label", n_labels);
  const bool is_volume = labels.shape.size () != 2;
  labels.check_host_labels (is_volume ? 3 : 2);
  const WordMap from (labels);
  const CclVolumeIntensity intensity = intensity_of (labels, values);
  const std::unique_ptr<CclVolumeComponent[]> rows (new CclVolumeComponent[n]);
  const std::unique_ptr<CclVolumeShape[]> shapes (new CclVolumeShape[n]);
  call_library ([&] (CclError *error) {
    return ccl_measure_volume_labels (&from.map, from.width, from.height,
        is_volume ? from.depth : 0, &intensity, columns, n, rows.get (), shapes.get (), error);
  });
  return nb::make_tuple (bytes_of (rows, n), bytes_of (shapes, n));
}

/* Waits until values are complete that another stream than that of the labels makes. */
static CclStatus
wait_for_values (CclCudaDevice *gpu, const View &labels, const View *values, CclError *error)
{
  return values && values->stream > 1 && values->stream != labels.stream
             ? ccl_cuda_stream_wait (gpu, (void *)values->stream, error)
             : CUDACCL_OK;
}

/* Measures label maps of one shape on a GPU. */
class MapMeasurer {
public:
  MapMeasurer (
      const std::vector<uint32_t> &shape, uint32_t columns, uint32_t max_labels, int device)
      : shape_ (shape.begin (), shape.end ()), device_ (device), max_labels_ (max_labels),
        columns_ (columns)
  {
    CclMapMeasurerPlan plan = CUDACCL_MAP_MEASURER_PLAN_DEFAULT;
    const size_t ndim = shape.size ();
    if (ndim != 2 && ndim != 3)
      throw nb::value_error ("a label map has two or three dimensions");
    plan.width = shape[ndim - 1];
    plan.height = shape[ndim - 2];
    plan.depth = ndim == 3 ? shape[0] : 0;
    plan.columns = columns;
    plan.max_labels = max_labels;
    CclCudaDevice *const gpu = open_device (device);
    measurer_.make (
        [&] (CclError *error) { return ccl_cuda_map_measurer_new (gpu, &plan, error); });
  }

  /* Returns rows, shapes and the greatest label. */
  nb::typed<nb::tuple, nb::bytearray, nb::bytearray, uint32_t>
  run (View &labels, View *values)
  {
    if (labels.shape != shape_ || labels.device != device_ || !labels.make_words ())
      throw nb::value_error ("label maps on a GPU must be of int32 or uint32");
    const WordMap from (labels);
    const CclVolumeIntensity intensity = intensity_of (labels, values);
    CclMapTable table = {};
    CclCudaDevice *const gpu = open_device (device_);
    const auto lock = call_library (mutex_, [&] (CclError *error) {
      ccl_cuda_map_measurer_set_stream (measurer_, labels.library_stream (), nullptr);
      const CclStatus status = wait_for_values (gpu, labels, values, error);
      return status == CUDACCL_OK
                 ? ccl_cuda_map_measurer_run (measurer_, &from.map, &intensity, &table, error)
                 : status;
    });
    return nb::make_tuple (nb::bytearray (table.rows, table.n_rows * sizeof *table.rows),
        nb::bytearray (table.shapes, columns_ ? table.n_rows * sizeof *table.shapes : 0),
        table.greatest_label);
  }

  uint32_t
  max_labels () const
  {
    return max_labels_;
  }

private:
  std::vector<size_t> shape_;
  int device_;
  uint32_t max_labels_, columns_;
  Handle<CclMapMeasurer, ccl_cuda_map_measurer_free> measurer_;
  std::mutex mutex_;
};

/* The values of given ranks among those of each label 1…n of a map on a GPU, as bytes of float64,
 * and the numbers of values of each label, then of those that are NaN, as bytes of uint32. ranks:
 * uint32 for each label, as many times as there are values to be found of it. */
static nb::typed<nb::tuple, nb::bytearray, nb::bytearray>
label_ranks (View &labels, View &values, int64_t n_labels, const nb::bytes &ranks)
{
  const uint32_t n = to_uint32 ("the greatest label", n_labels);
  const size_t ndim = labels.shape.size (), n_found = ranks.size () / sizeof (uint32_t);
  if (labels.device == HOST)
    throw nb::value_error ("the label map must be on a GPU");
  labels.check_labels ();
  if (values.shape != labels.shape)
    throw nb::value_error ("the intensity image has another shape than the labels");
  if (values.device != labels.device || !values.make_plain ())
    throw nb::value_error ("the intensity image must be on the GPU where the labels are");
  if (n == 0 || n_found % n)
    throw nb::value_error ("a rank for each label is needed");
  const std::unique_ptr<double[]> found (new double[n_found]);
  const std::unique_ptr<uint32_t[]> counts (new uint32_t[2 * (size_t)n]);
  const WordMap from (labels);
  const CclCudaRanks wanted = {.labels = from.map,
      .width = from.width,
      .height = from.height,
      .depth = from.depth,
      .values = values.data,
      .value_row_stride = (size_t)values.strides[ndim - 2],
      .value_slice_stride = (size_t)values.strides[0],
      .kind = values.type.kind == 'f'   ? CUDACCL_NUMBER_REAL
              : values.type.kind == 'i' ? CUDACCL_NUMBER_SIGNED
                                        : CUDACCL_NUMBER_UNSIGNED,
      .value_bytes = (uint32_t)values.type.size,
      .n_labels = n,
      .n_ranks = (uint32_t)(n_found / n),
      .ranks = (const uint32_t *)ranks.c_str (),
      .found = found.get (),
      .counts = counts.get ()};
  CclCudaDevice *const gpu = open_device (labels.device);
  call_library ([&] (CclError *error) {
    const CclStatus status = wait_for_values (gpu, labels, &values, error);
    return status == CUDACCL_OK
               ? ccl_cuda_label_ranks (gpu, &wanted, labels.library_stream (), error)
               : status;
  });
  return nb::make_tuple (nb::bytearray (found.get (), n_found * sizeof found[0]),
      nb::bytearray (counts.get (), 2 * (size_t)n * sizeof counts[0]));
}

/* Copies an array on a GPU to a NumPy array of its shape and type without gaps, after the work that
 * is queued on its stream. */
static void
copy_view_to_host (View &from, const View &to)
{
  const size_t n_bytes = from.n_elements () * (size_t)from.type.size;
  if (from.device == HOST || to.device != HOST || from.shape != to.shape ||
      from.type.size != to.type.size || !from.make_plain () || !to.has_plain_rows ())
    throw nb::value_error ("an array on a GPU is needed, and one in host memory of its shape");
  if (n_bytes == 0)
    return;
  const size_t ndim = from.shape.size (), row_bytes = from.shape[ndim - 1] * from.type.size;
  size_t extent = row_bytes;
  for (size_t i = 0; i + 1 < ndim; i++)
    extent += (from.shape[i] - 1) * (size_t)from.strides[i];
  std::vector<char> bytes (extent == n_bytes ? 0 : extent);
  char *const copy = extent == n_bytes ? to.data : bytes.data ();
  CclCudaDevice *const gpu = open_device (from.device);
  call_library ([&] (CclError *error) {
    CclStatus status =
        from.stream > 1 ? ccl_cuda_stream_wait (gpu, (void *)from.stream, error) : CUDACCL_OK;
    if (status == CUDACCL_OK)
      status = ccl_cuda_memory_download (gpu, from.data, copy, extent, error);
    for (size_t done = 0; status == CUDACCL_OK && copy != to.data && done < n_bytes;
         done += row_bytes) {
      size_t number = done / row_bytes, offset = 0;
      for (size_t i = ndim - 1; i-- > 0; number /= from.shape[i])
        offset += number % from.shape[i] * (size_t)from.strides[i];
      memcpy (to.data + done, copy + offset, row_bytes);
    }
    return status;
  });
}

/* The fields of shapes: the flag of the column, the field, the pictures that have it, and of the
 * property its name, the place of the column, and whether it is an integer. */
static nb::typed<nb::list, nb::typed<nb::tuple, uint32_t, nb::str, nb::str, nb::str, nb::str, bool>>
list_measures ()
{
  nb::list measures;
#define IS_DOUBLE false
#define IS_COUNT true
#define APPEND(EACH, column, field, former, pictures, name, place, kind)                           \
  measures.append (nb::make_tuple (                                                                \
      (uint32_t)CUDACCL_COLUMN_##column, #field, #pictures, name, #place, IS_##kind));
  CUDACCL_MEASURES (CUDACCL_NO_INTEGER, APPEND, )
#undef APPEND
#undef IS_DOUBLE
#undef IS_COUNT
  return measures;
}

/* How many parts each of the labels 1…n has, as bytes. */
static nb::bytearray
count_parts (const View &labels, uint32_t connectivity, int64_t n_labels)
{
  const uint32_t n = to_uint32 ("the greatest label", n_labels);
  labels.check_host_labels (labels.shape.size ());
  const WordMap map (labels);
  const std::unique_ptr<uint32_t[]> parts (new uint32_t[n]);
  call_library ([&] (CclError *error) {
    return ccl_count_parts (
        &map.map, map.width, map.height, map.depth, connectivity, n, parts.get (), error);
  });
  return bytes_of (parts, n);
}

void
bind_measure (nb::module_ &module)
{
  module.def ("measures", list_measures,
      "Flag, name and pictures of each field of shapes; name of the property, place in it, whether "
      "it is an integer.");
  nb::class_<MapMeasurer> (module, "MapMeasurer", "Measures label maps of one shape on a GPU.")
      .def (nb::init<std::vector<uint32_t>, uint32_t, uint32_t, int> (), "shape"_a, "columns"_a,
          "max_labels"_a, "device"_a)
      .def ("run", &MapMeasurer::run, "labels"_a, "values"_a.none (),
          "Measures a label map; returns rows and shapes as bytes, and the greatest label.")
      .def_prop_ro ("max_labels", &MapMeasurer::max_labels);
  module.def ("copy_view_to_host", copy_view_to_host, "array"_a, "out"_a,
      "Copies an array on a GPU to one in host memory.");
  module.def ("label_ranks", label_ranks, "labels"_a, "values"_a, "n"_a, "ranks"_a,
      "The values of given ranks among those of each label on a GPU, and how many there are.");
  module.def ("count_parts", count_parts, "labels"_a, "connectivity"_a, "n"_a,
      "How many parts each of the labels 1…n has, as bytes of uint32.");
  module.def ("measure_volume_labels", measure_volume_labels, "labels"_a, "values"_a.none (),
      "columns"_a, "n"_a,
      "Measures the labels 1…n of a volume, or an image of any size; returns rows and shapes as "
      "bytes.");
  module.def ("measure_labels", measure_labels, "labels"_a, "values"_a.none (), "columns"_a, "n"_a,
      "Measures the labels 1…n; returns rows and shapes as bytes.");
}
