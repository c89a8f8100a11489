/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory of a component table that kernels write: its head, which the host polls and reads, and
 * its rows, which are in host or device memory, and so are their features, if it has columns.
 *
 * Functions assume that the device's context is current. One thread at a time. Zeros: no memory.
 */
#pragma once

#include <cudaccl/device.h>

#include "cuda/driver/device.h"

/* Bytes of the head: a line of the device's caches, so that rows in host memory are aligned. */
enum { CUDACCL_TABLE_HEAD_SIZE = 64 };

typedef struct CclCudaTableMemory {
  void *pinned; /* the head, then the rows if they are in host memory */
  CUdeviceptr pinned_on_device;
  CUdeviceptr device_rows; /* 0: the rows are in host memory */
  void *pinned_features;   /* [n_rows] CclFeatures in host memory; NULL: there are none */
  CUdeviceptr features;    /* their address for kernels; 0: there are none */
  uint32_t n_rows;         /* for which there is memory */
} CclCudaTableMemory;

/* Makes room for the head and n_rows rows at the location; memory that suffices is kept. After an
 * error nothing has changed: CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_table_memory_resize (CclCudaTableMemory *memory, CclCudaDevice *device,
    uint32_t n_rows, CclLocation location, CclError *error);

/* The same with features; all sizes of one memory have them. */
CclStatus ccl_cuda_table_memory_resize_with_features (CclCudaTableMemory *memory,
    CclCudaDevice *device, uint32_t n_rows, CclLocation location, CclError *error);

/* Frees the memory. All queued work must have ended. */
void ccl_cuda_table_memory_clear (CclCudaTableMemory *memory, CclCudaDevice *device);

/* The first words of the head, for kernels: the number of components, and the completion flag. */
uint32_t *ccl_cuda_table_memory_head (const CclCudaTableMemory *memory);

/* The rows, for kernels. */
CclComponent *ccl_cuda_table_memory_rows (const CclCudaTableMemory *memory);

/* Reads the table, of at most max_rows rows, after the queued work has ended. */
void ccl_cuda_table_memory_read (
    const CclCudaTableMemory *memory, uint32_t max_rows, CclTable *table);
