/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OpenCV's labeller on the CPU: a module of its own, so that the program itself needs no OpenCV. */
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "implementation-foreground.h"

#if HAVE_MOG2
#include <opencv2/video/background_segm.hpp>
#endif

namespace {

struct OpenCV : Implementation {
  int connectivity;
  bool allocation;
  int n_components;
  cv::Mat frame, labels, statistics, centroids;
};

CclStatus
run (Implementation *implementation, CclError *error)
{
  OpenCV *self = static_cast<OpenCV *> (implementation);

  try {
    cv::setNumThreads ((int)self->threads);
    if (self->allocation) {
      self->labels.release ();
      self->statistics.release ();
      self->centroids.release ();
    }
    const int n =
        self->delivery == DELIVER_LABELS_AND_TABLE
            ? cv::connectedComponentsWithStats (self->frame, self->labels, self->statistics,
                  self->centroids, self->connectivity, CV_32S)
            : cv::connectedComponents (self->frame, self->labels, self->connectivity, CV_32S);
    self->n_components = n - 1; /* it counts the background, too */
    return CUDACCL_OK;
  } catch (const std::exception &exception) {
    error->status = CUDACCL_ERROR_DEVICE;
    g_strlcpy (error->message, exception.what (), sizeof error->message);
    g_strstrip (g_strdelimit (error->message, "\n", ' '));
    return CUDACCL_ERROR_DEVICE;
  }
}

CclStatus
prepare (Implementation *implementation, const Input *input, CclError *error)
{
  if (input->depth > 1)
    return error->status = CUDACCL_ERROR_UNSUPPORTED;
  static_cast<OpenCV *> (implementation)->frame =
      cv::Mat ((int)input->height, (int)input->width, CV_8UC1, input->pixels);
  return run (implementation, error);
}

/* OpenCV does not promise an order of its labels, so they count as raw. */
CclStatus
fetch (Implementation *implementation, Labelling *labelling, CclError *)
{
  const OpenCV *self = static_cast<OpenCV *> (implementation);

  *labelling = Labelling ();
  labelling->labels =
      (uint32_t *)g_memdup2 (self->labels.data, self->labels.total () * self->labels.elemSize ());
  labelling->is_raw = true;
  labelling->n_components = (uint32_t)self->n_components;
  return CUDACCL_OK;
}

void
release (Implementation *implementation)
{
  OpenCV *self = static_cast<OpenCV *> (implementation);
  self->frame = self->labels = self->statistics = self->centroids = cv::Mat ();
}

void
destroy (Implementation *implementation)
{
  delete static_cast<OpenCV *> (implementation);
}

} // namespace

extern "C" Implementation *
peer_opencv_new (const ImplementationSettings *settings, Delivery delivery, unsigned threads)
{
  static ImplementationClass klass;
  OpenCV *self = new OpenCV ();

  klass.prepare = prepare;
  klass.run = run;
  klass.release = release;
  klass.free = destroy;
  klass.fetch = fetch;
  self->klass = &klass;
  self->device = "cpu";
  self->maker = "OpenCV " CV_VERSION;
  self->algorithm = "opencv";
  self->delivery = delivery;
  self->threads = threads;
  self->connectivity = settings->connectivity;
  self->allocation = settings->allocation;
  return self;
}

#if HAVE_MOG2
namespace {

struct Mog2 : Implementation {
  const FrameSequence *sequence;
  uint64_t time;
  CclDenoise denoise;
  cv::Ptr<cv::BackgroundSubtractorMOG2> model;
  cv::Mat raw, mask, label_map, statistics, centroids;
};

CclStatus
mog2_run (Implementation *implementation, CclError *)
{
  Mog2 *self = static_cast<Mog2 *> (implementation);
  const int width = (int)self->sequence->width, height = (int)self->sequence->height;
  const size_t frame = frame_at (self->sequence, self->time++) * self->sequence->frame_size;
  const int size =
      self->denoise == CUDACCL_DENOISE_MEDIAN_3 || self->denoise == CUDACCL_DENOISE_OPENING_3 ? 3
                                                                                              : 5;

  self->model->apply (
      cv::Mat (height, width, CV_8UC1, const_cast<uint8_t *> (self->sequence->pixels + frame)),
      self->raw);
  if (self->denoise == CUDACCL_DENOISE_NONE)
    self->mask = self->raw;
  else if (self->denoise <= CUDACCL_DENOISE_MEDIAN_5)
    cv::medianBlur (self->raw, self->mask, size);
  else
    cv::morphologyEx (self->raw, self->mask, cv::MORPH_OPEN, cv::Mat::ones (size, size, CV_8U));
  if (self->delivery == DELIVER_TABLE)
    cv::connectedComponentsWithStats (
        self->mask, self->label_map, self->statistics, self->centroids, 8, CV_32S);
  return CUDACCL_OK;
}

CclStatus
mog2_prepare (Implementation *implementation, const Input *, CclError *error)
{
  Mog2 *self = static_cast<Mog2 *> (implementation);

  cv::setNumThreads (1);
  self->model = cv::createBackgroundSubtractorMOG2 (500, 16, false);
  for (unsigned i = 0; i < self->sequence->n_warm_up; i++)
    mog2_run (self, error);
  return CUDACCL_OK;
}

void
mog2_release (Implementation *)
{
}

void
mog2_destroy (Implementation *implementation)
{
  delete static_cast<Mog2 *> (implementation);
}

} // namespace

extern "C" Implementation *
peer_mog2_new (const FrameSequence *sequence, CclDenoise denoise, bool labels)
{
  static ImplementationClass klass;
  Mog2 *self = new Mog2 ();

  klass.prepare = mog2_prepare;
  klass.run = mog2_run;
  klass.release = mog2_release;
  klass.free = mog2_destroy;
  self->klass = &klass;
  self->device = "cpu";
  self->maker = "OpenCV " CV_VERSION;
  self->algorithm = "mog2";
  self->threads = 1;
  self->delivery = labels ? DELIVER_TABLE : DELIVER_NOTHING;
  self->sequence = sequence;
  self->denoise = denoise;
  return self;
}
#endif
