/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/video/background_segm.hpp>

#include "peer-mog2.h"

struct PeerMog2 {
  int width, height, denoise;
  cv::Ptr<cv::BackgroundSubtractorMOG2> model;
  cv::Mat raw, mask, labels, statistics, centroids;
};

PeerMog2 *
peer_mog2_new (uint32_t width, uint32_t height, int denoise)
{
  cv::setNumThreads (1);
  PeerMog2 *peer = new PeerMog2 ();
  peer->width = (int)width;
  peer->height = (int)height;
  peer->denoise = denoise;
  peer->model = cv::createBackgroundSubtractorMOG2 (500, 16, false);
  return peer;
}

void
peer_mog2_free (PeerMog2 *peer)
{
  delete peer;
}

const char *
peer_mog2_version (void)
{
  return "OpenCV " CV_VERSION;
}

void
peer_mog2_model (PeerMog2 *peer, const uint8_t *pixels)
{
  peer->model->apply (
      cv::Mat (peer->height, peer->width, CV_8UC1, const_cast<uint8_t *> (pixels)), peer->raw);
}

void
peer_mog2_denoise (PeerMog2 *peer)
{
  const int size = peer->denoise % 2 ? 3 : 5;
  if (peer->denoise == 0)
    peer->mask = peer->raw;
  else if (peer->denoise <= 2)
    cv::medianBlur (peer->raw, peer->mask, size);
  else
    cv::morphologyEx (peer->raw, peer->mask, cv::MORPH_OPEN, cv::Mat::ones (size, size, CV_8U));
}

uint32_t
peer_mog2_label (PeerMog2 *peer)
{
  return (uint32_t)cv::connectedComponentsWithStats (
             peer->mask, peer->labels, peer->statistics, peer->centroids, 8, CV_32S) -
         1;
}
