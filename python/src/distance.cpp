/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distances to borders, and the split of components, of arrays in host memory. */
#include "module.h"

/* A map of words, frame or volume, and its size. */
struct WordMap {
  explicit WordMap (const View &view, const View &like)
  {
    const size_t ndim = view.shape.size ();
    if (view.device != HOST || !view.has_plain_rows () || view.type.size != 4 ||
        view.type.kind == 'f' || (ndim != 2 && ndim != 3) || view.shape != like.shape)
      throw nb::value_error ("maps must be plain arrays of uint32 of one shape in host memory");
    map = {view.data, (size_t)view.strides[ndim - 2], (size_t)view.strides[0]};
    width = to_uint32 ("the width", (int64_t)view.shape[ndim - 1]);
    height = to_uint32 ("the height", (int64_t)view.shape[ndim - 2]);
    depth = ndim == 3 ? to_uint32 ("the depth", (int64_t)view.shape[0]) : 1;
  }

  CclVolumeLabels map;
  uint32_t width, height, depth;
};

static void
label_distances (const View &labels, const View &squared)
{
  const WordMap from (labels, labels), to (squared, labels);
  CclError error = {};
  CclStatus status;
  {
    const WithoutGil release;
    status = ccl_label_distances (&from.map, from.width, from.height, from.depth, &to.map, &error);
  }
  check (status, error);
}

/* The same of a map on a GPU. roots: of float64, without gaps. */
static void
device_distances (View &labels, View &squared, View &roots)
{
  const size_t ndim = labels.shape.size ();
  for (View *map : {&labels, &squared})
    if (map->device == HOST || map->device != labels.device || map->shape != labels.shape ||
        (ndim != 2 && ndim != 3) || !map->make_plain () || map->type.size != 4 ||
        map->type.kind == 'f')
      throw nb::value_error ("maps must be of int32 or uint32 and of one shape on one GPU");
  if (roots.device != labels.device || roots.shape != labels.shape || !roots.has_plain_rows () ||
      roots.type.kind != 'f' || roots.type.size != 8 ||
      roots.strides[0] * (ptrdiff_t)roots.shape[0] != (ptrdiff_t)roots.n_elements () * 8)
    throw nb::value_error ("roots must be an array of float64 without gaps on the same GPU");
  const CclCudaDistances distances = {
      .labels = {labels.data, (size_t)labels.strides[ndim - 2], (size_t)labels.strides[0]},
      .width = to_uint32 ("the width", (int64_t)labels.shape[ndim - 1]),
      .height = to_uint32 ("the height", (int64_t)labels.shape[ndim - 2]),
      .depth = ndim == 3 ? to_uint32 ("the depth", (int64_t)labels.shape[0]) : 1,
      .squared = {squared.data, (size_t)squared.strides[ndim - 2], (size_t)squared.strides[0]},
      .roots = (double *)roots.data};
  CclCudaDevice *const gpu = open_device (labels.device);
  CclError error = {};
  CclStatus status;
  {
    const WithoutGil release;
    status = ccl_cuda_label_distances (
        gpu, &distances, labels.stream == 1 ? nullptr : (void *)labels.stream, &error);
  }
  check (status, error);
}

static uint32_t
distance_peaks (const View &labels, const View &squared, int64_t radius, const View &objects)
{
  const WordMap from (labels, labels), heights (squared, labels), to (objects, labels);
  const uint32_t reach = to_uint32 ("radius", radius);
  CclError error = {};
  CclStatus status;
  uint32_t n = 0;
  {
    const WithoutGil release;
    status = ccl_distance_peaks (
        &from.map, &heights.map, from.width, from.height, from.depth, reach, &to.map, &n, &error);
  }
  check (status, error);
  return n;
}

static void
flood_objects (const View &labels, const View &squared, uint32_t connectivity, const View &objects)
{
  const WordMap from (labels, labels), heights (squared, labels), to (objects, labels);
  CclError error = {};
  CclStatus status;
  {
    const WithoutGil release;
    status = ccl_flood_objects (&from.map, &heights.map, from.width, from.height, from.depth,
        connectivity, &to.map, &error);
  }
  check (status, error);
}

/* Maps on a GPU that are to be split. */
static CclCudaFlood
device_maps (View &labels, View &squared, uint32_t connectivity, View &objects)
{
  const size_t ndim = labels.shape.size ();
  for (View *map : {&labels, &squared, &objects})
    if (map->device == HOST || map->device != labels.device || map->shape != labels.shape ||
        (ndim != 2 && ndim != 3) || !map->make_plain () || map->type.size != 4 ||
        map->type.kind == 'f')
      throw nb::value_error ("maps must be of int32 or uint32 and of one shape on one GPU");
  return {.labels = {labels.data, (size_t)labels.strides[ndim - 2], (size_t)labels.strides[0]},
      .squared = {squared.data, (size_t)squared.strides[ndim - 2], (size_t)squared.strides[0]},
      .objects = {objects.data, (size_t)objects.strides[ndim - 2], (size_t)objects.strides[0]},
      .width = to_uint32 ("the width", (int64_t)labels.shape[ndim - 1]),
      .height = to_uint32 ("the height", (int64_t)labels.shape[ndim - 2]),
      .depth = ndim == 3 ? to_uint32 ("the depth", (int64_t)labels.shape[0]) : 1,
      .connectivity = connectivity};
}

static uint32_t
device_distance_peaks (View &labels, View &squared, int64_t radius, View &objects)
{
  const CclCudaFlood maps = device_maps (labels, squared, 0, objects);
  const uint32_t reach = to_uint32 ("radius", radius);
  CclCudaDevice *const gpu = open_device (labels.device);
  CclError error = {};
  CclStatus status;
  uint32_t n = 0;
  {
    const WithoutGil release;
    status = ccl_cuda_distance_peaks (
        gpu, &maps, reach, &n, labels.stream == 1 ? nullptr : (void *)labels.stream, &error);
  }
  check (status, error);
  objects.write_back ();
  return n;
}

static void
device_flood_objects (View &labels, View &squared, uint32_t connectivity, View &objects)
{
  const CclCudaFlood maps = device_maps (labels, squared, connectivity, objects);
  CclCudaDevice *const gpu = open_device (labels.device);
  CclError error = {};
  CclStatus status;
  {
    const WithoutGil release;
    status = ccl_cuda_flood_objects (
        gpu, &maps, labels.stream == 1 ? nullptr : (void *)labels.stream, &error);
  }
  check (status, error);
  objects.write_back ();
}

static void
fill_label_holes (const View &labels, uint32_t connectivity, int64_t n_labels, int64_t max_area,
    const View &filled)
{
  const WordMap from (labels, labels), to (filled, labels);
  const uint32_t n = to_uint32 ("the greatest label", n_labels),
                 most = to_uint32 ("max_area", max_area);
  CclError error = {};
  CclStatus status;
  {
    const WithoutGil release;
    status = ccl_fill_label_holes (
        &from.map, from.width, from.height, from.depth, connectivity, n, most, &to.map, &error);
  }
  check (status, error);
}

/* A label map on a GPU, and one of the same shape for the result. */
struct DeviceMaps {
  DeviceMaps (View &labels, View &result)
  {
    const size_t ndim = labels.shape.size ();
    for (View *map : {&labels, &result})
      if (map->device == HOST || map->device != labels.device || map->shape != labels.shape ||
          (ndim != 2 && ndim != 3) || !map->make_plain () || map->type.size != 4 ||
          map->type.kind == 'f')
        throw nb::value_error ("maps must be of int32 or uint32 and of one shape on one GPU");
    from = {labels.data, (size_t)labels.strides[ndim - 2], (size_t)labels.strides[0]};
    to = {result.data, (size_t)result.strides[ndim - 2], (size_t)result.strides[0]};
    width = to_uint32 ("the width", (int64_t)labels.shape[ndim - 1]);
    height = to_uint32 ("the height", (int64_t)labels.shape[ndim - 2]);
    depth = ndim == 3 ? to_uint32 ("the depth", (int64_t)labels.shape[0]) : 1;
    gpu = open_device (labels.device);
    stream = labels.stream == 1 ? nullptr : (void *)labels.stream;
  }

  CclVolumeLabels from, to;
  uint32_t width, height, depth;
  CclCudaDevice *gpu;
  void *stream;
};

/* The same of maps on a GPU. */
static void
device_fill_label_holes (View &labels, uint32_t connectivity, int64_t max_area, View &filled)
{
  const DeviceMaps maps (labels, filled);
  const uint32_t most = to_uint32 ("max_area", max_area);
  CclError error = {};
  CclStatus status;
  {
    const WithoutGil release;
    status = ccl_cuda_fill_label_holes (maps.gpu, &maps.from, maps.width, maps.height, maps.depth,
        connectivity, most, &maps.to, maps.stream, &error);
  }
  check (status, error);
  filled.write_back ();
}

/* numbers: of uint32, one for each label from 0 on. */
static void
device_replace_labels (View &labels, const nb::bytes &numbers, View &replaced)
{
  const DeviceMaps maps (labels, replaced);
  const size_t n = numbers.size () / sizeof (uint32_t);
  if (n == 0 || n > UINT32_MAX)
    throw nb::value_error ("there must be a number for 0, and for at most 2³² − 1 labels");
  CclError error = {};
  CclStatus status;
  {
    const WithoutGil release;
    status = ccl_cuda_replace_labels (maps.gpu, &maps.from, maps.width, maps.height, maps.depth,
        (const uint32_t *)numbers.c_str (), (uint32_t)n - 1, &maps.to, maps.stream, &error);
  }
  check (status, error);
  replaced.write_back ();
}

void
bind_distance (nb::module_ &module)
{
  module.def ("label_distances", label_distances, nb::arg ("labels"), nb::arg ("squared"),
      "Fills the squared distances of a label map.");
  module.def ("device_distances", device_distances, nb::arg ("labels"), nb::arg ("squared"),
      nb::arg ("roots"), "Fills the squared distances of a label map on a GPU, and their roots.");
  module.def ("distance_peaks", distance_peaks, nb::arg ("labels"), nb::arg ("squared"),
      nb::arg ("radius"), nb::arg ("objects"),
      "Fills the peaks of distances; returns their number.");
  module.def ("flood_objects", flood_objects, nb::arg ("labels"), nb::arg ("squared"),
      nb::arg ("connectivity"), nb::arg ("objects"), "Floods the labels from objects.");
  module.def ("device_distance_peaks", device_distance_peaks, nb::arg ("labels"),
      nb::arg ("squared"), nb::arg ("radius"), nb::arg ("objects"),
      "Fills the peaks of distances on a GPU; returns their number.");
  module.def ("device_flood_objects", device_flood_objects, nb::arg ("labels"), nb::arg ("squared"),
      nb::arg ("connectivity"), nb::arg ("objects"), "The same of maps on a GPU.");
  module.def ("fill_label_holes", fill_label_holes, nb::arg ("labels"), nb::arg ("connectivity"),
      nb::arg ("n"), nb::arg ("max_area"), nb::arg ("filled"),
      "Fills the holes of the labels 1…n.");
  module.def ("device_fill_label_holes", device_fill_label_holes, nb::arg ("labels"),
      nb::arg ("connectivity"), nb::arg ("max_area"), nb::arg ("filled"),
      "Fills the holes of all labels of a map on a GPU.");
  module.def ("device_replace_labels", device_replace_labels, nb::arg ("labels"),
      nb::arg ("numbers"), nb::arg ("replaced"),
      "Gives the labels of a map on a GPU the numbers of an array.");
}
