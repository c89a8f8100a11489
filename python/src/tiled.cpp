/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labelling of pictures larger than memory: ccl_tiled_run() with functions of Python. */
#include "module.h"

#include <exception>

/* A run with the functions that Python gives; None stands for an absent one. */
struct Run {
  nb::object read, begin, write, rows, read_values, send, receive, abort;
  uint64_t layer_pixels;
  CclPixelFormat value_format; /* of the second plane */
  uint32_t label_bytes;
  std::exception_ptr raised; /* the first exception of a function, which ends the run */

  void
  keep_exception ()
  {
    if (!raised)
      raised = std::current_exception ();
  }
};

/* Memory of the library as a memoryview, valid for the time of a call. */
static nb::object
view_of (const void *data, uint64_t size, bool writable)
{
  PyObject *view =
      PyMemoryView_FromMemory ((char *)data, (Py_ssize_t)size, writable ? PyBUF_WRITE : PyBUF_READ);
  if (!view)
    throw nb::python_error ();
  return nb::steal (view);
}

/* Calls functions of Python, and keeps their exception for the end of the run. */
template <typename Function>
static CclStatus
call (void *data, CclError *error, Function &&function)
{
  Run &run = *(Run *)data;
  const nb::gil_scoped_acquire acquire;
  try {
    if (PyErr_CheckSignals () != 0) /* Ctrl-C */
      throw nb::python_error ();
    function (run);
    return CUDACCL_OK;
  } catch (const nb::python_error &exception) {
    snprintf (error->message, sizeof error->message, "%s", nb::str (exception.value ()).c_str ());
    run.keep_exception ();
  } catch (const std::exception &exception) {
    snprintf (error->message, sizeof error->message, "%s", exception.what ());
    run.keep_exception ();
  }
  error->status = CUDACCL_ERROR_IO;
  return CUDACCL_ERROR_IO;
}

static CclStatus
read_layers (void *data, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error)
{
  return call (data, error, [&] (Run &run) {
    run.read (first_layer, n_layers, view_of (pixels, n_layers * run.layer_pixels, true));
  });
}

static CclStatus
begin_outputs (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
    uint32_t label_bytes, CclError *error)
{
  return call (data, error, [&] (Run &run) {
    run.label_bytes = label_bytes;
    run.begin (n_components, first_label, n_labels, label_bytes);
  });
}

static CclStatus
write_layers (
    void *data, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error)
{
  return call (data, error, [&] (Run &run) {
    const uint64_t size = n_layers * run.layer_pixels * run.label_bytes;
    run.write (first_layer, n_layers, view_of (labels, size, false));
  });
}

static CclStatus
write_rows (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  return call (data, error, [&] (Run &run) { run.rows (view_of (rows, n * sizeof *rows, false)); });
}

static CclStatus
write_measured (void *data, const CclTiledComponent *rows, const CclVolumeShape *shapes, size_t n,
    CclError *error)
{
  return call (data, error, [&] (Run &run) {
    run.rows (view_of (rows, n * sizeof *rows, false), view_of (shapes, n * sizeof *shapes, false));
  });
}

static uint64_t
bytes_of (CclPixelFormat format)
{
  return format == CUDACCL_PIXEL_FORMAT_8    ? 1
         : format == CUDACCL_PIXEL_FORMAT_16 ? 2
                                             : sizeof (double);
}

static CclStatus
read_values (void *data, uint64_t first_layer, uint64_t n_layers, void *values, CclError *error)
{
  return call (data, error, [&] (Run &run) {
    const uint64_t size = n_layers * run.layer_pixels * bytes_of (run.value_format);
    run.read_values (first_layer, n_layers, view_of (values, size, true));
  });
}

static CclStatus
send_bytes (void *data, uint32_t to, const void *bytes, uint64_t size, CclError *error)
{
  return call (data, error, [&] (Run &run) { run.send (to, view_of (bytes, size, false)); });
}

static CclStatus
receive_bytes (void *data, uint32_t from, void *bytes, uint64_t size, CclError *error)
{
  return call (data, error, [&] (Run &run) { run.receive (from, view_of (bytes, size, true)); });
}

/* The exception is that of the message that failed. */
static void
abort_ranks (void *data)
{
  CclError error;
  call (data, &error, [&] (Run &run) { run.abort (); });
}

/* Of the second plane, whose type is uint8, uint16 or float64. */
static CclPixelFormat
value_format (const std::string &type, bool ignore_nan)
{
  if (type == "float64")
    return ignore_nan ? CUDACCL_PIXEL_FORMAT_REAL_OR_NAN : CUDACCL_PIXEL_FORMAT_REAL;
  return type == "uint16" ? CUDACCL_PIXEL_FORMAT_16 : CUDACCL_PIXEL_FORMAT_8;
}

/* shape: (height, width) or (depth, height, width); slab: first layer and number of layers. */
static uint64_t
run_tiled (const std::vector<uint64_t> &shape, uint32_t connectivity, bool invert,
    uint64_t min_area, uint64_t max_area, bool clear_border, const std::vector<uint64_t> &slab,
    uint64_t tile_layers, uint64_t memory, uint32_t n_threads, uint32_t label_bytes, int device,
    const std::optional<std::string> &scratch_folder, uint32_t columns,
    const std::string &value_type, bool ignore_nan, nb::object read, nb::object begin,
    nb::object write, nb::object rows, nb::object values, uint32_t rank, uint32_t n_ranks,
    nb::object send, nb::object receive, nb::object abort)
{
  const bool is_volume = shape.size () == 3;
  const uint64_t width = shape.back (), height = shape[shape.size () - 2];
  const CclTiledPlan plan = {
      .size = sizeof (CclTiledPlan),
      .width = width,
      .height = height,
      .depth = is_volume ? shape[0] : 1,
      .connectivity = connectivity,
      .threshold = 0,
      .invert = invert,
      .min_area = min_area,
      .max_area = max_area,
      .first_layer = slab[0],
      .n_layers = slab[1],
      .tile_layers = tile_layers,
      .memory = memory,
      .n_threads = n_threads,
      .label_bytes = label_bytes,
      .device = device == HOST ? nullptr : open_device (device),
      .scratch_folder = scratch_folder ? scratch_folder->c_str () : nullptr,
      .columns = columns,
      .intensity_format = value_format (value_type, ignore_nan),
      .clears_border = clear_border,
  };
  Run run = {.read = read,
      .begin = begin,
      .write = write,
      .rows = rows,
      .read_values = values,
      .send = send,
      .receive = receive,
      .abort = abort,
      .layer_pixels = is_volume ? width * height : width,
      .value_format = plan.intensity_format,
      .label_bytes = 0,
      .raised = {}};
  const CclTiledIo io = {
      .data = &run,
      .read = read_layers,
      .begin = begin_outputs,
      .write = write.is_none () ? nullptr : write_layers,
      .rows = rows.is_none () ? nullptr : write_rows,
      .progress = nullptr,
      .read_values = values.is_none () ? nullptr : read_values,
      .measured = rows.is_none () ? nullptr : write_measured,
  };
  const CclTiledPeers peers = {
      .data = &run,
      .rank = rank,
      .n_ranks = n_ranks,
      .send = send_bytes,
      .receive = receive_bytes,
      .abort = abort.is_none () ? nullptr : abort_ranks,
  };
  CclTiledResult result = {};
  CclError error = {};
  CclStatus status;

  {
    const WithoutGil release;
    status = ccl_tiled_run (&plan, &io, n_ranks > 1 ? &peers : nullptr, &result, &error);
  }
  if (run.raised)
    std::rethrow_exception (run.raised);
  check (status, error);
  return result.n_components;
}

/* Otsu's threshold of a histogram. */
static uint32_t
otsu_threshold (const std::vector<uint64_t> &histogram)
{
  if (histogram.empty () || histogram.size () > 65536)
    throw nb::value_error ("a histogram has at most 65536 values");
  return ccl_otsu_threshold (histogram.data (), (uint32_t)histogram.size ());
}

void
bind_tiled (nb::module_ &module)
{
  module.def ("otsu_threshold", otsu_threshold, nb::arg ("histogram"),
      "The threshold that Otsu's method chooses for a histogram: the greatest value if all pixels "
      "have the same one.");
  module.def ("run_tiled", run_tiled, nb::arg ("shape"), nb::arg ("connectivity"),
      nb::arg ("invert"), nb::arg ("min_area"), nb::arg ("max_area"), nb::arg ("clear_border"),
      nb::arg ("slab"), nb::arg ("tile_layers"), nb::arg ("memory"), nb::arg ("n_threads"),
      nb::arg ("label_bytes"), nb::arg ("device"), nb::arg ("scratch_folder").none (),
      nb::arg ("columns"), nb::arg ("value_type"), nb::arg ("ignore_nan"), nb::arg ("read"),
      nb::arg ("begin"), nb::arg ("write").none (), nb::arg ("rows").none (),
      nb::arg ("values").none (), nb::arg ("rank"), nb::arg ("n_ranks"), nb::arg ("send").none (),
      nb::arg ("receive").none (), nb::arg ("abort").none () = nb::none (),
      "Labels a picture, or this rank's slab of one; returns the number of components.");
}
