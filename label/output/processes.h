/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of the program that depend on whether several processes (ranks) share the work:
 * outputs, messages, and agreement on success. ccl-label has one rank (one-process.c),
 * ccl-label-mpi as many as mpirun starts (mpi-processes.c).
 *
 * Functions marked "collective" are called by all ranks, in the same order. Functions that return
 * bool fill the error when they return false.
 */
#pragma once

#include <cudaccl/tiled.h>

typedef struct Processes {
  uint32_t rank, n_ranks;
  uint32_t local_rank;        /* among the ranks of this machine */
  const CclTiledPeers *peers; /* NULL for one process */
} Processes;

/* Starts. May change the arguments. clean_up: called before all processes are ended. Collective. */
Processes processes_start (int *argc, char ***argv, void (*clean_up) (void));

/* Returns true if all ranks call it with true. Otherwise it returns false and all ranks get the
 * error of the first rank that failed. Collective. */
bool processes_agree (bool succeeded, CclError *error);

/* The value that rank 0 passes. Collective. */
uint64_t processes_share (uint64_t value);

/* The sum of the values of the ranks before this one. Collective. */
uint64_t processes_sum_before (uint64_t value);

/* The sum of the values of all ranks. Collective. */
uint64_t processes_sum (uint64_t value);

/* Replaces each of n numbers by its sum over all ranks. Collective. */
void processes_sum_all (uint64_t *numbers, uint32_t n);

/* Ends. Collective. */
void processes_end (void);

/* A file that all ranks write to. */
typedef struct OutputFile OutputFile;

/* Creates the file, or truncates it. Collective. */
OutputFile *output_file_open (const char *path, CclError *error);

/* Reserves room for size bytes, so that a full file system is noticed before the first write. Does
 * nothing on a file system that cannot. For one rank to call. */
bool output_file_reserve (OutputFile *file, uint64_t size, CclError *error);

/* Writes for this rank alone. */
bool output_file_write (
    OutputFile *file, uint64_t offset, const void *bytes, uint64_t size, CclError *error);

/* Writes collectively: the call returns when every other rank has called this function or
 * output_file_close(). Ranks may call it a different number of times. If a write fails with several
 * processes, the error is printed and all processes end, because the others may be waiting inside
 * the MPI library. */
bool output_file_write_together (
    OutputFile *file, uint64_t offset, const void *bytes, uint64_t size, CclError *error);

/* Writes what the system has buffered to the disk and closes the file, which may be NULL. With
 * failed, the calls of output_file_write_together() in other ranks fail. Collective. */
bool output_file_close (OutputFile *file, bool failed, CclError *error);
