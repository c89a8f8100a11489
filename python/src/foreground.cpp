/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makers of foreground masks. */
#include "module.h"

#include <mutex>

class Foreground {
public:
  Foreground (uint32_t height, uint32_t width, int method, const View *roi_mask, int device,
      uint32_t n_threads)
      : shape_ ({height, width}), device_ (device)
  {
    if (roi_mask)
      check_frame (*roi_mask, "the region of interest mask", HOST);
    const CclFrame roi = roi_mask ? frame_of (*roi_mask) : CclFrame{};
    const CclForegroundPlan plan = {.width = width,
        .height = height,
        .method = (CclForegroundMethod)method,
        .roi_mask = roi_mask ? &roi : nullptr,
        .n_threads = n_threads};
    CclError error = {};
    handle_ = device == HOST ? ccl_cpu_foreground_new (&plan, &error)
                             : ccl_cuda_foreground_new (open_device (device), &plan, &error);
    if (!handle_)
      raise (error);
  }

  Foreground (const Foreground &) = delete;

  ~Foreground ()
  {
    ccl_foreground_free (&handle_);
  }

  /* Makes the mask of a frame and waits until it is complete. */
  void
  run (const View &frame, const View &mask, int64_t threshold, bool invert, int denoise,
      int64_t history, double var_threshold, double learning_rate, int64_t mixtures)
  {
    check_frame (frame, "the frame", frame.device == HOST ? HOST : device_);
    check_frame (mask, "the mask", device_);
    const CclForegroundOptions options = {.threshold = to_uint32 ("threshold", threshold),
        .invert = invert,
        .denoise = (CclDenoise)denoise,
        .history = to_uint32 ("history", history),
        .var_threshold = (float)var_threshold,
        .learning_rate = learning_rate,
        .mixtures = to_uint32 ("mixtures", mixtures)};
    const CclFrame input = frame_of (frame);
    const CclMask output = {mask.data, (size_t)mask.strides[0]};
    CclError error = {};
    CclStatus status;
    std::unique_lock<std::mutex> lock (mutex_, std::defer_lock);
    {
      const nb::gil_scoped_release release;
      lock.lock ();
      if (device_ != HOST)
        ccl_cuda_foreground_set_stream (
            handle_, frame.stream == 1 ? nullptr : (void *)frame.stream);
      status = ccl_foreground_run (handle_, &input, &options, &output, &error);
      if (status == CCL_OK)
        status = ccl_foreground_wait (handle_, &error);
    }
    check (status, error);
  }

  void
  reset ()
  {
    const nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> lock (mutex_);
    ccl_foreground_reset (handle_);
  }

private:
  void
  check_frame (const View &frame, const std::string &name, int device) const
  {
    if (frame.shape != shape_)
      throw nb::value_error ((name + " has another shape than the model").c_str ());
    if (!frame.type.is_byte ())
      throw nb::type_error ((name + " must be of uint8 or bool").c_str ());
    if (!frame.has_plain_rows ())
      throw nb::value_error ((name + " must have consecutive pixels in a row: copy it").c_str ());
    if (frame.device != device)
      throw nb::value_error ((
          name + " must be " +
          (device == HOST ? "in host memory" : "in the memory of GPU " + std::to_string (device)))
                                 .c_str ());
  }

  static CclFrame
  frame_of (const View &view)
  {
    return {view.data, (size_t)view.strides[0],
        view.device == HOST ? CCL_LOCATION_HOST : CCL_LOCATION_DEVICE};
  }

  std::vector<size_t> shape_;
  int device_;
  CclForeground *handle_ = nullptr;
  std::mutex mutex_;
};

void
bind_foreground (nb::module_ &module)
{
  nb::class_<Foreground> (module, "Foreground", "A maker of foreground masks.")
      .def (nb::init<uint32_t, uint32_t, int, const View *, int, uint32_t> (), nb::arg ("height"),
          nb::arg ("width"), nb::arg ("method"), nb::arg ("roi_mask").none (), nb::arg ("device"),
          nb::arg ("n_threads"))
      .def ("run", &Foreground::run, nb::arg ("frame"), nb::arg ("mask"), nb::arg ("threshold"),
          nb::arg ("invert"), nb::arg ("denoise"), nb::arg ("history"), nb::arg ("var_threshold"),
          nb::arg ("learning_rate"), nb::arg ("mixtures"),
          "Makes the mask of a frame and waits for it.")
      .def ("reset", &Foreground::reset, "Discards the model of the background.");
}
