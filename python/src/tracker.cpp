/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracker. */
#include "module.h"

#include <mutex>

/* The tables have these layouts as NumPy structured arrays, too. */
static_assert (sizeof (CclComponent) == 40 && sizeof (CclVolumeComponent) == 56);
static_assert (sizeof (CclTrack) == 88 && sizeof (CclTrackEvent) == 24);
static_assert (sizeof (CclTrackMember) == 8);

class Tracker {
public:
  Tracker (uint32_t height, uint32_t width, uint32_t max_tracks, uint32_t max_components)
      : shape_{height, width}
  {
    const CclTrackerPlan plan = {.width = width,
        .height = height,
        .max_tracks = max_tracks,
        .max_components = max_components};
    handle_.make ([&] (CclError *error) { return ccl_tracker_new (&plan, error); });
  }

  /* Tracks the rows of a component table, given as bytes, with its label map and its picture if
   * there are any. */
  nb::typed<nb::tuple, nb::bytearray, nb::bytearray, nb::bytearray, nb::bytearray>
  run (const View &rows, View *labels, const View *image, double elapsed, int64_t confirm_frames,
      int64_t max_lost, int64_t static_frames, double frame_rate, double least_way,
      bool whole_objects)
  {
    const uint32_t n =
        to_uint32 ("the number of rows", (int64_t)(rows.n_elements () / sizeof (CclComponent)));
    const CclTable table = {n, n, (const CclComponent *)rows.data};
    CclLabels map = {};
    if (labels) {
      labels->check_map_of (shape_, HOST);
      map = {labels->data, (size_t)labels->strides[0]};
    }
    const CclTrackerPicture picture = image ? picture_of (*image) : CclTrackerPicture{};
    const CclTrackerOptions options = {.size = sizeof options,
        .confirm_frames = to_uint32 ("confirm_frames", confirm_frames),
        .max_lost = to_uint32 ("max_lost", max_lost),
        .static_frames = to_uint32 ("static_frames", static_frames),
        .frame_rate = frame_rate,
        .label_step = 1,
        .least_way = least_way,
        .whole_objects = whole_objects,
        .picture = image ? &picture : nullptr};
    CclTracks tracks = {};
    std::vector<CclTrackFoot> feet;
    const auto lock = call_library (mutex_, [&] (CclError *error) {
      CclStatus status = ccl_tracker_run (
          handle_, &table, labels ? &map : nullptr, elapsed, &options, &tracks, error);
      if (status == CUDACCL_OK)
        feet.resize (tracks.n_tracks);
      for (uint32_t i = 0; i < feet.size () && status == CUDACCL_OK; i++)
        status = ccl_tracker_get_foot (handle_, i, &feet[i], error);
      return status;
    });
    return nb::make_tuple (nb::bytearray (tracks.tracks, tracks.n_tracks * sizeof (CclTrack)),
        nb::bytearray (tracks.members, tracks.n_members * sizeof (CclTrackMember)),
        nb::bytearray (tracks.events, tracks.n_events * sizeof (CclTrackEvent)),
        nb::bytearray (feet.data (), feet.size () * sizeof (CclTrackFoot)));
  }

  void
  reset ()
  {
    const WithoutGil release;
    const std::lock_guard<std::mutex> lock (mutex_);
    ccl_tracker_reset (handle_);
  }

private:
  /* The channels of a frame. */
  CclTrackerPicture
  picture_of (const View &image) const
  {
    const bool is_grey = image.shape == shape_;
    if (!is_grey && image.shape != std::vector<size_t>{shape_[0], shape_[1], 3})
      throw nb::value_error (
          "the image must have the shape of the frames, alone or with 3 channels");
    if (image.type.kind != 'u' || image.type.size != 1)
      throw nb::value_error ("the image must be of uint8");
    if (image.device != HOST)
      throw nb::value_error ("the image must be in host memory");
    if (!image.has_plain_rows ())
      throw nb::value_error ("the channels and pixels of a row of the image must be consecutive");
    CclTrackerPicture picture = {.step_x = 1, .step_y = 1, .planes = {}};
    for (uint32_t i = 0; i < (is_grey ? 1 : 3); i++)
      picture.planes[i] = {
          (const uint8_t *)image.data + i, (size_t)image.strides[0], (uint32_t)image.strides[1]};
    return picture;
  }

  std::vector<size_t> shape_;
  Handle<CclTracker, ccl_tracker_free> handle_;
  std::mutex mutex_;
};

/* The library's defaults. */
static nb::typed<nb::dict, nb::str, nb::any>
defaults ()
{
  const CclTrackerPlan plan = CUDACCL_TRACKER_PLAN_DEFAULT;
  const CclTrackerOptions options = CUDACCL_TRACKER_OPTIONS_DEFAULT;
  nb::dict values;
  values["max_tracks"] = plan.max_tracks;
  values["max_components"] = plan.max_components;
  values["confirm_frames"] = options.confirm_frames;
  values["max_lost"] = options.max_lost;
  values["static_frames"] = options.static_frames;
  values["frame_rate"] = options.frame_rate;
  values["least_way"] = options.least_way;
  values["whole_objects"] = options.whole_objects != 0;
  return values;
}

void
bind_tracker (nb::module_ &module)
{
  module.def ("tracker_defaults", defaults, "The defaults of a tracker's arguments.");
  nb::class_<Tracker> (module, "Tracker", "A tracker of components.")
      .def (nb::init<uint32_t, uint32_t, uint32_t, uint32_t> (), "height"_a, "width"_a,
          "max_tracks"_a, "max_components"_a)
      .def ("run", &Tracker::run, "rows"_a, "labels"_a.none (), "image"_a.none (), "elapsed"_a,
          "confirm_frames"_a, "max_lost"_a, "static_frames"_a, "frame_rate"_a, "least_way"_a,
          "whole_objects"_a,
          "Tracks the components of a frame; returns the rows of tracks, members, events and feet.")
      .def ("reset", &Tracker::reset, "Removes all tracks.");
}
