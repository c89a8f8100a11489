/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The algorithms of the papers, which the benchmark and the tests compare with those of the library
 * (../algorithms.h). Some of them repeat kernels until the labels no longer change: the host reads
 * a flag after every round, and the number of rounds depends on the frame.
 *
 * Functions that take no CclCudaDevice assume that the device's context is current. One thread at a
 * time, unless a comment says otherwise.
 */
#pragma once

#include "cuda/label/sequence-engine.h"

/* An algorithm of a paper. */
typedef struct CclResearchAlgorithm {
  CclAlgorithm row; /* engine: ccl_research_engine */
  bool is_inexact;  /* false results for some frames are a property of the published algorithm */
  struct {
    uint32_t first, end; /* of the steps; end is 0 for algorithms without rounds */
  } rounds;              /* the steps that are repeated while a kernel sets the changed flag */
} CclResearchAlgorithm;

/* The algorithms of the papers, ended by one without a name. */
extern const CclResearchAlgorithm ccl_research_table[];

extern const CclCudaEngineClass ccl_research_engine;

/* All algorithms by number: those of the library, then those of the papers; NULL after the last.
 * Thread safe. */
const CclAlgorithm *ccl_research_algorithm (size_t number);

/* The entry of an algorithm in ccl_research_table; NULL for an algorithm of the library. Thread
 * safe. */
const CclResearchAlgorithm *ccl_research_details (const CclAlgorithm *algorithm);

/* Whether the algorithm labels frames, not only volumes, and all of them correctly. Thread safe. */
bool ccl_research_labels_frames (const CclAlgorithm *algorithm);

/* Whether an algorithm of that name for which ccl_research_labels_frames() is true offers the
 * connectivity. Thread safe. */
bool ccl_research_offers (const char *algorithm, CclConnectivity connectivity);

/* As ccl_cuda_labeller_new(), with the name of any algorithm. */
CclLabeller *ccl_research_labeller_new (
    CclCudaDevice *device, const CclLabellerPlan *plan, CclError *error);

/* The state of an algorithm's rounds, beside its kernel sequence. */
typedef struct CclResearchRounds {
  CUdeviceptr changed;
  uint32_t *changed_on_host; /* pinned */
  double deadline;           /* seconds of CLOCK_MONOTONIC after which no round starts; 0: none */
  bool gave_up;              /* a run failed because its deadline passed */
} CclResearchRounds;

/* Allocates the changed flag of any algorithm's sequence. On failure nothing stays allocated:
 * CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE. */
CclStatus ccl_research_rounds_init (
    CclResearchRounds *rounds, CclCudaSequence *sequence, CclError *error);

/* Frees the memory allocated by init. No queued work may be pending. */
void ccl_research_rounds_clear (CclResearchRounds *rounds, CclCudaDevice *device);

/* As ccl_cuda_sequence_queue(), with the rounds of the algorithm, which must lie inside or outside
 * [first, end) as a whole. Waits for the device after every round. CUDACCL_ERROR_DEVICE also when
 * the deadline has passed; then gave_up is set, and no queued work is pending. */
CclStatus ccl_research_queue (CclResearchRounds *rounds, CclCudaSequence *sequence, uint32_t first,
    uint32_t end, CUstream stream, CclError *error);
