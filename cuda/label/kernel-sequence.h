/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs an algorithm's sequence of kernels: from a frame in device memory to raw labels
 * (kernel-parameters.h). The sequence engine adds the analysis; the benchmark and the tests of raw
 * labels use it directly.
 *
 * Functions assume that the device's context is current (device.h). One thread at a time.
 */
#pragma once

#include "algorithm.h"

typedef struct CclCudaSequence {
  CclCudaDevice *device;         /* the caller keeps the reference */
  const CclAlgorithm *algorithm; /* one with steps */
  CUfunction functions[CUDACCL_MAX_STEPS];
  CclStep steps[CUDACCL_MAX_STEPS]; /* the algorithm's; thread blocks may be changed between runs */
  uint32_t n_steps;
  CclPixelFormat format; /* of frames */
  CclLabellingParameters parameters;
  size_t n_elements; /* of the label buffer */
  CUdeviceptr labels, scratch;
} CclCudaSequence;

/* Allocates label buffer and scratch memory for frames of width × height pixels or volumes of
 * width × height × depth voxels, all ≥ 1 with a product ≤ CUDACCL_MAX_PIXELS; the algorithm has the
 * connectivity. Preparatory work is queued on the stream.
 *
 * Returns with nothing left allocated: CUDACCL_ERROR_UNSUPPORTED (more elements than the algorithm
 * allows), CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_sequence_init (CclCudaSequence *sequence, CclCudaDevice *device,
    const CclAlgorithm *algorithm, uint32_t width, uint32_t height, uint32_t depth,
    uint32_t connectivity, CUstream stream, CclError *error);

/* Sets the pixel format of frames, which is CUDACCL_PIXEL_FORMAT_8 otherwise: one that the
 * algorithm reads. CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_sequence_set_format (
    CclCudaSequence *sequence, CclPixelFormat format, CclError *error);

/* Frees the memory of init(). All queued work must have ended. */
void ccl_cuda_sequence_clear (CclCudaSequence *sequence);

/* Sets address, strides (bytes; slice for volumes only) and definition of foreground of the next
 * frame. */
void ccl_cuda_sequence_set_frame (CclCudaSequence *sequence, CUdeviceptr frame, size_t stride,
    size_t slice, uint32_t threshold, bool invert);

/* Queues the steps from first up to but not including end. After the last step, sequence->labels
 * holds the raw labels. CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_sequence_queue (
    CclCudaSequence *sequence, uint32_t first, uint32_t end, CUstream stream, CclError *error);
