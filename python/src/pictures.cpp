/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The extension module _pictures: the files that ccl-label reads. It is a module of its own because
 * it needs libpng and libtiff. */
extern "C" {
#include "picture.h"
}

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace nb = nanobind;

[[noreturn]] static void
raise (const CclError &error)
{
  PyErr_SetString (PyExc_OSError, error.message);
  throw nb::python_error ();
}

/* One file, a folder of slices or several files. */
class Reader {
public:
  /* raw_sides: width, height and depth of files without a header; empty: none. */
  Reader (
      std::vector<std::string> paths, std::vector<uint64_t> raw_sides, const std::string &raw_type)
  {
    RawFormat raw = {};
    std::vector<char *> names;
    CclError error = {};

    if (!raw_sides.empty ()) {
      raw = {raw_sides[0], raw_sides[1], raw_sides[2], SAMPLE_UINT8};
      if (!sample_type_parse (raw_type.c_str (), &raw.type))
        throw nb::value_error (("files of " + raw_type + " cannot be read").c_str ());
    }
    for (std::string &path : paths)
      names.push_back (path.data ());
    const nb::gil_scoped_release release;
    picture_ = picture_open (names.data (), (uint32_t)names.size (), &raw, &error);
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

  /* Depth, height and width. */
  nb::tuple
  shape () const
  {
    return nb::make_tuple (picture_->depth, picture_->height, picture_->width);
  }

  const char *
  dtype () const
  {
    return sample_type_name (picture_->type);
  }

  /* Reads rows, counted through all slices, into an array with as many bytes. */
  void
  read (uint64_t first_row, uint64_t n_rows, nb::ndarray<nb::c_contig, nb::device::cpu> samples)
  {
    const uint64_t row_bytes = picture_->width * sample_bytes (picture_->type);
    CclError error = {};
    bool succeeded;

    if (first_row + n_rows > picture_->height * picture_->depth ||
        samples.nbytes () != n_rows * row_bytes)
      throw nb::value_error ("rows outside the picture, or an array of another size");
    {
      const nb::gil_scoped_release release;
      succeeded = picture_->klass->read (picture_, first_row, n_rows, samples.data (), &error);
    }
    if (!succeeded)
      raise (error);
  }

private:
  Picture *picture_ = nullptr;
};

NB_MODULE (_pictures, module)
{
  module.doc () = "The pictures in files that ccl-label reads, for the package cudaccl alone.";
  nb::class_<Reader> (module, "Reader")
      .def (nb::init<std::vector<std::string>, std::vector<uint64_t>, const std::string &> (),
          nb::arg ("paths"), nb::arg ("raw_sides"), nb::arg ("raw_type"))
      .def_prop_ro ("shape", &Reader::shape)
      .def_prop_ro ("dtype", &Reader::dtype)
      .def ("read", &Reader::read, nb::arg ("first_row"), nb::arg ("n_rows"), nb::arg ("samples"));
}
