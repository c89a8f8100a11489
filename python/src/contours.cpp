/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Contours of arrays in host memory or on a GPU; hulls and run-length encodings of those in host
 * memory. */
#include "module.h"

#include <cudaccl/device.h>

#include <memory>
#include <mutex>

/* Finds contours of images of one shape, in host memory or on a GPU. */
class ContourFinder {
public:
  ContourFinder (const std::vector<uint32_t> &shape, int connectivity, bool cracks, int device)
      : shape_ (shape.begin (), shape.end ()), device_ (device)
  {
    CclContoursPlan plan = CUDACCL_CONTOURS_PLAN_DEFAULT;
    if (shape.size () != 2)
      throw nb::value_error ("an image has two dimensions");
    plan.width = shape[1];
    plan.height = shape[0];
    plan.connectivity = (CclConnectivity)connectivity;
    plan.kind = cracks ? CUDACCL_CONTOUR_CRACKS : CUDACCL_CONTOUR_PIXELS;
    CclCudaDevice *const gpu = open_device (device);
    contours_.make ([&] (CclError *error) {
      return gpu ? ccl_cuda_contours_new (gpu, &plan, error) : ccl_cpu_contours_new (&plan, error);
    });
  }

  /* The contours of a label map of 32 bits, or of bytes: rows, points and the number of components.
   */
  nb::typed<nb::tuple, nb::bytearray, nb::bytearray, uint32_t>
  run (View &image, int64_t threshold, bool invert)
  {
    const bool is_map = !image.type.is_byte ();
    if (image.shape != shape_ || image.device != device_ || !image.make_plain () ||
        (is_map && (image.type.size != 4 || image.type.kind == 'f')))
      throw nb::value_error ("images must have the shape of the object, and be where it is");
    const CclFrame frame = {image.data, (size_t)image.strides[0], image.location ()};
    const CclLabels labels = {image.data, (size_t)image.strides[0]};
    CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
    options.threshold = to_uint32 ("the threshold", threshold);
    options.invert = invert;
    CclContourTable table = {};
    const auto lock = call_library (mutex_, [&] (CclError *error) {
      if (device_ != HOST)
        ccl_cuda_contours_set_stream (contours_, image.library_stream (), nullptr);
      return is_map ? ccl_contours_of_labels (contours_, &labels, &table, error)
                    : ccl_contours_of_frame (contours_, &frame, &options, &table, error);
    });
    return nb::make_tuple (nb::bytearray (table.rows, table.n_contours * sizeof *table.rows),
        nb::bytearray (table.points, table.n_points * sizeof *table.points), table.n_components);
  }

private:
  std::vector<size_t> shape_;
  int device_;
  Handle<CclContours, ccl_contours_free> contours_;
  std::mutex mutex_;
};

/* The rings of polygons of contours as cracks with 4-connectivity: rows and points. */
static nb::typed<nb::tuple, nb::bytearray, nb::bytearray>
divide_contours (const nb::bytes &rows, const nb::bytes &points)
{
  std::vector<CclContour> contours (rows.size () / sizeof (CclContour));
  std::vector<CclContourPoint> corners (points.size () / sizeof (CclContourPoint));
  memcpy (contours.data (), rows.data (), contours.size () * sizeof (CclContour));
  memcpy (corners.data (), points.data (), corners.size () * sizeof (CclContourPoint));
  const CclContourTable table = {
      0, (uint32_t)contours.size (), (uint32_t)corners.size (), contours.data (), corners.data ()};
  for (const CclContour &row : contours)
    if ((uint64_t)row.first_point + row.n_points > corners.size ())
      throw nb::value_error ("a contour has points that there are not");
  std::vector<CclContour> rings (corners.size () / 4 + 1);
  std::vector<CclContourPoint> divided (corners.size ());
  uint32_t n = 0;
  call_library ([&] (CclError *error) {
    return ccl_contour_rings (&table, rings.data (), divided.data (), &n, error);
  });
  return nb::make_tuple (nb::bytearray (rings.data (), n * sizeof (CclContour)),
      nb::bytearray (divided.data (), divided.size () * sizeof (CclContourPoint)));
}

/* Simplifies contours one by one, in place: the numbers of points, and the points. */
static nb::typed<nb::tuple, nb::bytearray, nb::bytearray>
simplify_contours (const nb::bytes &points, const nb::bytes &n_points, double tolerance)
{
  const size_t n = n_points.size () / sizeof (uint32_t);
  const CclContourPoint *from = (const CclContourPoint *)points.data ();
  const size_t n_all = points.size () / sizeof *from;
  std::vector<uint32_t> numbers (n);
  std::vector<CclContourPoint> simplified (n_all);
  size_t n_left = 0, first = 0;
  bool is_done = true;
  {
    const WithoutGil release;
    for (size_t i = 0; i < n && is_done; i++) {
      if (i % 64 == 0 && is_interrupted (nullptr))
        break;
      uint32_t number;
      memcpy (&number, (const char *)n_points.data () + i * sizeof number, sizeof number);
      is_done = number <= n_all - first;
      numbers[i] = is_done ? ccl_contour_simplify (
                                 from + first, number, tolerance, simplified.data () + n_left)
                           : 0;
      is_done = numbers[i] > 0;
      n_left += numbers[i];
      first += number;
    }
  }
  if (PyErr_Occurred ())
    throw nb::python_error ();
  if (!is_done)
    throw nb::value_error ("the tolerance must be 0 or greater, or there is not enough memory");
  return nb::make_tuple (nb::bytearray (numbers.data (), n * sizeof (uint32_t)),
      nb::bytearray (simplified.data (), n_left * sizeof (CclContourPoint)));
}

/* The components that rows of a component table describe, inside the map. */
static std::vector<CclComponent>
components_of (const View &labels, const nb::bytes &rows)
{
  std::vector<CclComponent> components (rows.size () / sizeof (CclComponent));

  labels.check_host_labels (2);
  memcpy (components.data (), rows.data (), components.size () * sizeof (CclComponent));
  for (const CclComponent &row : components)
    if ((uint64_t)row.x + row.width > labels.shape[1] ||
        (uint64_t)row.y + row.height > labels.shape[0])
      throw nb::value_error ("a row of the component table is outside the label map");
  return components;
}

/* Areas of the hulls of labels, and their greatest and least Feret diameters; not a number for
 * labels without pixels. */
static nb::bytearray
measure_hulls (const View &labels, const nb::bytes &rows)
{
  const std::vector<CclComponent> components = components_of (labels, rows);
  const CclLabels map = {labels.data, (size_t)labels.strides[0]};
  std::vector<double> measures;
  call_library ([&] (CclError *error) {
    CclStatus status = CUDACCL_OK;
    for (size_t i = 0; i < components.size () && status == CUDACCL_OK; i++) {
      CclHull hull = {0, NAN, NAN, NAN};
      if (is_interrupted (nullptr))
        status = CUDACCL_ERROR_INTERRUPTED;
      else if (components[i].width > 0)
        status = ccl_label_hull (&map, &components[i], &hull, error);
      measures.insert (measures.end (), {hull.area, hull.feret_max, hull.feret_min});
    }
    return status;
  });
  return nb::bytearray (measures.data (), measures.size () * sizeof (double));
}

/* Counts as bytes: uint32, or compressed. text: memory that is used again. */
static nb::bytes
encoding_of (const uint32_t *counts, uint64_t n, bool compressed, std::vector<char> &text)
{
  if (!compressed)
    return nb::bytes (counts, n * sizeof *counts);
  if (text.size () < ccl_rle_most_characters (n))
    text.resize (ccl_rle_most_characters (n));
  return nb::bytes (text.data (), ccl_rle_compress (counts, n, text.data ()));
}

/* The counts of each component. */
static nb::typed<nb::list, nb::bytes>
encode_rle (const View &labels, const nb::bytes &rows, bool compressed)
{
  const std::vector<CclComponent> components = components_of (labels, rows);
  const CclLabels map = {labels.data, (size_t)labels.strides[0]};
  nb::list encodings;
  std::vector<char> text;

  for (const CclComponent &row : components) {
    if (PyErr_CheckSignals () != 0)
      throw nb::python_error ();
    std::vector<uint32_t> counts (ccl_rle_most_counts (&row));
    counts.resize (ccl_rle_encode (
        &map, (uint32_t)labels.shape[1], (uint32_t)labels.shape[0], &row, counts.data ()));
    encodings.append (encoding_of (counts.data (), counts.size (), compressed, text));
  }
  return encodings;
}

/* Finds the masks of label maps of one shape on a GPU. */
class MapRuns {
public:
  MapRuns (const std::vector<uint32_t> &shape, int device)
      : shape_ (shape.begin (), shape.end ()), device_ (device)
  {
    if (shape.size () != 2)
      throw nb::value_error ("a label map has two dimensions");
    CclCudaDevice *const gpu = open_device (device);
    runs_.make (
        [&] (CclError *error) { return ccl_cuda_map_runs_new (gpu, shape[1], shape[0], error); });
  }

  /* The counts of each label, as of encode_rle(). */
  nb::typed<nb::list, nb::bytes>
  encode (View &map, bool compressed)
  {
    if (map.shape != shape_ || map.device != device_ || !map.make_words ())
      throw nb::value_error ("label maps on a GPU must be of int32 or uint32");
    const CclLabels labels = {map.data, (size_t)map.strides[0]};
    const CclLabelRun *runs = nullptr;
    uint64_t n = 0;
    Masks masks;
    const auto lock = call_library (mutex_, [&] (CclError *error) {
      ccl_cuda_map_runs_set_stream (runs_, map.library_stream (), nullptr);
      CclStatus status = ccl_cuda_map_runs_find (runs_, &labels, &runs, &n, error);
      if (status == CUDACCL_OK)
        status = ccl_rle_group_runs (runs, n, map.n_elements (), &masks.of, error);
      return status;
    });
    if (map.type.kind == 'i' && masks.of.n_masks > 0 &&
        masks.of.labels[masks.of.n_masks - 1] > INT32_MAX)
      throw nb::value_error ("labels must not be negative");
    return masks.encodings (compressed);
  }

private:
  struct Masks {
    ~Masks ()
    {
      ccl_rle_masks_free (&of);
    }

    nb::typed<nb::list, nb::bytes>
    encodings (bool compressed) const
    {
      nb::list all;
      std::vector<char> text;
      for (uint32_t i = 0; i < of.n_masks; i++) {
        if (i % 256 == 0 && PyErr_CheckSignals () != 0)
          throw nb::python_error ();
        all.append (encoding_of (of.counts + of.first_count[i],
            of.first_count[i + 1] - of.first_count[i], compressed, text));
      }
      return all;
    }

    CclRleMasks of = {};
  };

  std::vector<size_t> shape_;
  int device_;
  Handle<CclMapRuns, ccl_cuda_map_runs_free> runs_;
  std::mutex mutex_;
};

/* Decodes counts, as bytes of uint32 or compressed, to a mask of width × height bytes. */
static nb::bytearray
decode_rle (const nb::bytes &encoding, bool compressed, int64_t width, int64_t height)
{
  const uint32_t columns = to_uint32 ("the width", width), rows = to_uint32 ("the height", height);
  std::vector<uint32_t> counts (compressed ? encoding.size () + 1 : encoding.size () / 4);
  uint64_t n = counts.size ();
  CclError error = {};

  if ((uint64_t)columns * rows > CUDACCL_MAX_PIXELS)
    throw nb::value_error ("the mask is too large");
  if (compressed)
    check (ccl_rle_decompress (
               (const char *)encoding.data (), encoding.size (), counts.data (), &n, &error),
        error);
  else
    memcpy (counts.data (), encoding.data (), n * 4);
  std::vector<uint8_t> mask ((size_t)columns * rows);
  check (ccl_rle_decode (counts.data (), n, columns, rows, mask.data (), columns, &error), error);
  return nb::bytearray (mask.data (), mask.size ());
}

void
bind_contours (nb::module_ &module)
{
  nb::class_<ContourFinder> (module, "ContourFinder", "Finds contours of images of one shape.")
      .def (nb::init<std::vector<uint32_t>, int, bool, int> (), "shape"_a, "connectivity"_a,
          "cracks"_a, "device"_a)
      .def ("run", &ContourFinder::run, "image"_a, "threshold"_a, "invert"_a,
          "Rows, points and the number of components.");
  nb::class_<MapRuns> (module, "MapRuns", "Finds the masks of label maps of one shape on a GPU.")
      .def (nb::init<std::vector<uint32_t>, int> (), "shape"_a, "device"_a)
      .def ("encode", &MapRuns::encode, "labels"_a, "compressed"_a,
          "The run lengths of the labels that have pixels, in ascending order.");
  module.def ("divide_contours", divide_contours, "rows"_a, "points"_a,
      "The rings of polygons of contours.");
  module.def ("simplify_contours", simplify_contours, "points"_a, "n_points"_a, "tolerance"_a,
      "Simplifies the polygons of contours.");
  module.def ("measure_hulls", measure_hulls, "labels"_a, "rows"_a,
      "Area, greatest and least Feret diameter of the hulls of labels, as bytes.");
  module.def ("encode_rle", encode_rle, "labels"_a, "rows"_a, "compressed"_a,
      "The run lengths of components.");
  module.def ("decode_rle", decode_rle, "encoding"_a, "compressed"_a, "width"_a, "height"_a,
      "The mask of run lengths, as bytes.");
}
