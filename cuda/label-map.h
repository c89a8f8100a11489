/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device memory for label maps that are then copied to host memory. The functions need no context.
 */
#ifndef CCL_CUDA_LABEL_MAP_H
#define CCL_CUDA_LABEL_MAP_H

#include <cudaccl/cuda.h>

/* Allocates size bytes; NULL if size is 0. CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CclStatus ccl_cuda_label_map_new (CclCudaDevice *device, size_t size, void **map, CclError *error);

/* Copies size bytes to host memory and waits for them. */
CclStatus ccl_cuda_label_map_download (
    CclCudaDevice *device, const void *map, void *host, size_t size, CclError *error);

/* Frees a map and clears the handle, which may be NULL. */
void ccl_cuda_label_map_free (CclCudaDevice *device, void **map);

#endif /* CCL_CUDA_LABEL_MAP_H */
