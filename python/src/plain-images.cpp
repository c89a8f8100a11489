/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * label() and components() for the most frequent arguments: an image of uint8 or bool in a NumPy
 * array, on the CPU. Of small images, most of the time is that of the interpreter; here is no step
 * of it between the arguments and the result.
 */
#include "module.h"

#include <cstring>
#include <utility>

/* A labeller for images of any size. */
struct PlainEngine {
  int connectivity;
  uint32_t n_threads;
  Handle<CclLabeller, ccl_labeller_free> labeller = {};
};

/* PlainEngines of the last calls. A call takes its engine out, so that no two threads share one;
 * the GIL is held here. */
static std::vector<PlainEngine> engines;
constexpr size_t MOST_PLAIN_ENGINES = 4;

static PlainEngine
take_engine (int connectivity, uint32_t n_threads)
{
  for (auto engine = engines.rbegin (); engine != engines.rend (); ++engine)
    if (engine->connectivity == connectivity && engine->n_threads == n_threads) {
      PlainEngine taken = std::move (*engine);
      engines.erase (std::next (engine).base ());
      return taken;
    }
  return {connectivity, n_threads};
}

static void
put_engine (PlainEngine &&engine)
{
  if (engines.size () == MOST_PLAIN_ENGINES)
    engines.erase (engines.begin ());
  engines.push_back (std::move (engine));
}

static CclStatus
make_labeller (PlainEngine &engine, uint32_t width, uint32_t height, CclError *error)
{
  CclLabellerPlan plan = CUDACCL_LABELLER_PLAN_DEFAULT;
  plan.width = width;
  plan.height = height;
  plan.connectivity = (CclConnectivity)engine.connectivity;
  plan.max_components = UINT32_MAX; /* memory is used only for those that an image has */
  plan.n_threads = engine.n_threads;
  engine.labeller.reset (ccl_cpu_labeller_new (&plan, error));
  return engine.labeller ? CUDACCL_OK : error->status;
}

/* An integer in a range. Returns whether the object is one. */
static bool
read_integer (nb::handle object, uint32_t most, uint32_t *value)
{
  if (!PyLong_CheckExact (object.ptr ()))
    return false;
  int overflow;
  const long long number = PyLong_AsLongLongAndOverflow (object.ptr (), &overflow);
  if (overflow || number < 0 || number > most)
    return false;
  *value = (uint32_t)number;
  return true;
}

/* 4 or 8, or scikit-image's 1 or 2. */
static bool
read_connectivity (nb::handle object, int *connectivity)
{
  uint32_t number = 8;
  if (!object.is_none () && !read_integer (object, 8, &number))
    return false;
  if (number != 1 && number != 2 && number != 4 && number != 8)
    return false;
  *connectivity = number <= 2 ? (int)number * 4 : (int)number;
  return true;
}

/* An image of bytes whose rows do not overlap. */
static bool
read_frame (const Py_buffer &view, CclFrame *frame, uint32_t *width, uint32_t *height)
{
  const char *format = view.format ? view.format : "B";
  if (view.ndim != 2 || (strcmp (format, "B") != 0 && strcmp (format, "?") != 0))
    return false;
  const Py_ssize_t n_rows = view.shape[0], n = view.shape[1];
  if (n_rows < 1 || n < 1 || n_rows > INT32_MAX || n > INT32_MAX ||
      (n > 1 && view.strides[1] != 1) || (n_rows > 1 && view.strides[0] < n))
    return false;
  *frame = {};
  frame->data = view.buf;
  frame->stride = n_rows > 1 ? (size_t)view.strides[0] : (size_t)n;
  *width = (uint32_t)n;
  *height = (uint32_t)n_rows;
  return true;
}

/* What is needed of NumPy. */
struct Numpy {
  nb::object array, empty, int32, component;
};

static const Numpy &
numpy ()
{
  static const Numpy *const found = [] {
    const nb::module_ module = nb::module_::import_ ("numpy");
    const nb::module_ package = nb::module_::import_ ("cudaccl._labeller");
    return new Numpy{module.attr ("ndarray"), module.attr ("empty"),
        module.attr ("dtype") ("int32"), package.attr ("component_dtype")};
  }();
  return *found;
}

/* An image of fewer pixels is labelled with the GIL held: that takes no longer than other calls. */
constexpr uint64_t FEW_PIXELS = 1 << 14;

static CclStatus
run (PlainEngine &engine, const CclFrame &frame, uint32_t width, uint32_t height,
    const CclLabellerOptions &options, const CclLabels *labels, CclTable *table, CclError *error)
{
  const CclStatus status = engine.labeller
                               ? ccl_labeller_resize (engine.labeller, width, height, error)
                               : make_labeller (engine, width, height, error);
  return status == CUDACCL_OK
             ? ccl_labeller_run (engine.labeller, &frame, &options, labels, table, error)
             : status;
}

/* Labels an image. Returns None for arguments that the general functions are to check. */
static nb::object
label_plain_image (nb::handle image, nb::handle connectivity, nb::handle threshold,
    nb::handle invert, nb::handle min_area, nb::handle max_area, nb::handle n_threads,
    bool with_labels)
{
  const Numpy &np = numpy ();
  Buffer pixels, map;
  CclLabellerOptions options = {};
  CclFrame frame;
  uint32_t width, height, most_threads;
  int neighbours;

  if ((PyObject *)Py_TYPE (image.ptr ()) != np.array.ptr () || !PyBool_Check (invert.ptr ()) ||
      !read_connectivity (connectivity, &neighbours) ||
      !read_integer (threshold, 255, &options.threshold) ||
      !read_integer (min_area, UINT32_MAX, &options.min_area) ||
      !read_integer (max_area, UINT32_MAX, &options.max_area) ||
      !read_integer (n_threads, UINT32_MAX, &most_threads))
    return nb::none ();
  if (!pixels.get (image, PyBUF_STRIDES | PyBUF_FORMAT)) {
    PyErr_Clear ();
    return nb::none ();
  }
  if (!read_frame (pixels.view, &frame, &width, &height))
    return nb::none ();
  options.invert = invert.ptr () == Py_True;

  nb::object array = nb::none ();
  CclLabels labels = {nullptr, sizeof (uint32_t) * width};
  if (with_labels) {
    array = np.empty (nb::make_tuple (height, width), np.int32);
    if (!map.get (array, PyBUF_WRITABLE))
      throw nb::python_error ();
    labels.data = map.view.buf;
  }

  PlainEngine engine = take_engine (neighbours, most_threads);
  CclTable table = {};
  CclError error = {};
  CclStatus status;
  if ((uint64_t)width * height < FEW_PIXELS) {
    status = run (
        engine, frame, width, height, options, with_labels ? &labels : nullptr, &table, &error);
  } else {
    const WithoutGil release;
    status = run (
        engine, frame, width, height, options, with_labels ? &labels : nullptr, &table, &error);
  }
  if (status != CUDACCL_OK)
    raise (error); /* the engine goes */
  nb::object rows = np.empty (table.n_rows, np.component);
  Buffer copy;
  if (table.n_rows > 0) {
    if (!copy.get (rows, PyBUF_WRITABLE))
      throw nb::python_error ();
    memcpy (copy.view.buf, table.rows, table.n_rows * sizeof *table.rows);
  }
  put_engine (std::move (engine));
  return with_labels ? nb::object (nb::make_tuple (array, rows)) : rows;
}

void
bind_plain_images (nb::module_ &module)
{
  module.def ("label_plain_image", label_plain_image, "image"_a, "connectivity"_a.none (),
      "threshold"_a.none (), "invert"_a.none (), "min_area"_a.none (), "max_area"_a.none (),
      "n_threads"_a.none (), "with_labels"_a,
      "Labels an image of bytes in a NumPy array: label map and component table, or the table "
      "alone. Returns None if the image or another argument is of another kind.");
  module.def (
      "clear_engines",
      [] {
        engines.clear ();
        free_blocks ();
      },
      "Frees what label_plain_image() keeps, and memory for copies of arrays.");
}
