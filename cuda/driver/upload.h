/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Device memory to which frames in host memory are copied.
 *
 * Functions assume that the device's context is current (device.h). One thread at a time.
 */
#pragma once

#include "device.h"

typedef struct CclCudaUpload {
  CclCudaDevice *device;  /* the caller keeps the reference */
  uint32_t width, height; /* bytes of a row's pixels, rows */
  CUdeviceptr memory;     /* the copy of the frame */
  size_t stride;          /* bytes, a multiple of 16 where there is more than one row */
  size_t capacity;        /* bytes of the memory */
} CclCudaUpload;

/* Allocates memory for frames of height rows of width bytes. CUDACCL_ERROR_NO_MEMORY,
 * CUDACCL_ERROR_DEVICE.
 */
CclStatus ccl_cuda_upload_init (
    CclCudaUpload *upload, CclCudaDevice *device, uint32_t width, uint32_t height, CclError *error);

/* The same for another size, in the memory that there is if it suffices. After an error nothing has
 * changed. */
CclStatus ccl_cuda_upload_resize (
    CclCudaUpload *upload, uint32_t width, uint32_t height, CclError *error);

/* Queues the copy of a frame in host memory, which must stay valid until the copy is done. */
CclStatus ccl_cuda_upload_queue (
    CclCudaUpload *upload, const CclFrame *frame, CUstream stream, CclError *error);

/* As ccl_cuda_upload_queue(), for n_rows rows from first_row on, which lie stride bytes apart in
 * host memory. */
CclStatus ccl_cuda_upload_queue_rows (CclCudaUpload *upload, uint32_t first_row, uint32_t n_rows,
    const void *data, size_t stride, CUstream stream, CclError *error);

/* Queues the copy of n_rows rows of n_samples bytes, at most as many as the frame has, that lie
 * stride bytes apart in host memory. */
CclStatus ccl_cuda_upload_queue_samples (CclCudaUpload *upload, const void *data, size_t stride,
    uint32_t n_samples, uint32_t n_rows, CUstream stream, CclError *error);

/* Frees the memory of init(); does nothing before it. */
void ccl_cuda_upload_clear (CclCudaUpload *upload);

/* Copies `size` bytes from host memory, and waits. */
CclStatus ccl_cuda_upload_and_wait (CclCudaDevice *device, const void *from, CUdeviceptr memory,
    size_t size, CUstream stream, CclError *error);
