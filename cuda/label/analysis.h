/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From raw labels to component table and label map: the host side of analysis.cu.
 *
 * Functions assume that the device's context is current. One thread at a time.
 */
#pragma once

#include "cuda/driver/allocations.h"
#include "kernel-sequence.h"
#include "table-memory.h"

#define CUDACCL_N_ANALYSIS_KERNELS 4

typedef struct CclCudaAnalysis {
  CclCudaAllocations memory;
  CUfunction functions[CUDACCL_N_ANALYSIS_KERNELS];
  CclAnalysisParameters parameters;
  size_t most_components; /* of any frame of this size */
  size_t accumulators_size, first_bits_size;
  bool is_clean; /* the memory is as kernels expect it before a frame */
  CclCudaTableMemory table;
} CclCudaAnalysis;

/* Allocates everything for frames of the sequence's size and a table of max_components rows
 * at the location.
 * Preparatory work is queued on the stream.
 *
 * Returns with nothing allocated: CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_analysis_init (CclCudaAnalysis *analysis, const CclCudaSequence *sequence,
    uint32_t max_components, CclLocation table_location, CUstream stream, CclError *error);

/* Frees the memory of init(). All queued work must have ended. */
void ccl_cuda_analysis_clear (CclCudaAnalysis *analysis);

/* Queues the analysis of the raw labels behind the sequence; labels may be NULL. */
CclStatus ccl_cuda_analysis_queue (CclCudaAnalysis *analysis, const CclLabellerOptions *options,
    const CclLabels *labels, CUstream stream, CclError *error);

/* Reads the table after the queued work has ended. */
void ccl_cuda_analysis_read (const CclCudaAnalysis *analysis, CclTable *table);
