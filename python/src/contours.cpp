/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Contours, hulls and run-length encodings of arrays in host memory. */
#include "module.h"

#include <memory>

static void
check_map (const View &labels)
{
  if (labels.shape.size () != 2 || labels.device != HOST || !labels.has_plain_rows () ||
      labels.type.size != 4)
    throw nb::value_error ("labels must be a plain array of uint32 in host memory");
}

struct FreeContours {
  void
  operator() (CclContours *contours) const
  {
    ccl_contours_free (&contours);
  }
};

/* The contours of a label map, or of the bytes of a mask that are not 0: rows, points and the
 * number of components. */
static nb::typed<nb::tuple, nb::bytearray, nb::bytearray, uint32_t>
find_contours (const View &image, int connectivity, bool cracks)
{
  const bool is_map = !image.type.is_byte ();
  if (is_map)
    check_map (image);
  else if (image.shape.size () != 2 || image.device != HOST || !image.has_plain_rows ())
    throw nb::value_error ("the mask must be a plain array in host memory");
  CclContoursPlan plan = CUDACCL_CONTOURS_PLAN_DEFAULT;
  plan.width = to_uint32 ("the width", (int64_t)image.shape[1]);
  plan.height = to_uint32 ("the height", (int64_t)image.shape[0]);
  plan.connectivity = (CclConnectivity)connectivity;
  plan.kind = cracks ? CUDACCL_CONTOUR_CRACKS : CUDACCL_CONTOUR_PIXELS;
  const CclFrame frame = {.data = image.data, .stride = (size_t)image.strides[0]};
  const CclLabels labels = {image.data, (size_t)image.strides[0]};
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclContourTable table = {};
  CclError error = {};
  CclStatus status;
  std::unique_ptr<CclContours, FreeContours> contours;
  {
    const nb::gil_scoped_release release;
    contours.reset (ccl_cpu_contours_new (&plan, &error));
    status = !contours ? error.status
             : is_map  ? ccl_contours_of_labels (contours.get (), &labels, &table, &error)
                       : ccl_contours_of_frame (contours.get (), &frame, &options, &table, &error);
  }
  check (status, error);
  return nb::make_tuple (nb::bytearray (table.rows, table.n_contours * sizeof *table.rows),
      nb::bytearray (table.points, table.n_points * sizeof *table.points), table.n_components);
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
    const nb::gil_scoped_release release;
    for (size_t i = 0; i < n && is_done; i++) {
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

  check_map (labels);
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
  CclError error = {};
  CclStatus status = CUDACCL_OK;
  {
    const nb::gil_scoped_release release;
    for (const CclComponent &row : components) {
      CclHull hull = {0, NAN, NAN, NAN};
      if (row.width > 0 && status == CUDACCL_OK)
        status = ccl_label_hull (&map, &row, &hull, &error);
      measures.insert (measures.end (), {hull.area, hull.feret_max, hull.feret_min});
    }
  }
  check (status, error);
  return nb::bytearray (measures.data (), measures.size () * sizeof (double));
}

/* The counts of each component as bytes: uint32, or compressed. */
static nb::typed<nb::list, nb::bytes>
encode_rle (const View &labels, const nb::bytes &rows, bool compressed)
{
  const std::vector<CclComponent> components = components_of (labels, rows);
  const CclLabels map = {labels.data, (size_t)labels.strides[0]};
  nb::list encodings;

  for (const CclComponent &row : components) {
    std::vector<uint32_t> counts (ccl_rle_most_counts (&row));
    counts.resize (ccl_rle_encode (
        &map, (uint32_t)labels.shape[1], (uint32_t)labels.shape[0], &row, counts.data ()));
    std::vector<char> text (compressed ? ccl_rle_most_characters (counts.size ()) : 0);
    if (compressed)
      encodings.append (nb::bytes (
          text.data (), ccl_rle_compress (counts.data (), counts.size (), text.data ())));
    else
      encodings.append (nb::bytes (counts.data (), counts.size () * sizeof (uint32_t)));
  }
  return encodings;
}

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
  module.def ("find_contours", find_contours, nb::arg ("image"), nb::arg ("connectivity"),
      nb::arg ("cracks"), "The contours of a mask or a label map.");
  module.def ("simplify_contours", simplify_contours, nb::arg ("points"), nb::arg ("n_points"),
      nb::arg ("tolerance"), "Simplifies the polygons of contours.");
  module.def ("measure_hulls", measure_hulls, nb::arg ("labels"), nb::arg ("rows"),
      "Area, greatest and least Feret diameter of the hulls of labels, as bytes.");
  module.def ("encode_rle", encode_rle, nb::arg ("labels"), nb::arg ("rows"),
      nb::arg ("compressed"), "The run lengths of components.");
  module.def ("decode_rle", decode_rle, nb::arg ("encoding"), nb::arg ("compressed"),
      nb::arg ("width"), nb::arg ("height"), "The mask of run lengths, as bytes.");
}
