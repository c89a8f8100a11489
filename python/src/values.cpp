/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The labeller of pictures with many values, in host memory or on a GPU. */
#include "module.h"

#include <mutex>

class ValuesLabeller {
public:
  ValuesLabeller (const std::vector<uint32_t> &shape, uint32_t connectivity, const View &like,
      bool zero_is_background)
      : shape_ (shape.begin (), shape.end ()), type_ (value_type_of (like.type)),
        device_ (like.device)
  {
    CclValuesPlan plan = CUDACCL_VALUES_PLAN_DEFAULT;
    const size_t ndim = shape.size ();
    plan.width = shape[ndim - 1];
    plan.height = shape[ndim - 2];
    plan.depth = ndim == 3 ? shape[0] : 1;
    plan.connectivity = connectivity;
    plan.type = type_;
    plan.zero_is_background = zero_is_background;
    plan.nan = CUDACCL_NAN_IS_BACKGROUND;
    CclCudaDevice *const gpu = open_device (device_);
    labeller_.make ([&] (CclError *error) {
      return gpu ? ccl_cuda_values_labeller_new (gpu, &plan, error)
                 : ccl_cpu_values_labeller_new (&plan, error);
    });
  }

  /* Returns the number of components. */
  uint32_t
  run (View &image, View &labels)
  {
    if (image.shape != shape_ || value_type_of (image.type) != type_)
      throw nb::value_error ("the image has another shape or type than the labeller");
    if (image.device != device_ || !image.make_plain ())
      throw nb::value_error (
          "the image must be on the device of the labeller, with consecutive pixels in each row");
    if (labels.type.size != 4 || labels.type.kind == 'f')
      throw nb::value_error ("the label map must be of int32 or uint32");
    labels.check_map_of (shape_, device_);
    const size_t ndim = shape_.size ();
    const CclValues values = {
        image.data, (size_t)image.strides[ndim - 2], (size_t)image.strides[0], image.location ()};
    const WordMap to (labels);
    uint32_t n_components = 0;
    call_library (mutex_, [&] (CclError *error) {
      if (device_ != HOST)
        ccl_cuda_values_labeller_set_stream (labeller_, image.library_stream (), nullptr);
      return ccl_values_labeller_run (labeller_, &values, &to.map, &n_components, error);
    });
    labels.write_back ();
    return n_components;
  }

private:
  std::vector<size_t> shape_;
  CclValueType type_;
  int device_;
  Handle<CclValuesLabeller, ccl_values_labeller_free> labeller_;
  std::mutex mutex_;
};

/* Labels an image in host memory whose neighbours are connected where they differ by at most a
 * tolerance. foreground: bytes of its shape without gaps. */
static uint32_t
label_similar_values (const View &image, uint32_t connectivity, double tolerance,
    const View &foreground, const View &labels)
{
  const size_t ndim = image.shape.size ();
  for (const View *view : {&image, &foreground, &labels})
    if (view->device != HOST || !view->has_plain_rows () || view->shape != image.shape ||
        (ndim != 2 && ndim != 3))
      throw nb::value_error ("plain arrays of one shape in host memory are needed");
  if (!foreground.type.is_byte () || !foreground.is_dense () || labels.type.size != 4 ||
      labels.type.kind == 'f')
    throw nb::value_error ("the foreground must be bytes without gaps, labels of 32 bits");
  CclValuesPlan plan = CUDACCL_VALUES_PLAN_DEFAULT;
  const WordMap to (labels);
  plan.width = to.width;
  plan.height = to.height;
  plan.depth = to.depth;
  plan.connectivity = connectivity;
  plan.type = value_type_of (image.type);
  const CclValues values = {image.data, (size_t)image.strides[ndim - 2], (size_t)image.strides[0]};
  uint32_t n = 0;
  call_library ([&] (CclError *error) {
    return ccl_label_similar_values (&plan, &values, image.type.kind == 'i', tolerance,
        (const uint8_t *)foreground.data, &to.map, &n, error);
  });
  return n;
}

/* Pairs of labels that touch, of layers one after the other. */
class Contacts {
public:
  Contacts (uint64_t width, uint64_t height, uint32_t connectivity, uint32_t label_bytes)
      : layer_bytes_ (width * height * label_bytes)
  {
    contacts_.make ([&] (CclError *error) {
      return ccl_contacts_new (width, height, connectivity, label_bytes, error);
    });
  }

  /* Adds layers of labels without gaps. */
  void
  add (const void *labels, uint64_t n_layers)
  {
    call_library (
        [&] (CclError *error) { return ccl_contacts_add (contacts_, labels, n_layers, error); });
  }

  void
  add_bytes (nb::object labels, uint64_t n_layers)
  {
    const Buffer bytes (labels, PyBUF_SIMPLE);
    if (layer_bytes_ == 0 || (uint64_t)bytes.view.len / layer_bytes_ != n_layers)
      throw nb::value_error ("the layers have another size");
    add (bytes.view.buf, n_layers);
  }

  /* The pairs, and the sides that they share: bytes of n×3 uint64. */
  nb::bytearray
  rows ()
  {
    const CclContact *rows = nullptr;
    CclError error = {};
    size_t n = 0;
    check (ccl_contacts_rows (contacts_, &rows, &n, &error), error);
    return nb::bytearray (rows, n * sizeof *rows);
  }

private:
  uint64_t layer_bytes_;
  Handle<CclContacts, ccl_contacts_free> contacts_;
};

/* The pairs of labels that touch in a map on a GPU. */
static nb::bytearray
device_contacts (const View &labels, const WordMap &from, uint32_t connectivity)
{
  CclCudaDevice *const gpu = open_device (labels.device);
  std::vector<CclContact> contacts (1 << 14);
  uint32_t n = 0;
  call_library ([&] (CclError *error) {
    for (;;) {
      const CclStatus status = ccl_cuda_label_contacts (gpu, &from.map, from.width, from.height,
          from.depth, connectivity, contacts.data (), (uint32_t)contacts.size (), &n,
          labels.library_stream (), error);
      if (status != CUDACCL_OK || n <= contacts.size ())
        return status;
      contacts.resize (8 * contacts.size ());
    }
  });
  return nb::bytearray (contacts.data (), n * sizeof contacts[0]);
}

/* The pairs of labels that touch in a label map, as Contacts::rows() gives them. */
static nb::bytearray
contacts (View &labels, uint32_t connectivity)
{
  labels.check_labels ();
  if (labels.n_elements () == 0)
    return nb::bytearray ("", 0);
  const WordMap from (labels);
  if (labels.device != HOST)
    return device_contacts (labels, from, connectivity);
  if (!labels.is_dense ())
    throw nb::value_error ("labels must be an array without gaps");
  Contacts found (
      from.width, labels.shape.size () == 3 ? from.height : 1, connectivity, sizeof (uint32_t));
  found.add (labels.data, labels.shape[0]);
  return found.rows ();
}

/* Joins the labels 1…n over borders that touch, in place. Returns the rows of volumes. */
static nb::bytearray
join_borders (View &labels, uint32_t connectivity, uint32_t axes, uint32_t n)
{
  labels.check_labels ();
  const WordMap joined (labels);
  CclCudaDevice *const gpu = open_device (labels.device);
  const std::unique_ptr<CclVolumeComponent[]> rows (new CclVolumeComponent[n]);
  call_library ([&] (CclError *error) {
    return gpu ? ccl_cuda_join_borders (gpu, &joined.map, joined.width, joined.height, joined.depth,
                     connectivity, axes, &n, rows.get (), labels.library_stream (), error)
               : ccl_join_borders (&joined.map, joined.width, joined.height, joined.depth,
                     connectivity, axes, &n, rows.get (), error);
  });
  labels.write_back ();
  return nb::bytearray (rows.get (), n * sizeof rows[0]);
}

void
bind_values (nb::module_ &module)
{
  module.def ("join_borders", join_borders, "labels"_a, "connectivity"_a, "axes"_a, "n"_a,
      "Joins the labels 1…n over borders that touch, and returns their rows as bytes.");
  nb::class_<Contacts> (module, "Contacts")
      .def (nb::init<uint64_t, uint64_t, uint32_t, uint32_t> (), "width"_a, "height"_a,
          "connectivity"_a, "label_bytes"_a)
      .def ("add", &Contacts::add_bytes, "labels"_a, "n_layers"_a,
          "Adds layers of labels: a buffer without gaps.")
      .def ("rows", &Contacts::rows,
          "The pairs in ascending order, and the sides that they share: bytes of n×3 uint64.");
  module.def ("contacts", contacts, "labels"_a, "connectivity"_a,
      "Pairs of labels that touch, and the sides that they share, as bytes.");
  nb::class_<ValuesLabeller> (
      module, "ValuesLabeller", "A labeller of pictures of one shape, with many values.")
      .def (nb::init<std::vector<uint32_t>, uint32_t, const View &, bool> (), "shape"_a,
          "connectivity"_a, "like"_a, "zero_is_background"_a)
      .def ("run", &ValuesLabeller::run, "image"_a, "labels"_a,
          "Labels an image; returns the number of components.");
  module.def ("label_similar_values", label_similar_values, "image"_a, "connectivity"_a,
      "tolerance"_a, "foreground"_a, "labels"_a,
      "Labels an image whose neighbours are connected where they are similar.");
}
