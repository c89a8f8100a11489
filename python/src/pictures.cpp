/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The extension module _pictures: the files that ccl-label reads. It is a module of its own because
 * it needs libpng and libtiff. */
extern "C" {
#include "slices.h"
}

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

using Array = nb::ndarray<nb::c_contig, nb::device::cpu>;

[[noreturn]] static void
raise (const CclError &error)
{
  PyErr_SetString (
      error.status == CUDACCL_ERROR_NO_MEMORY ? PyExc_MemoryError : PyExc_OSError, error.message);
  throw nb::python_error ();
}

/* One file, a folder of slices or several files. */
class Reader {
public:
  /* raw_sides: width, height and, of a volume, depth of files without a header; empty: none.
   * as_values: read() gives numbers of which no two that differ become one, in place of grey. */
  Reader (std::vector<std::string> paths, std::vector<uint64_t> raw_sides,
      const std::string &raw_type, bool as_values)
      : as_values_ (as_values)
  {
    PictureOptions options = {};
    std::vector<char *> names;
    CclError error = {};

    options.formats = picture_formats;
    options.as_values = as_values;
    if (!raw_sides.empty ()) {
      options.raw = {raw_sides[0], raw_sides[1], raw_sides.size () > 2 ? raw_sides[2] : 1,
          raw_sides.size () > 2, SAMPLE_UINT8};
      if (!sample_type_parse (raw_type.c_str (), &options.raw.type))
        throw nb::value_error (("files of " + raw_type + " cannot be read").c_str ());
    }
    for (std::string &path : paths)
      names.push_back (path.data ());
    const nb::gil_scoped_release release;
    picture_ = picture_open (names.data (), (uint32_t)names.size (), &options, &error);
    if (!picture_) {
      const nb::gil_scoped_acquire acquire;
      raise (error);
    }
  }

  Reader (const Reader &) = delete;

  ~Reader ()
  {
    picture_free (picture_);
  }

  /* Of a volume depth, height and width. */
  nb::typed<nb::tuple, uint64_t, nb::ellipsis>
  shape () const
  {
    return picture_->is_volume ? nb::make_tuple (picture_->depth, picture_->height, picture_->width)
                               : nb::make_tuple (picture_->height, picture_->width);
  }

  /* What a volume may be instead; empty: nothing. */
  std::string
  may_be () const
  {
    return picture_->may_be ? picture_->may_be : "";
  }

  /* The value of pixels without data; None: all have some. */
  std::optional<double>
  no_data () const
  {
    return picture_->has_no_data ? std::optional (picture_->no_data) : std::nullopt;
  }

  /* Six numbers: the corner in front of column c and row r is at a0 + a1 c + a2 r, a3 + a4 c + a5 r
   * on the Earth; None: nobody knows. */
  std::optional<std::vector<double>>
  affine () const
  {
    const GeoReference *geo = picture_->geo;
    if (!geo || !geo->has_affine)
      return std::nullopt;
    return std::vector<double> (geo->affine, geo->affine + 6);
  }

  /* The EPSG code of the coordinate reference system; 0: there is none. */
  uint32_t
  epsg () const
  {
    return picture_->geo ? picture_->geo->epsg : 0;
  }

  const char *
  dtype () const
  {
    return sample_type_name (type ());
  }

  /* Reads rows of samples, counted through all slices, into an array with as many bytes. */
  void
  read (uint64_t first_row, uint64_t n_rows, Array samples)
  {
    read_rows (first_row, n_rows, sample_bytes (type ()), samples,
        as_values_ ? picture_read_values : picture_read_grey);
  }

  /* Red, green and blue, or grey alone. */
  uint32_t
  n_colours () const
  {
    return picture_n_colours (picture_);
  }

  /* Reads rows of the samples of a colour. */
  void
  read_colour (uint32_t channel, uint64_t first_row, uint64_t n_rows, Array samples)
  {
    if (channel >= n_colours ())
      throw nb::value_error ("the picture has no such colour");
    read_rows (first_row, n_rows, sample_bytes (picture_->type), samples,
        [channel] (Picture *picture, uint64_t row, uint64_t n, void *to, CclError *error) {
          return picture_read_colour (picture, channel, row, n, to, error);
        });
  }

  /* Reads rows of a mask: 0 where a pixel is black or transparent, else 255. */
  void
  read_mask (uint64_t first_row, uint64_t n_rows, Array mask)
  {
    read_rows (first_row, n_rows, 1, mask,
        [] (Picture *picture, uint64_t row, uint64_t n, void *pixels, CclError *error) {
          return picture_read_mask (picture, row, n, (uint8_t *)pixels, error);
        });
  }

private:
  SampleType
  type () const
  {
    return as_values_ ? picture_value_type (picture_) : picture_->type;
  }

  template <typename Read>
  void
  read_rows (uint64_t first_row, uint64_t n_rows, uint32_t pixel_bytes, Array &to, Read read)
  {
    const uint64_t n_all = picture_->height * picture_->depth;
    CclError error = {};
    bool succeeded;

    if (first_row > n_all || n_rows > n_all - first_row ||
        to.nbytes () != n_rows * picture_->width * pixel_bytes)
      throw nb::value_error ("rows outside the picture, or an array of another size");
    {
      const nb::gil_scoped_release release;
      succeeded = read (picture_, first_row, n_rows, to.data (), &error);
    }
    if (!succeeded)
      raise (error);
  }

  bool as_values_;
  Picture *picture_ = nullptr;
};

NB_MODULE (_pictures, module)
{
  module.doc () = "The pictures in files that ccl-label reads, for the package cudaccl alone.";
  nb::class_<Reader> (module, "Reader")
      .def (nb::init<std::vector<std::string>, std::vector<uint64_t>, const std::string &, bool> (),
          "paths"_a, "raw_sides"_a, "raw_type"_a, "as_values"_a)
      .def_prop_ro ("shape", &Reader::shape)
      .def_prop_ro ("dtype", &Reader::dtype)
      .def_prop_ro ("may_be", &Reader::may_be)
      .def_prop_ro ("no_data", &Reader::no_data)
      .def_prop_ro ("affine", &Reader::affine)
      .def_prop_ro ("epsg", &Reader::epsg)
      .def ("read", &Reader::read, "first_row"_a, "n_rows"_a, "samples"_a,
          nb::sig ("def read(self, first_row: int, n_rows: int, samples: object) -> None"))
      .def_prop_ro ("n_colours", &Reader::n_colours)
      .def ("read_colour", &Reader::read_colour, "channel"_a, "first_row"_a, "n_rows"_a,
          "samples"_a,
          nb::sig ("def read_colour(self, channel: int, first_row: int, n_rows: int, samples: "
                   "object) -> None"))
      .def ("read_mask", &Reader::read_mask, "first_row"_a, "n_rows"_a, "mask"_a,
          nb::sig ("def read_mask(self, first_row: int, n_rows: int, mask: object) -> None"));
}
