/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labelling of pictures larger than memory: ccl_tiled_run() with functions of Python. */
#include "module.h"

extern "C" {
#include "label/relabel/holes.h"
#include "label/relabel/largest.h"
#include "label/relabel/plan.h"
#include "label/relabel/relabel.h"
}

#include <nanobind/stl/tuple.h>

#include <exception>

/* Of a picture with many values: the type of values, the tolerance, whether 0 is background, and
 * whether there is a foreground. */
using ValuesKind = std::tuple<std::string, double, bool, bool>;

using Fill = std::optional<uint64_t>; /* the most pixels of holes that are filled, 0: any number */

/* A run with the functions that Python gives; None stands for an absent one. */
struct Run {
  nb::object read, begin, write, rows, read_values, take_values, take_parts, begin_distances,
      write_distances, send, receive, abort;
  uint64_t layer_pixels;
  CclPixelFormat value_format; /* of the second plane */
  bool wants_distances;        /* which are not written yet */
  uint32_t label_bytes = 0, distance_bytes = 0;
  Holes *holes = nullptr;         /* to be filled; NULL: none are */
  Largest *largest = nullptr;     /* components that stay; NULL: all do */
  ValuesPicture many_values = {}; /* without read it is a mask */
  std::vector<uint64_t> values;   /* of components; empty: not wanted */
  std::vector<uint32_t> parts;    /* of objects; empty: not wanted */
  std::exception_ptr raised;      /* the first exception of a function, which ends the run */

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
  const CclStatus status = call (data, error, [&] (Run &run) {
    run.read (first_layer, n_layers, view_of (pixels, n_layers * run.layer_pixels, true));
  });
  const Holes *holes = ((Run *)data)->holes;
  if (!holes || status != CUDACCL_OK)
    return status;
  return to_status (holes_fill (holes, first_layer, n_layers, pixels, error));
}

static CclStatus
read_many_values (void *data, uint64_t first_layer, uint64_t n_layers, void *values,
    uint8_t *foreground, CclError *error)
{
  return call (data, error, [&] (Run &run) {
    const uint64_t n = n_layers * run.layer_pixels;
    const nb::object view = view_of (values, n * values_bytes (run.many_values.type), true);
    run.read (
        first_layer, n_layers, view, foreground ? view_of (foreground, n, true) : nb::none ());
  });
}

static CclStatus
keep_values (void *data, const uint64_t *values, uint64_t n, CclError *error)
{
  return call (data, error, [&] (Run &run) { run.values.assign (values, values + n); });
}

static CclStatus
keep_parts (void *data, const uint32_t *n_parts, uint64_t n, CclError *error)
{
  return call (data, error, [&] (Run &run) { run.parts.assign (n_parts, n_parts + n); });
}

/* Gives the numbers of components that stay, in the order of their labels. */
template <typename Number>
static void
give_numbers (const Run &run, std::vector<Number> &numbers, const nb::object &take)
{
  uint64_t n = numbers.size ();

  if (run.largest) {
    largest_move (run.largest, numbers.data (), sizeof (Number), n);
    n = largest_choose (run.largest);
  }
  take (view_of (numbers.data (), n * sizeof (Number), false));
}

static CclStatus
begin_outputs (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
    uint32_t label_bytes, CclError *error)
{
  return call (data, error, [&] (Run &run) {
    run.label_bytes = label_bytes;
    if (run.largest)
      n_components = n_labels = largest_choose (run.largest);
    if (!run.take_values.is_none ())
      give_numbers (run, run.values, run.take_values);
    if (!run.take_parts.is_none () && !run.parts.empty ())
      give_numbers (run, run.parts, run.take_parts);
    run.begin (n_components, first_label, n_labels, label_bytes);
  });
}

static CclStatus
write_layers (
    void *data, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error)
{
  Largest *largest = ((Run *)data)->largest;
  if (largest) {
    const Run &run = *(Run *)data;
    labels = largest_labels (largest, labels, n_layers * run.layer_pixels, run.label_bytes, error);
    if (!labels)
      return CUDACCL_ERROR_NO_MEMORY;
  }
  return call (data, error, [&] (Run &run) {
    const uint64_t size = n_layers * run.layer_pixels * run.label_bytes;
    run.write (first_layer, n_layers, view_of (labels, size, false));
  });
}

static CclStatus
begin_distances (void *data, uint64_t, uint64_t, uint64_t, uint32_t distance_bytes, CclError *error)
{
  return call (data, error, [&] (Run &run) {
    run.distance_bytes = distance_bytes;
    run.begin_distances (distance_bytes);
  });
}

static CclStatus
write_distances (
    void *data, uint64_t first_layer, uint64_t n_layers, const void *squared, CclError *error)
{
  return call (data, error, [&] (Run &run) {
    const uint64_t size = n_layers * run.layer_pixels * run.distance_bytes;
    run.write_distances (first_layer, n_layers, view_of (squared, size, false));
  });
}

static CclStatus
write_measured (void *data, const CclTiledComponent *rows, const CclVolumeShape *shapes, size_t n,
    CclError *error)
{
  return call (data, error, [&] (Run &run) {
    std::vector<CclTiledComponent> kept;
    std::vector<CclVolumeShape> kept_shapes;
    for (size_t i = 0; i < n && run.largest; i++) {
      const uint64_t label = largest_label (run.largest, rows[i].label);
      if (!label)
        continue;
      kept.push_back (rows[i]);
      kept.back ().label = label;
      if (shapes)
        kept_shapes.push_back (shapes[i]);
    }
    if (run.largest) {
      n = kept.size ();
      rows = kept.data ();
      shapes = shapes ? kept_shapes.data () : nullptr;
    }
    if (n == 0)
      return;
    const nb::object view = view_of (rows, n * sizeof *rows, false);
    if (shapes)
      run.rows (view, view_of (shapes, n * sizeof *shapes, false));
    else
      run.rows (view);
  });
}

static CclStatus
write_rows (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  return write_measured (data, rows, nullptr, n, error);
}

static CclStatus
choose_largest (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  return to_status (largest_add (((Run *)data)->largest, rows, n, error));
}

static CclStatus
read_values (void *data, uint64_t first_layer, uint64_t n_layers, void *values, CclError *error)
{
  return call (data, error, [&] (Run &run) {
    const uint64_t size = n_layers * run.layer_pixels * value_bytes (run.value_format);
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

static CclValueType
value_type (const std::string &name)
{
  if (name == "float32" || name == "float64")
    return name == "float32" ? CUDACCL_VALUE_TYPE_REAL_32 : CUDACCL_VALUE_TYPE_REAL_64;
  const std::string bits = name.substr (name.find ("int") + 3);
  return bits == "8"    ? CUDACCL_VALUE_TYPE_8
         : bits == "16" ? CUDACCL_VALUE_TYPE_16
         : bits == "32" ? CUDACCL_VALUE_TYPE_32
                        : CUDACCL_VALUE_TYPE_64;
}

static ValuesPicture
values_picture (Run &run, const ValuesKind &kind)
{
  const auto &[type, tolerance, zero_is_background, has_foreground] = kind;

  return {.data = &run,
      .read = read_many_values,
      .type = value_type (type),
      .is_signed = type[0] == 'i',
      .tolerance = tolerance,
      .has_foreground = has_foreground,
      .zero_is_background = zero_is_background};
}

/* What happens to components when they are known. */
struct Changes {
  uint32_t axes; /* flags of CclAxis */
  Fill fill_holes, fill_label_holes;
  uint64_t keep_largest; /* 0: all stay */
  uint32_t split;        /* the radius; 0: they are not split */
};

/* The functions that take distances. */
static CclTiledIo
distances_io (Run &run)
{
  CclTiledIo io = {};

  io.data = &run;
  io.read = read_layers;
  io.begin = begin_distances;
  io.write = write_distances;
  return io;
}

static CclStatus
label (Run &run, const CclTiledPlan &plan, const CclTiledIo &io, const CclTiledPeers *peers,
    const Changes &changes, CclTiledResult *result, CclError *error)
{
  const CclTiledIo distances = distances_io (run);
  RelabelSettings settings = {};

  settings.axes = changes.axes;
  settings.fills_holes = changes.fill_label_holes.has_value ();
  settings.max_hole = changes.fill_label_holes.value_or (0);
  settings.values = run.many_values.read ? &run.many_values : nullptr;
  settings.take_values = run.take_values.is_none () ? nullptr : keep_values;
  settings.split_radius = changes.split;
  settings.take_parts = run.take_parts.is_none () ? nullptr : keep_parts;
  if (run.wants_distances && settings.values) {
    settings.distances = &distances;
    run.wants_distances = false;
  }
  if (settings.axes || settings.fills_holes || settings.values || settings.split_radius)
    return relabel_run (&plan, &io, &settings, result, error);
  return ccl_tiled_run (&plan, &io, peers, result, error);
}

/* Labels the picture once before, to find the components that stay. */
static CclStatus
find_largest (Run &run, const CclTiledPlan &with_columns, const Changes &changes, CclError *error)
{
  CclTiledPlan plan = with_columns;
  CclTiledIo io = {};

  plan.columns = 0;
  io.data = &run;
  io.read = read_layers;
  io.rows = choose_largest;
  run.largest = largest_new (changes.keep_largest, error);
  return run.largest ? label (run, plan, io, nullptr, changes, nullptr, error)
                     : CUDACCL_ERROR_NO_MEMORY;
}

static CclStatus
label_changed (Run &run, const CclTiledPlan &plan, const CclTiledIo &io, const CclTiledPeers *peers,
    const Changes &changes, CclTiledResult *result, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  if (changes.fill_holes) {
    Holes *found = holes_find (&plan, read_layers, &run, *changes.fill_holes, error);
    if (!found)
      return error->status;
    run.holes = found;
  }
  if (run.wants_distances && !run.many_values.read) {
    const CclTiledIo distances = distances_io (run);
    status = ccl_tiled_distances (&plan, &distances, error);
  }
  if (changes.keep_largest && status == CUDACCL_OK)
    status = find_largest (run, plan, changes, error);
  if (status == CUDACCL_OK)
    status = label (run, plan, io, peers, changes, result, error);
  if (run.largest)
    result->n_components = largest_choose (run.largest);
  return status;
}

/* shape: (height, width) or (depth, height, width); slab: first layer and number of layers. */
static uint64_t
run_tiled (const std::vector<uint64_t> &shape, uint32_t connectivity, bool invert,
    uint64_t min_area, uint64_t max_area, bool clear_border, const std::vector<uint64_t> &slab,
    uint64_t tile_layers, uint64_t memory, uint32_t n_threads, uint32_t label_bytes, int device,
    const std::optional<std::string> &scratch_folder, uint32_t axes, Fill fill_holes,
    Fill fill_label_holes, uint64_t keep_largest, uint32_t split, uint32_t columns,
    const std::string &value_type, bool ignore_nan, nb::object read, nb::object begin,
    nb::object write, nb::object rows, nb::object values,
    const std::optional<ValuesKind> &many_values, nb::object take_values, nb::object take_parts,
    nb::object distances_begin, nb::object distances_write, uint32_t rank, uint32_t n_ranks,
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
      .device = open_device (device),
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
      .take_values = take_values,
      .take_parts = take_parts,
      .begin_distances = distances_begin,
      .write_distances = distances_write,
      .send = send,
      .receive = receive,
      .abort = abort,
      .layer_pixels = is_volume ? width * height : width,
      .value_format = plan.intensity_format,
      .wants_distances = !distances_write.is_none ()};
  if (many_values)
    run.many_values = values_picture (run, *many_values);
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
    status = label_changed (run, plan, io, n_ranks > 1 ? &peers : nullptr,
        {axes, fill_holes, fill_label_holes, keep_largest, split}, &result, &error);
    holes_free (run.holes);
    largest_free (run.largest);
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
  module.def ("otsu_threshold", otsu_threshold, "histogram"_a,
      "The threshold that Otsu's method chooses for a histogram: the greatest value if all pixels "
      "have the same one.");
  module.def ("run_tiled", run_tiled, "shape"_a, "connectivity"_a, "invert"_a, "min_area"_a,
      "max_area"_a, "clear_border"_a, "slab"_a, "tile_layers"_a, "memory"_a, "n_threads"_a,
      "label_bytes"_a, "device"_a, "scratch_folder"_a.none (), "axes"_a, "fill_holes"_a.none (),
      "fill_label_holes"_a.none (), "keep_largest"_a, "split"_a, "columns"_a, "value_type"_a,
      "ignore_nan"_a, "read"_a, "begin"_a, "write"_a.none (), "rows"_a.none (), "values"_a.none (),
      "many_values"_a.none (), "take_values"_a.none (), "take_parts"_a.none (),
      "begin_distances"_a.none (), "write_distances"_a.none (), "rank"_a, "n_ranks"_a,
      "send"_a.none (), "receive"_a.none (), "abort"_a.none () = nb::none (),
      "Labels a picture, or this rank's slab of one; returns the number of components.");
}
