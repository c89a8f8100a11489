/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What cudaccl.dask does with chunks in host memory: their labels, seams and sums. */
#include "module.h"

#include "label/relabel/plan.h"

#include <cudaccl/chunks.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <tuple>

/* A label map without gaps, as label() and label_values() make it. */
static const uint32_t *
check_map (const View &labels)
{
  const size_t ndim = labels.shape.size ();
  if (ndim != 2 && ndim != 3)
    throw nb::value_error ("a label map has two or three dimensions");
  labels.check_host_labels (ndim);
  if (!labels.is_dense ())
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
  if (items.shape.size () != 1 || !items.is_dense () || out.shape != labels.shape ||
      !out.is_dense () || out.type.name () != items.type.name ())
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

static CclValueType
value_type (const View &values)
{
  if (values.type.kind == 'f' && values.type.size == 2)
    throw nb::type_error ("values must be integers or floats of 32 or 64 bits");
  return value_type_of (values.type);
}

/* Which labels of chunks are connected. */
class Forest {
public:
  Forest ()
  {
    forest_.make (ccl_forest_new);
  }

  /* Connects two rows or layers of labels, where they have values those that differ by at most the
   * tolerance. */
  void
  add_seam (const View &upper, const View &lower, uint32_t connectivity, uint32_t upper_chunk,
      uint32_t lower_chunk, const View *upper_values, const View *lower_values, double tolerance)
  {
    const size_t ndim = upper.shape.size ();
    if (ndim < 1 || ndim > 2 || upper.type.size != 4 || lower.type.size != 4)
      throw nb::value_error ("a seam has rows or layers of labels of 32 bits");
    for (const View *side : {&lower, upper_values, lower_values})
      if (side && (side->shape != upper.shape || !side->is_dense ()))
        throw nb::value_error ("the sides of a seam have one shape and no gaps");
    if (!upper.is_dense () ||
        (upper_values && lower_values && upper_values->type.name () != lower_values->type.name ()))
      throw nb::value_error ("the sides of a seam have one type and no gaps");
    CclSeam seam = {};
    seam.width = to_uint32 ("width", (int64_t)upper.shape[ndim - 1]);
    seam.height = ndim == 2 ? to_uint32 ("height", (int64_t)upper.shape[0]) : 1;
    seam.connectivity = connectivity;
    seam.upper = (const uint32_t *)upper.data;
    seam.lower = (const uint32_t *)lower.data;
    if (upper_values && lower_values) {
      seam.value_type = value_type (*upper_values);
      seam.upper_values = upper_values->data;
      seam.lower_values = lower_values->data;
      seam.is_signed = upper_values->type.kind == 'i';
      seam.tolerance = tolerance;
    }
    call_library ([&] (CclError *error) {
      return ccl_forest_add_seam (forest_, &seam, upper_chunk, lower_chunk, error);
    });
  }

  /* Connects pairs as pairs() returns them. */
  void
  add_pairs (const View &pairs)
  {
    CclError error = {};
    if (!pairs.is_dense () || pairs.type.size != 8 || pairs.n_elements () % 2)
      throw nb::value_error ("pairs are two numbers of 64 bits each");
    check (ccl_forest_add_pairs (
               forest_, (const CclLabelPair *)pairs.data, pairs.n_elements () / 2, &error),
        error);
  }

  /* Bytes of n×2 int64. */
  nb::bytearray
  pairs ()
  {
    const CclLabelPair *pairs = nullptr;
    size_t n = 0;
    call_library ([&] (CclError *error) { return ccl_forest_pairs (forest_, &pairs, &n, error); });
    return nb::bytearray (pairs, n * sizeof *pairs);
  }

  /* The roots of the labels of all chunks. n_labels: uint64, of each chunk. roots: uint64, of each
   * label. */
  void
  roots (const View &n_labels, const View &roots)
  {
    uint64_t n = 0;
    if (!n_labels.is_dense () || !roots.is_dense () || n_labels.type.size != 8 ||
        roots.type.size != 8)
      throw nb::value_error ("numbers of 64 bits are needed");
    const uint64_t *const counts = (const uint64_t *)n_labels.data;
    for (size_t i = 0; i < n_labels.n_elements (); i++)
      if (counts[i] > roots.n_elements () || __builtin_add_overflow (n, counts[i], &n))
        throw nb::value_error ("there is not a root for each label");
    if (n != roots.n_elements ())
      throw nb::value_error ("there is not a root for each label");
    call_library ([&] (CclError *error) {
      return ccl_forest_roots (
          forest_, counts, n_labels.n_elements (), (uint64_t *)roots.data, error);
    });
  }

private:
  Handle<CclForest, ccl_forest_free> forest_;
};

static CclPixelFormat
format_of (const std::string &values)
{
  return values == "reals"          ? CUDACCL_PIXEL_FORMAT_REAL
         : values == "reals or NaN" ? CUDACCL_PIXEL_FORMAT_REAL_OR_NAN
         : values == "words"        ? CUDACCL_PIXEL_FORMAT_16
                                    : CUDACCL_PIXEL_FORMAT_8;
}

/* The sums of labels of a picture in chunks. */
class Sums {
public:
  /* values: "reals", "reals or NaN" (which is left out), "words", or bytes. */
  Sums (const std::vector<uint64_t> &shape, uint32_t columns, const std::string &values)
      : ndim_ (shape.size ())
  {
    if (ndim_ != 2 && ndim_ != 3)
      throw nb::value_error ("a picture has two or three dimensions");
    plan_.size = sizeof plan_;
    plan_.width = shape[ndim_ - 1];
    plan_.height = shape[ndim_ - 2];
    plan_.depth = ndim_ == 3 ? shape[0] : 0;
    plan_.columns = columns;
    plan_.intensity_format = format_of (values);
  }

  /* The sums of the labels 1…n of a chunk. start: its first pixel. around: along each axis, how
   * many of the first and of the last pixels are neighbours and not measured. */
  nb::bytearray
  measure (const View &labels, const std::vector<uint64_t> &start, const View *values, uint32_t n,
      const std::vector<std::pair<uint32_t, uint32_t>> &around)
  {
    check_map (labels);
    if (labels.shape.size () != ndim_ || start.size () != ndim_ || around.size () != ndim_)
      throw nb::value_error ("a chunk has the dimensions of its picture");
    const CclPixelFormat format = plan_.intensity_format;
    const size_t bytes_of_value = value_bytes (format);
    if (values && (values->shape != labels.shape || !values->is_dense () ||
                      (size_t)values->type.size != bytes_of_value))
      throw nb::value_error ("the values have another shape or type than the chunk");
    const size_t width = labels.shape[ndim_ - 1], height = labels.shape[ndim_ - 2];
    const CclVolumeLabels map = {labels.data, width * 4, width * height * 4};
    CclVolumeIntensity plane = {};
    if (values)
      plane = {values->data, width * bytes_of_value, width * height * bytes_of_value, format};
    CclSumsPlan plan = plan_;
    std::tie (plan.layers_before, plan.layers_after) = around[0];
    std::tie (plan.pixels_before, plan.pixels_after) = around[ndim_ - 1];
    if (ndim_ == 3)
      std::tie (plan.rows_before, plan.rows_after) = around[1];
    const size_t size = n * ccl_sums_bytes ();
    const std::unique_ptr<char[]> sums (new char[size]);
    call_library ([&] (CclError *error) {
      return ccl_sums_measure (&plan, &map, (uint32_t)width, (uint32_t)height,
          ndim_ == 3 ? (uint32_t)labels.shape[0] : 1, start[ndim_ - 1], start[ndim_ - 2],
          ndim_ == 3 ? start[0] : 0, values ? &plane : nullptr, n, sums.get (), error);
    });
    return nb::bytearray (sums.get (), size);
  }

  /* Adds sums to those of owners 0…n - 1, uint64 each. */
  nb::bytearray
  add (const View &sums, const View &owners, size_t n)
  {
    const size_t bytes = ccl_sums_bytes (), n_sums = owners.n_elements ();
    const uint64_t *const numbers = (const uint64_t *)owners.data;
    if (!sums.is_dense () || !owners.is_dense () || owners.type.size != 8 ||
        sums.n_elements () * (size_t)sums.type.size != n_sums * bytes)
      throw nb::value_error ("there are not sums for each owner");
    for (size_t i = 0; i < n_sums; i++)
      if (numbers[i] >= n)
        throw nb::value_error ("there is no such owner");
    const std::unique_ptr<char[]> total (new char[n * bytes]);
    {
      const WithoutGil release;
      ccl_sums_clear (total.get (), n);
      ccl_sums_add (&plan_, total.get (), sums.data, numbers, n_sums);
    }
    return nb::bytearray (total.get (), n * bytes);
  }

  /* Bytes of rows and of shapes. */
  nb::typed<nb::tuple, nb::bytearray, nb::bytearray>
  derive (const View &sums)
  {
    const size_t size = sums.n_elements () * (size_t)sums.type.size, n = size / ccl_sums_bytes ();
    if (!sums.is_dense () || size % ccl_sums_bytes ())
      throw nb::value_error ("these are no sums");
    const std::unique_ptr<CclTiledComponent[]> rows (new CclTiledComponent[n]);
    const std::unique_ptr<CclVolumeShape[]> shapes (new CclVolumeShape[n]());
    {
      const WithoutGil release;
      ccl_sums_derive (&plan_, sums.data, n, rows.get (), shapes.get ());
    }
    return nb::make_tuple (nb::bytearray (rows.get (), n * sizeof rows[0]),
        nb::bytearray (shapes.get (), n * sizeof shapes[0]));
  }

private:
  CclSumsPlan plan_ = {};
  size_t ndim_;
};

/* The convex hulls of groups of points. points: m×2 int32, x and y. ends: n int64, where groups
 * end. Returns area, greatest and least Feret diameter of each hull, not a number without points;
 * the corners; and where those of each hull end. */
static nb::typed<nb::tuple, nb::bytearray, nb::bytearray, nb::bytearray>
point_hulls (const View &points, const View &ends)
{
  if (!points.is_dense () || !ends.is_dense () || points.type.size != 4 || ends.type.size != 8 ||
      points.n_elements () % 2)
    throw nb::value_error ("a point has two numbers of 32 bits, the end of a group one of 64");
  const size_t n_points = points.n_elements () / 2, n = ends.n_elements ();
  const CclContourPoint *const all = (const CclContourPoint *)points.data;
  const uint64_t *const end_of = (const uint64_t *)ends.data;
  for (size_t i = 0; i < n; i++)
    if (end_of[i] > n_points || (i && end_of[i] < end_of[i - 1]))
      throw nb::value_error ("groups of points end in their order");
  std::vector<CclContourPoint> corners (n_points);
  std::vector<double> measures;
  std::vector<int64_t> corner_ends;
  uint64_t begin = 0, n_corners = 0;

  call_library ([&] (CclError *error) {
    CclStatus status = CUDACCL_OK;
    for (size_t i = 0; i < n && status == CUDACCL_OK; i++) {
      CclHull hull = {0, NAN, NAN, NAN};
      if (is_interrupted (nullptr))
        status = CUDACCL_ERROR_INTERRUPTED;
      else if (end_of[i] > begin)
        status =
            ccl_contour_hull (all + begin, to_uint32 ("the points", (int64_t)(end_of[i] - begin)),
                &hull, corners.data () + n_corners, error);
      n_corners += hull.n_points;
      begin = end_of[i];
      measures.insert (measures.end (), {hull.area, hull.feret_max, hull.feret_min});
      corner_ends.push_back ((int64_t)n_corners);
    }
    return status;
  });
  return nb::make_tuple (nb::bytearray (measures.data (), measures.size () * sizeof (double)),
      nb::bytearray (corners.data (), n_corners * sizeof (CclContourPoint)),
      nb::bytearray (corner_ends.data (), n * sizeof (int64_t)));
}

/* The labels of patches when the holes of labels are filled, as bytes of int64. patches: n×9 words
 * of 64 bits, as CclPatch; pairs: n×2 places of patches that touch. */
static nb::bytearray
fill_patches (const View &patches, const View &pairs, uint64_t max_area)
{
  if (!patches.is_dense () || !pairs.is_dense () || patches.type.size != 8 ||
      pairs.type.size != 8 || patches.n_elements () % 9 || pairs.n_elements () % 2)
    throw nb::value_error ("a patch has nine numbers of 64 bits, a pair two");
  static_assert (sizeof (CclPatch) == 9 * sizeof (uint64_t));
  const size_t n = patches.n_elements () / 9;
  std::vector<uint64_t> labels (n + 1);
  call_library ([&] (CclError *error) {
    return ccl_fill_patches ((const CclPatch *)patches.data, n, (const CclPatchPair *)pairs.data,
        pairs.n_elements () / 2, max_area, labels.data (), error);
  });
  return nb::bytearray (labels.data (), n * sizeof labels[0]);
}

void
bind_chunks (nb::module_ &module)
{
  module.def ("fill_patches", fill_patches, "patches"_a, "pairs"_a, "max_area"_a,
      "The labels of patches when the holes of labels are filled, as bytes of int64.");
  module.def ("first_pixels", first_pixels, "labels"_a,
      "The places of the first pixels of labels in raster order, as bytes of int64.");
  module.def ("replace_labels", replace_labels, "labels"_a, "items"_a, "out"_a,
      "Writes what belongs to each pixel's label.");
  module.def ("sums_bytes", ccl_sums_bytes, "The bytes of the sums of a label.");
  nb::class_<Forest> (module, "Forest", "Which labels of chunks are connected.")
      .def (nb::init<> ())
      .def ("add_seam", &Forest::add_seam, "upper"_a, "lower"_a, "connectivity"_a, "upper_chunk"_a,
          "lower_chunk"_a, "upper_values"_a.none () = nb::none (),
          "lower_values"_a.none () = nb::none (), "tolerance"_a = 0.0)
      .def ("add_pairs", &Forest::add_pairs, "pairs"_a)
      .def ("pairs", &Forest::pairs)
      .def ("roots", &Forest::roots, "n_labels"_a, "roots"_a);
  module.def ("point_hulls", point_hulls, "points"_a, "ends"_a,
      "Area and Feret diameters of the hulls of groups of points, their corners, and where those "
      "end.");
  nb::class_<Sums> (module, "Sums", "The sums of labels of a picture in chunks.")
      .def (nb::init<const std::vector<uint64_t> &, uint32_t, const std::string &> (), "shape"_a,
          "columns"_a, "values"_a)
      .def ("measure", &Sums::measure, "labels"_a, "start"_a, "values"_a.none (), "n"_a, "around"_a)
      .def ("add", &Sums::add, "sums"_a, "owners"_a, "n"_a)
      .def ("derive", &Sums::derive, "sums"_a);
}
