/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The features of the labels of a label map. */
#include "module.h"

#include <memory>

static_assert (sizeof (CclShape) % sizeof (double) == 0, "all of its fields are doubles");

/* The format of the second plane or volume, of the shape of the labels, in host memory. */
static CclPixelFormat
format_of (const View &labels, const View &values)
{
  const bool has_words = values.type.kind == 'u' && values.type.size == 2;
  if (values.shape != labels.shape)
    throw nb::value_error ("the intensity image has another shape than the labels");
  if (values.device != HOST || !values.has_plain_rows ())
    throw nb::value_error ("the intensity image must be in host memory, with consecutive pixels");
  if (!has_words && !values.type.is_byte ())
    throw nb::type_error ("the intensity image must be of uint8, uint16 or bool");
  return has_words ? CUDACCL_PIXEL_FORMAT_16 : CUDACCL_PIXEL_FORMAT_8;
}

/* Checks a label map of so many dimensions. */
static void
check_labels (const View &labels, size_t n_dimensions)
{
  if (labels.shape.size () != n_dimensions || labels.device != HOST || !labels.has_plain_rows () ||
      labels.type.size != 4)
    throw nb::value_error ("labels must be a plain array of uint32 in host memory");
}

template <typename Row>
static nb::bytearray
bytes_of (const std::unique_ptr<Row[]> &rows, uint32_t n)
{
  return nb::bytearray (rows.get (), n * sizeof (Row));
}

/* The rows, features and shapes of the labels 1…n. */
static nb::typed<nb::tuple, nb::bytearray, nb::bytearray, nb::bytearray>
measure_labels (const View &labels, const View *values, uint32_t columns, int64_t n_labels)
{
  const uint32_t n = to_uint32 ("the greatest label", n_labels);
  check_labels (labels, 2);
  const CclLabels map = {labels.data, (size_t)labels.strides[0]};
  CclIntensity intensity = {};
  if (values)
    intensity = {values->data, (size_t)values->strides[0], format_of (labels, *values)};
  const std::unique_ptr<CclComponent[]> rows (new CclComponent[n]);
  const std::unique_ptr<CclFeatures[]> features (new CclFeatures[n]);
  const std::unique_ptr<CclShape[]> shapes (new CclShape[n]);
  CclError error = {};
  CclStatus status;
  {
    const nb::gil_scoped_release release;
    status = ccl_measure_labels (&map, (uint32_t)labels.shape[1], (uint32_t)labels.shape[0],
        &intensity, columns, n, rows.get (), features.get (), &error);
    for (uint32_t i = 0; status == CUDACCL_OK && i < n; i++)
      ccl_features_derive (&rows[i], &features[i], columns, &shapes[i]);
  }
  check (status, error);
  return nb::make_tuple (bytes_of (rows, n), bytes_of (features, n), bytes_of (shapes, n));
}

/* The rows and shapes of the labels 1…n of a volume. */
static nb::typed<nb::tuple, nb::bytearray, nb::bytearray>
measure_volume_labels (const View &labels, const View *values, uint32_t columns, int64_t n_labels)
{
  const uint32_t n = to_uint32 ("the greatest label", n_labels);
  check_labels (labels, 3);
  const CclVolumeLabels map = {labels.data, (size_t)labels.strides[1], (size_t)labels.strides[0]};
  CclVolumeIntensity intensity = {};
  if (values)
    intensity = {values->data, (size_t)values->strides[1], (size_t)values->strides[0],
        format_of (labels, *values)};
  const std::unique_ptr<CclVolumeComponent[]> rows (new CclVolumeComponent[n]);
  const std::unique_ptr<CclVolumeShape[]> shapes (new CclVolumeShape[n]);
  CclError error = {};
  CclStatus status;
  {
    const nb::gil_scoped_release release;
    status = ccl_measure_volume_labels (&map, (uint32_t)labels.shape[2], (uint32_t)labels.shape[1],
        (uint32_t)labels.shape[0], &intensity, columns, n, rows.get (), shapes.get (), &error);
  }
  check (status, error);
  return nb::make_tuple (bytes_of (rows, n), bytes_of (shapes, n));
}

/* The fields of a feature and a shape: the flag of the column, the name and, of features, the
 * number of bytes. */
static nb::typed<nb::list, nb::typed<nb::tuple, uint32_t, nb::str, size_t>>
list_features ()
{
  nb::list features;
#define APPEND(column, type, field, combine)                                                       \
  features.append (nb::make_tuple ((uint32_t)CUDACCL_COLUMN_##column, #field, sizeof (type)));
  CUDACCL_FEATURES (APPEND)
#undef APPEND
  return features;
}

#define APPEND(column, field)                                                                      \
  shapes.append (nb::make_tuple ((uint32_t)CUDACCL_COLUMN_##column, #field));
static nb::typed<nb::list, nb::typed<nb::tuple, uint32_t, nb::str>>
list_shapes ()
{
  nb::list shapes;
  CUDACCL_SHAPES (APPEND)
  return shapes;
}

static nb::typed<nb::list, nb::typed<nb::tuple, uint32_t, nb::str>>
list_volume_shapes ()
{
  nb::list shapes;
  CUDACCL_VOLUME_SHAPES (APPEND)
  return shapes;
}
#undef APPEND

void
bind_measure (nb::module_ &module)
{
  module.def ("features", list_features, "Flag, name and bytes of each field of a feature.");
  module.def ("shapes", list_shapes, "Flag and name of each field of a shape.");
  module.def (
      "volume_shapes", list_volume_shapes, "Flag and name of each field of a volume's shape.");
  module.def ("measure_volume_labels", measure_volume_labels, nb::arg ("labels"),
      nb::arg ("values").none (), nb::arg ("columns"), nb::arg ("n"),
      "Measures the labels 1…n of a volume; returns rows and shapes as bytes.");
  module.def ("measure_labels", measure_labels, nb::arg ("labels"), nb::arg ("values").none (),
      nb::arg ("columns"), nb::arg ("n"),
      "Measures the labels 1…n; returns rows, features and shapes as bytes.");
}
