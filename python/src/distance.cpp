/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distances to borders, and the split of components, of arrays in host memory or on a GPU. */
#include "module.h"

/* The first of some maps, which must be of one shape in one memory. */
static WordMap
maps_of (std::initializer_list<View *> maps)
{
  const View &first = **maps.begin ();
  for (View *map : maps)
    if (map->device != first.device || map->shape != first.shape || !map->make_words ())
      throw nb::value_error ("maps must be of int32 or uint32, of one shape and in one memory");
  return WordMap (first);
}

/* roots: of float64, without gaps, filled on a GPU alone. */
static void
label_distances (View &labels, View &squared, View *roots)
{
  const WordMap from = maps_of ({&labels, &squared}), to (squared);
  CclCudaDevice *const gpu = open_device (labels.device);
  if (gpu && (!roots || roots->device != labels.device || roots->shape != labels.shape ||
                 !roots->has_no_gaps () || roots->type.kind != 'f' || roots->type.size != 8))
    throw nb::value_error ("roots must be an array of float64 without gaps on the same GPU");
  const CclCudaDistances distances = {.labels = from.map,
      .width = from.width,
      .height = from.height,
      .depth = from.depth,
      .squared = to.map,
      .roots = gpu ? (double *)roots->data : nullptr};
  call_library ([&] (CclError *error) {
    return gpu ? ccl_cuda_label_distances (gpu, &distances, labels.library_stream (), error)
               : ccl_label_distances (
                     &from.map, from.width, from.height, from.depth, &to.map, error);
  });
}

/* Maps that are to be split. */
static CclCudaFlood
flood_of (View &labels, View &squared, uint32_t connectivity, View &objects)
{
  const WordMap from = maps_of ({&labels, &squared, &objects});
  return {.labels = from.map,
      .squared = WordMap (squared).map,
      .objects = WordMap (objects).map,
      .width = from.width,
      .height = from.height,
      .depth = from.depth,
      .connectivity = connectivity};
}

static uint32_t
distance_peaks (View &labels, View &squared, int64_t radius, View &objects)
{
  const CclCudaFlood maps = flood_of (labels, squared, 0, objects);
  const uint32_t reach = to_uint32 ("radius", radius);
  CclCudaDevice *const gpu = open_device (labels.device);
  uint32_t n = 0;
  call_library ([&] (CclError *error) {
    return gpu ? ccl_cuda_distance_peaks (gpu, &maps, reach, &n, labels.library_stream (), error)
               : ccl_distance_peaks (&maps.labels, &maps.squared, maps.width, maps.height,
                     maps.depth, reach, &maps.objects, &n, error);
  });
  objects.write_back ();
  return n;
}

static void
flood_objects (View &labels, View &squared, uint32_t connectivity, View &objects)
{
  const CclCudaFlood maps = flood_of (labels, squared, connectivity, objects);
  CclCudaDevice *const gpu = open_device (labels.device);
  call_library ([&] (CclError *error) {
    return gpu ? ccl_cuda_flood_objects (gpu, &maps, labels.library_stream (), error)
               : ccl_flood_objects (&maps.labels, &maps.squared, maps.width, maps.height,
                     maps.depth, connectivity, &maps.objects, error);
  });
  objects.write_back ();
}

/* n_labels: of a map in host memory; a GPU finds it. */
static void
fill_label_holes (
    View &labels, uint32_t connectivity, int64_t n_labels, int64_t max_area, View &filled)
{
  const WordMap from = maps_of ({&labels, &filled}), to (filled);
  const uint32_t n = to_uint32 ("the greatest label", n_labels),
                 most = to_uint32 ("max_area", max_area);
  CclCudaDevice *const gpu = open_device (labels.device);
  call_library ([&] (CclError *error) {
    return gpu ? ccl_cuda_fill_label_holes (gpu, &from.map, from.width, from.height, from.depth,
                     connectivity, most, &to.map, labels.library_stream (), error)
               : ccl_fill_label_holes (&from.map, from.width, from.height, from.depth, connectivity,
                     n, most, &to.map, error);
  });
  filled.write_back ();
}

/* numbers: of uint32, one for each label from 0 on. */
static void
device_replace_labels (View &labels, const nb::bytes &numbers, View &replaced)
{
  const WordMap from = maps_of ({&labels, &replaced}), to (replaced);
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
      "roots"_a.none () = nb::none (),
      "Fills the squared distances of a label map, and on a GPU their roots.");
  module.def ("distance_peaks", distance_peaks, "labels"_a, "squared"_a, "radius"_a, "objects"_a,
      "Fills the peaks of distances; returns their number.");
  module.def ("flood_objects", flood_objects, "labels"_a, "squared"_a, "connectivity"_a,
      "objects"_a, "Floods the labels from objects.");
  module.def ("fill_label_holes", fill_label_holes, "labels"_a, "connectivity"_a, "n"_a,
      "max_area"_a, "filled"_a, "Fills the holes of the labels 1…n.");
  module.def ("device_replace_labels", device_replace_labels, "labels"_a, "numbers"_a, "replaced"_a,
      "Gives the labels of a map on a GPU the numbers of an array.");
}
