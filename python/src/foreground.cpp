/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreground segmenters. */
#include "module.h"

#include <bit>
#include <mutex>

/* The library's defaults. */
static const CclForegroundOptions initial = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;

/* The names of the attributes of ForegroundOptions. */
#define OPTIONS(EACH)                                                                              \
  EACH (threshold)                                                                                 \
  EACH (invert)                                                                                    \
  EACH (denoise)                                                                                   \
  EACH (closing_width)                                                                             \
  EACH (closing_height)                                                                            \
  EACH (history)                                                                                   \
  EACH (var_threshold)                                                                             \
  EACH (learning_rate)                                                                             \
  EACH (mixtures)                                                                                  \
  EACH (shadows)                                                                                   \
  EACH (light)                                                                                     \
  EACH (hold)                                                                                      \
  EACH (frame_rate)                                                                                \
  EACH (warm_up)                                                                                   \
  EACH (absorb_after)                                                                              \
  EACH (sensitivity)

/* CclForegroundOptions, whose attributes take any Python integer until checked() is called. */
struct Options {
  int64_t threshold = initial.threshold;
  bool invert = initial.invert;
  int denoise = initial.denoise;
  int64_t closing_width = initial.closing_width, closing_height = initial.closing_height;
  int64_t history = initial.history;
  double var_threshold = initial.var_threshold, learning_rate = initial.learning_rate;
  int64_t mixtures = initial.mixtures;
  int shadows = initial.shadows;
  bool light = initial.light;
  int64_t hold = initial.hold;
  int64_t sensitivity = initial.sensitivity;
  double frame_rate = 1e9 / CUDACCL_FRAME_DURATION;
  double warm_up = 0, absorb_after = 0; /* seconds */

  static uint64_t
  nanoseconds (const char *name, double seconds)
  {
    if (!(seconds >= 0 && seconds <= 1e6))
      throw nb::value_error (name);
    return (uint64_t)(1e9 * seconds);
  }

  CclForegroundOptions
  checked () const
  {
    return {.size = sizeof (CclForegroundOptions),
        .threshold = to_uint32 ("threshold", threshold),
        .invert = invert,
        .denoise = (CclDenoise)denoise,
        .closing_width = to_uint32 ("the closing's width", closing_width),
        .closing_height = to_uint32 ("the closing's height", closing_height),
        .history = to_uint32 ("history", history),
        .var_threshold = (float)var_threshold,
        .learning_rate = learning_rate,
        .mixtures = to_uint32 ("mixtures", mixtures),
        .shadows = (CclShadows)shadows,
        .light = light,
        .hold = to_uint32 ("hold", hold),
        .frame_duration =
            nanoseconds ("frame_rate must be frames per second, 1e-6 or more", 1 / frame_rate),
        .warm_up = nanoseconds ("warm_up must be 0…1e6 seconds", warm_up),
        .absorb_after = nanoseconds ("absorb_after must be 0…86400 seconds", absorb_after),
        .sensitivity = to_uint32 ("sensitivity", sensitivity)};
  }
};

class Foreground {
public:
  Foreground (uint32_t height, uint32_t width, int method, View *roi_mask, bool has_chroma,
      bool has_words, int device, uint32_t n_threads, uint32_t reduction)
      : shape_ ({height, width}), device_ (device), has_chroma_ (has_chroma), has_words_ (has_words)
  {
    if (has_words && std::endian::native != std::endian::little)
      throw nb::value_error ("frames of uint16 are little-endian: this machine is not");
    if (roi_mask)
      check_frame (*roi_mask, "the region of interest mask", HOST);
    const CclFrame roi = roi_mask ? frame_of (*roi_mask) : CclFrame{};
    const CclForegroundPlan plan = {.width = width,
        .height = height,
        .method = (CclForegroundMethod)method,
        .roi_mask = roi_mask ? &roi : nullptr,
        .n_threads = n_threads,
        .has_chroma = has_chroma,
        .format = has_words ? CUDACCL_PIXEL_FORMAT_16 : CUDACCL_PIXEL_FORMAT_8,
        .reduction = reduction};
    CclCudaDevice *const gpu = open_device (device);
    handle_.make ([&] (CclError *error) {
      return gpu ? ccl_cuda_foreground_new (gpu, &plan, error)
                 : ccl_cpu_foreground_new (&plan, error);
    });
  }

  /* Makes the mask of a frame, waits until it is complete, and returns the scene change. */
  int
  run (View &frame, View *u, View *v, View &mask, const Options &settings)
  {
    check_frame (frame, "the frame", frame.device == HOST ? HOST : device_, has_words_);
    check_frame (mask, "the mask", device_);
    if (has_chroma_ != (u && v))
      throw nb::value_error (has_chroma_ ? "the model has chroma, the frame has none"
                                         : "the frame has chroma, the model has none");
    const CclForegroundOptions options = settings.checked ();
    CclFrame input = frame_of (frame);
    if (has_chroma_)
      input.chroma = chroma_of (*u, *v, frame);
    const CclMask output = {mask.data, (size_t)mask.strides[0]};
    CclSceneChange change = CUDACCL_SCENE_UNCHANGED;
    const auto lock = call_library (mutex_, [&] (CclError *error) {
      if (device_ != HOST)
        ccl_cuda_foreground_set_stream (handle_, frame.library_stream (), nullptr);
      const CclStatus status = ccl_foreground_run (handle_, &input, &options, &output, error);
      change = ccl_foreground_get_scene_change (handle_);
      return status;
    });
    mask.write_back ();
    return change;
  }

  void
  set_roi_mask (View *roi_mask)
  {
    if (roi_mask)
      check_frame (*roi_mask, "the region of interest mask", HOST);
    const CclFrame roi = roi_mask ? frame_of (*roi_mask) : CclFrame{};
    call_library (mutex_, [&] (CclError *error) {
      return ccl_foreground_set_roi_mask (handle_, roi_mask ? &roi : nullptr, error);
    });
  }

  void
  reset ()
  {
    const WithoutGil release;
    const std::lock_guard<std::mutex> lock (mutex_);
    ccl_foreground_reset (handle_);
  }

private:
  void
  check_frame (View &frame, const std::string &name, int device, bool has_words = false) const
  {
    if (frame.shape != shape_)
      throw nb::value_error ((name + " has another shape than the model").c_str ());
    if (!is_sample (frame.type, has_words))
      throw nb::type_error (
          (name + " must be of " + (has_words ? "uint16" : "uint8 or bool")).c_str ());
    if (!frame.make_plain ())
      throw nb::value_error ((name + " must have consecutive pixels in a row: copy it").c_str ());
    if (frame.device != device)
      throw nb::value_error ((
          name + " must be " +
          (device == HOST ? "in host memory" : "in the memory of GPU " + std::to_string (device)))
                                 .c_str ());
  }

  static bool
  is_sample (ElementType type, bool has_words)
  {
    return has_words ? type.kind == 'u' && type.size == 2 : type.is_byte ();
  }

  static CclFrame
  frame_of (const View &view)
  {
    return {view.data, (size_t)view.strides[0], view.location ()};
  }

  /* Whether the library reads samples where they are: beside each other or every second one. */
  bool
  are_read_as_they_are (const View &u, const View &v) const
  {
    if (u.shape.size () != 2 || v.shape.size () != 2 || u.strides[1] != v.strides[1])
      return false;
    const ptrdiff_t most = u.type.size == 1 || u.shape[1] != shape_[1] ? 2 : 1;
    return u.strides[0] >= 0 && v.strides[0] >= 0 && u.strides[1] >= u.type.size &&
           u.strides[1] <= most * u.type.size;
  }

  /* The planes of u and v, whose lengths give the subsampling. */
  CclChroma
  chroma_of (View &u, View &v, const View &frame) const
  {
    if (!are_read_as_they_are (u, v)) {
      u.make_plain ();
      v.make_plain ();
    }
    if (u.shape.size () != 2 || u.shape != v.shape || u.strides[1] != v.strides[1])
      throw nb::value_error ("u and v must be alike, with two dimensions");
    if (!is_sample (u.type, has_words_) || !is_sample (v.type, has_words_))
      throw nb::type_error (has_words_ ? "chroma must be of uint16" : "chroma must be of uint8");
    if (u.device != frame.device || v.device != frame.device)
      throw nb::value_error ("chroma must be where the frame is");
    if (u.strides[0] < 0 || v.strides[0] < 0)
      throw nb::value_error ("the rows of chroma must be in ascending order: copy it");
    /* Of 16 bits the upper byte is read. */
    CclChroma chroma = {.u = (const uint8_t *)u.data + (has_words_ ? 1 : 0),
        .v = (const uint8_t *)v.data + (has_words_ ? 1 : 0),
        .u_stride = (size_t)u.strides[0],
        .v_stride = (size_t)v.strides[0],
        .step = (uint32_t)u.strides[1]};
    uint32_t *const shifts[] = {&chroma.shift_y, &chroma.shift_x};
    for (size_t i = 0; i < 2; i++)
      if (u.shape[i] != shape_[i]) {
        if (u.shape[i] != (shape_[i] + 1) / 2)
          throw nb::value_error (
              "chroma must have the lengths of the frame or half of them, rounded up");
        *shifts[i] = 1;
      }
    return chroma;
  }

  std::vector<size_t> shape_;
  int device_;
  bool has_chroma_, has_words_; /* words: pixels and chroma of 16 bits */
  Handle<CclForeground, ccl_foreground_free> handle_;
  std::mutex mutex_;
};

/* The number of each name of an enumeration that counts from 0. */
template <typename Enum, const char *(*name_of) (Enum)>
static nb::typed<nb::dict, nb::str, int>
numbers_of ()
{
  nb::dict numbers;
  for (int i = 0; name_of ((Enum)i); i++)
    numbers[name_of ((Enum)i)] = i;
  return numbers;
}

/* The library's defaults by the names of the attributes of ForegroundOptions. */
static nb::typed<nb::dict, nb::str, nb::any>
defaults ()
{
  const Options options;
  nb::dict values;
#define ADD(name) values[#name] = options.name;
  OPTIONS (ADD)
#undef ADD
  return values;
}

void
bind_foreground (nb::module_ &module)
{
  module.def ("foreground_defaults", defaults, "The defaults of a segmenter's options.");
  module.def ("methods", numbers_of<CclForegroundMethod, ccl_foreground_method_name>,
      "The number of each method by its name.");
  module.def ("filters", numbers_of<CclDenoise, ccl_denoise_name>,
      "The number of each noise filter by its name.");
  module.def ("shadows", numbers_of<CclShadows, ccl_shadows_name>,
      "The number of each treatment of shadows by its name.");
  module.def ("scene_changes", numbers_of<CclSceneChange, ccl_scene_change_name>,
      "The number of each scene change by its name.");
  module.def (
      "filter_reach", [] (int denoise) { return ccl_denoise_reach ((CclDenoise)denoise); },
      "denoise"_a, "How many pixels in each direction a filter's output depends on.");

  nb::class_<Options> options (
      module, "ForegroundOptions", "Settings that may differ from frame to frame.");
  options.def (nb::init<> ());
#define BIND(name) options.def_rw (#name, &Options::name);
  OPTIONS (BIND)
#undef BIND
  nb::class_<Foreground> (module, "Foreground", "A foreground segmenter.")
      .def (nb::init<uint32_t, uint32_t, int, View *, bool, bool, int, uint32_t, uint32_t> (),
          "height"_a, "width"_a, "method"_a, "roi_mask"_a.none (), "has_chroma"_a, "has_words"_a,
          "device"_a, "n_threads"_a, "reduction"_a)
      .def ("run", &Foreground::run, "frame"_a, "u"_a.none (), "v"_a.none (), "mask"_a, "options"_a,
          "Makes the mask of a frame and waits for it; returns the scene change.")
      .def ("set_roi_mask", &Foreground::set_roi_mask, "roi_mask"_a.none (),
          "Replaces the region of interest mask; the model stays.")
      .def ("reset", &Foreground::reset, "Discards the model of the background.");
}
