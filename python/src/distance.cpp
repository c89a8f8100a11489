/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distances to borders, and the split of components, of arrays in host memory. */
#include "module.h"

/* A map in host memory, which must have the shape of another one. */
static WordMap
host_map (const View &view, const View &like)
{
  const size_t ndim = view.shape.size ();
  if (view.device != HOST || !view.has_plain_rows () || view.type.size != 4 ||
      view.type.kind == 'f' || (ndim != 2 && ndim != 3) || view.shape != like.shape)
    throw nb::value_error ("maps must be plain arrays of uint32 of one shape in host memory");
  return WordMap (view);
}

/* The first of some maps, which must be of one shape on one GPU. */
static WordMap
device_maps (std::initializer_list<View *> maps)
{
  const View &first = **maps.begin ();
  for (View *map : maps)
    if (map->device == HOST || map->device != first.device || map->shape != first.shape ||
        !map->make_words ())
      throw nb::value_error ("maps must be of int32 or uint32 and of one shape on one GPU");
  return WordMap (first);
}

static void
label_distances (const View &labels, const View &squared)
{
  const WordMap from = host_map (labels, labels), to = host_map (squared, labels);
  call_library ([&] (CclError *error) {
    return ccl_label_distances (&from.map, from.width, from.height, from.depth, &to.map, error);
  });
}

/* The same of a map on a GPU. roots: of float64, without gaps. */
static void
device_distances (View &labels, View &squared, View &roots)
{
  const WordMap from = device_maps ({&labels, &squared});
  if (roots.device != labels.device || roots.shape != labels.shape || !roots.has_plain_rows () ||
      roots.type.kind != 'f' || roots.type.size != 8 ||
      roots.strides[0] * (ptrdiff_t)roots.shape[0] != (ptrdiff_t)roots.n_elements () * 8)
    throw nb::value_error ("roots must be an array of float64 without gaps on the same GPU");
  const CclCudaDistances distances = {.labels = from.map,
      .width = from.width,
      .height = from.height,
      .depth = from.depth,
      .squared = WordMap (squared).map,
      .roots = (double *)roots.data};
  CclCudaDevice *const gpu = open_device (labels.device);
  call_library ([&] (CclError *error) {
    return ccl_cuda_label_distances (gpu, &distances, labels.library_stream (), error);
  });
}

static uint32_t
distance_peaks (const View &labels, const View &squared, int64_t radius, const View &objects)
{
  const WordMap from = host_map (labels, labels), heights = host_map (squared, labels),
                to = host_map (objects, labels);
  const uint32_t reach = to_uint32 ("radius", radius);
  uint32_t n = 0;
  call_library ([&] (CclError *error) {
    return ccl_distance_peaks (
        &from.map, &heights.map, from.width, from.height, from.depth, reach, &to.map, &n, error);
  });
  return n;
}

static void
flood_objects (const View &labels, const View &squared, uint32_t connectivity, const View &objects)
{
  const WordMap from = host_map (labels, labels), heights = host_map (squared, labels),
                to = host_map (objects, labels);
  call_library ([&] (CclError *error) {
    return ccl_flood_objects (
        &from.map, &heights.map, from.width, from.height, from.depth, connectivity, &to.map, error);
  });
}

/* Maps on a GPU that are to be split. */
static CclCudaFlood
flood_of (View &labels, View &squared, uint32_t connectivity, View &objects)
{
  const WordMap from = device_maps ({&labels, &squared, &objects});
  return {.labels = from.map,
      .squared = WordMap (squared).map,
      .objects = WordMap (objects).map,
      .width = from.width,
      .height = from.height,
      .depth = from.depth,
      .connectivity = connectivity};
}

static uint32_t
device_distance_peaks (View &labels, View &squared, int64_t radius, View &objects)
{
  const CclCudaFlood maps = flood_of (labels, squared, 0, objects);
  const uint32_t reach = to_uint32 ("radius", radius);
  CclCudaDevice *const gpu = open_device (labels.device);
  uint32_t n = 0;
  call_library ([&] (CclError *error) {
    return ccl_cuda_distance_peaks (gpu, &maps, reach, &n, labels.library_stream (), error);
  });
  objects.write_back ();
  return n;
}

static void
device_flood_objects (View &labels, View &squared, uint32_t connectivity, View &objects)
{
  const CclCudaFlood maps = flood_of (labels, squared, connectivity, objects);
  CclCudaDevice *const gpu = open_device (labels.device);
  call_library ([&] (CclError *error) {
    return ccl_cuda_flood_objects (gpu, &maps, labels.library_stream (), error);
  });
  objects.write_back ();
}

static void
fill_label_holes (const View &labels, uint32_t connectivity, int64_t n_labels, int64_t max_area,
    const View &filled)
{
  const WordMap from = host_map (labels, labels), to = host_map (filled, labels);
  const uint32_t n = to_uint32 ("the greatest label", n_labels),
                 most = to_uint32 ("max_area", max_area);
  call_library ([&] (CclError *error) {
    return ccl_fill_label_holes (
        &from.map, from.width, from.height, from.depth, connectivity, n, most, &to.map, error);
  });
}

/* The same of maps on a GPU. */
static void
device_fill_label_holes (View &labels, uint32_t connectivity, int64_t max_area, View &filled)
{
  const WordMap from = device_maps ({&labels, &filled}), to (filled);
  CclCudaDevice *const gpu = open_device (labels.device);
  const uint32_t most = to_uint32 ("max_area", max_area);
  call_library ([&] (CclError *error) {
    return ccl_cuda_fill_label_holes (gpu, &from.map, from.width, from.height, from.depth,
        connectivity, most, &to.map, labels.library_stream (), error);
  });
  filled.write_back ();
}

/* numbers: of uint32, one for each label from 0 on. */
static void
device_replace_labels (View &labels, const nb::bytes &numbers, View &replaced)
{
  const WordMap from = device_maps ({&labels, &replaced}), to (replaced);
  CclCudaDevice *const gpu = open_device (labels.device);
  const size_t n = numbers.size () / sizeof (uint32_t);
  if (n == 0 || n > UINT32_MAX)
    throw nb::value_error ("there must be a number for 0, and for at most 2³² − 1 labels");
  call_library ([&] (CclError *error) {
    return ccl_cuda_replace_labels (gpu, &from.map, from.width, from.height, from.depth,
        (const uint32_t *)numbers.c_str (), (uint32_t)n - 1, &to.map, labels.library_stream (),
        error);
  });
  replaced.write_back ();
}

void
bind_distance (nb::module_ &module)
{
  module.def ("label_distances", label_distances, "labels"_a, "squared"_a,
      "Fills the squared distances of a label map.");
  module.def ("device_distances", device_distances, "labels"_a, "squared"_a, "roots"_a,
      "Fills the squared distances of a label map on a GPU, and their roots.");
  module.def ("distance_peaks", distance_peaks, "labels"_a, "squared"_a, "radius"_a, "objects"_a,
      "Fills the peaks of distances; returns their number.");
  module.def ("flood_objects", flood_objects, "labels"_a, "squared"_a, "connectivity"_a,
      "objects"_a, "Floods the labels from objects.");
  module.def ("device_distance_peaks", device_distance_peaks, "labels"_a, "squared"_a, "radius"_a,
      "objects"_a, "Fills the peaks of distances on a GPU; returns their number.");
  module.def ("device_flood_objects", device_flood_objects, "labels"_a, "squared"_a,
      "connectivity"_a, "objects"_a, "The same of maps on a GPU.");
  module.def ("fill_label_holes", fill_label_holes, "labels"_a, "connectivity"_a, "n"_a,
      "max_area"_a, "filled"_a, "Fills the holes of the labels 1…n.");
  module.def ("device_fill_label_holes", device_fill_label_holes, "labels"_a, "connectivity"_a,
      "max_area"_a, "filled"_a, "Fills the holes of all labels of a map on a GPU.");
  module.def ("device_replace_labels", device_replace_labels, "labels"_a, "numbers"_a, "replaced"_a,
      "Gives the labels of a map on a GPU the numbers of an array.");
}
