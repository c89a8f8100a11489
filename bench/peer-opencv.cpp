/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "peer-opencv.h"

struct PeerOpenCV {
  cv::Mat frame, labels, statistics, centroids;
  int connectivity;
  std::string message;
};

static const char *
version ()
{
  return CV_VERSION;
}

static PeerOpenCV *
create (const uint8_t *pixels, int width, int height, int connectivity)
{
  PeerOpenCV *peer = new PeerOpenCV ();
  peer->frame = cv::Mat (height, width, CV_8UC1, const_cast<uint8_t *> (pixels));
  peer->connectivity = connectivity;
  return peer;
}

static int
run (PeerOpenCV *peer, int threads, bool statistics, bool allocate, const char **message)
{
  try {
    cv::setNumThreads (threads);
    if (allocate) {
      peer->labels.release ();
      peer->statistics.release ();
      peer->centroids.release ();
    }
    const int n = statistics ? cv::connectedComponentsWithStats (peer->frame, peer->labels,
                                   peer->statistics, peer->centroids, peer->connectivity, CV_32S)
                             : cv::connectedComponents (
                                   peer->frame, peer->labels, peer->connectivity, CV_32S);
    return n - 1; /* it counts the background, too */
  } catch (const std::exception &exception) {
    peer->message = exception.what ();
    *message = peer->message.c_str ();
    return -1;
  }
}

static const int32_t *
labels (PeerOpenCV *peer)
{
  return peer->labels.ptr<int32_t> ();
}

static void
destroy (PeerOpenCV *peer)
{
  delete peer;
}

extern "C" {
extern const PeerOpenCVModule peer_opencv_module;
const PeerOpenCVModule peer_opencv_module = {version, create, run, labels, destroy};
}
