/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What cudaccl.dask does with each pixel of the label map of a chunk in host memory. */
#include "module.h"

#include <cstring>

/* A label map without gaps, as label() and label_values() make it. */
static const uint32_t *
check_map (const View &labels)
{
  const size_t ndim = labels.shape.size ();
  if (ndim != 2 && ndim != 3)
    throw nb::value_error ("a label map has two or three dimensions");
  labels.check_host_labels (ndim);
  if (labels.n_elements () > 0 &&
      labels.strides[0] * (ptrdiff_t)labels.shape[0] != (ptrdiff_t)labels.n_elements () * 4)
    throw nb::value_error ("labels must be an array without gaps");
  return (const uint32_t *)labels.data;
}

/* The places of the first pixels of the labels 1, 2, … which are numbered in their order, as bytes
 * of int64. */
static nb::bytearray
first_pixels (const View &labels)
{
  const uint32_t *const map = check_map (labels);
  const size_t n = labels.n_elements ();
  std::vector<int64_t> places;
  {
    const WithoutGil release;
    uint32_t greatest = 0;
    for (size_t i = 0; i < n; i++)
      if (map[i] > greatest) {
        greatest = map[i];
        places.push_back ((int64_t)i);
      }
  }
  return nb::bytearray (places.data (), places.size () * sizeof (int64_t));
}

/* Returns whether all labels have a row. */
template <typename Item>
static bool
replace_each (const uint32_t *map, size_t n, const View &items, char *out)
{
  const size_t n_items = items.n_elements ();
  bool are_there = true;
  for (size_t i = 0; i < n; i++) {
    const bool is_there = map[i] < n_items;
    Item item = 0;
    if (is_there)
      memcpy (&item, items.data + map[i] * sizeof item, sizeof item);
    memcpy (out + i * sizeof item, &item, sizeof item);
    are_there &= is_there;
  }
  return are_there;
}

/* Writes what belongs to each pixel's label. items: for the labels 0, 1, … */
static void
replace_labels (const View &labels, const View &items, const View &out)
{
  const uint32_t *const map = check_map (labels);
  const size_t n = labels.n_elements ();
  if (items.device != HOST || items.shape.size () != 1 || !items.has_plain_rows () ||
      out.device != HOST || out.shape != labels.shape || !out.has_plain_rows () ||
      out.type.name () != items.type.name () ||
      (n > 0 && out.strides[0] * (ptrdiff_t)out.shape[0] != (ptrdiff_t)n * out.type.size))
    throw nb::value_error ("a row of items and an array of the labels' shape are needed");
  bool are_there;
  {
    const WithoutGil release;
    are_there = items.type.size == 1   ? replace_each<uint8_t> (map, n, items, out.data)
                : items.type.size == 2 ? replace_each<uint16_t> (map, n, items, out.data)
                : items.type.size == 4 ? replace_each<uint32_t> (map, n, items, out.data)
                                       : replace_each<uint64_t> (map, n, items, out.data);
  }
  if (!are_there)
    throw nb::value_error ("a label has no item");
}

void
bind_chunks (nb::module_ &module)
{
  module.def ("first_pixels", first_pixels, nb::arg ("labels"),
      "The places of the first pixels of labels in raster order, as bytes of int64.");
  module.def ("replace_labels", replace_labels, nb::arg ("labels"), nb::arg ("items"),
      nb::arg ("out"), "Writes what belongs to each pixel's label.");
}
