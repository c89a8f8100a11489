/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures labelled in tiles by 1 to 9 MPI processes must equal a flood fill, or what a file of
 * cases says. One mpirun runs all cases: ranks that take no part in a case wait.
 *
 * usage: test-tiled-mpi N_SEEDS [CASES] | faults
 *
 * faults: in each case one rank fails once, at one of its allocations, sends or receives. All ranks
 * must return, and all or only that one with an error.
 *
 * CASES: for each case eight uint32_t (width, height, depth, connectivity, ranks, tile layers, N,
 * 0), ten uint32_t (the first layers of the slabs and the end), the pixels, and uint32_t labels.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tiled-case.h"

/* Of this rank: the calls of each kind that succeed until one fails; negative: all do. */
typedef enum FaultKind { FAULT_ALLOCATION, FAULT_SEND, FAULT_RECEIVE, N_FAULTS } FaultKind;
static int n_good_calls[N_FAULTS] = {-1, -1, -1};
static bool was_hit;
static bool is_synchronous; /* sends wait for their receive */

static bool
call_fails (FaultKind kind)
{
  if (n_good_calls[kind] < 0 || n_good_calls[kind]-- > 0)
    return false;
  was_hit = true;
  return true;
}

/* The linker's --wrap redirects the library's allocations to these functions. */
void *__real_malloc (size_t size);
void *__wrap_malloc (size_t size);
void *__real_calloc (size_t n, size_t size);
void *__wrap_calloc (size_t n, size_t size);

void *
__wrap_malloc (size_t size)
{
  return call_fails (FAULT_ALLOCATION) ? NULL : __real_malloc (size);
}

void *
__wrap_calloc (size_t n, size_t size)
{
  return call_fails (FAULT_ALLOCATION) ? NULL : __real_calloc (n, size);
}

static CclStatus
fail (CclError *error)
{
  *error = (CclError){CUDACCL_ERROR_IO, "the line is cut"};
  return CUDACCL_ERROR_IO;
}

static CclStatus
send_bytes (void *data, uint32_t to, const void *bytes, uint64_t size, CclError *error)
{
  (void)data;
  if (call_fails (FAULT_SEND))
    return fail (error);
  if (is_synchronous)
    MPI_Ssend (bytes, (int)size, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD);
  else
    MPI_Send (bytes, (int)size, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD);
  return CUDACCL_OK;
}

static CclStatus
receive_bytes (void *data, uint32_t from, void *bytes, uint64_t size, CclError *error)
{
  (void)data;
  if (call_fails (FAULT_RECEIVE))
    return fail (error);
  MPI_Recv (bytes, (int)size, MPI_BYTE, (int)from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return CUDACCL_OK;
}

/* Runs a case. Returns whether no rank differs; rank 0 prints the first message. */
static bool
run_case (const TiledCase *c, int rank)
{
  const CclTiledPeers peers = {
      .rank = (uint32_t)rank, .n_ranks = c->n_ranks, .send = send_bytes, .receive = receive_bytes};
  char message[512] = "";
  int passed = 1, all_passed;

  if (rank < (int)c->n_ranks)
    passed = tiled_case_run (c, &peers, NULL, NULL, message);
  if (!passed)
    printf ("# rank %d: %s\n", rank, message);
  MPI_Allreduce (&passed, &all_passed, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all_passed;
}

/* Reads the next case of a file; NULL at its end. */
static TiledCase *
read_case (FILE *file)
{
  uint32_t head[8], begins[10];
  TiledCase *c;

  if (fread (head, sizeof head, 1, file) != 1 || fread (begins, sizeof begins, 1, file) != 1)
    return NULL;
  c = calloc (1, sizeof *c);
  c->plan.width = head[0];
  c->plan.height = head[1];
  c->plan.depth = head[2];
  c->plan.connectivity = head[3];
  c->n_ranks = head[4];
  c->n_components = head[6];
  for (int i = 0; i < 10; i++)
    c->begins[i] = begins[i];
  for (int i = 0; i < MOST_RANKS; i++)
    c->tile_layers[i] = head[5];
  const size_t n = (size_t)head[0] * head[1] * head[2];
  c->pixels = malloc (n);
  c->labels = malloc (4 * n);
  if (fread (c->pixels, 1, n, file) != n || fread (c->labels, 4, n, file) != n)
    abort ();
  snprintf (c->name, sizeof c->name, "%ux%ux%u, %u-connected, %u ranks", head[0], head[1], head[2],
      head[3], head[4]);
  return c;
}

static bool
run_file (const char *path, int rank, int *n_cases)
{
  FILE *file = fopen (path, "rb");
  bool passed = file != NULL;
  TiledCase *c;

  while (passed && (c = read_case (file))) {
    passed = run_case (c, rank);
    tiled_case_free (c);
    (*n_cases)++;
  }
  if (file)
    fclose (file);
  return passed;
}

static CclStatus
read_layers (void *data, uint64_t first, uint64_t n, uint8_t *pixels, CclError *error)
{
  const CclTiledPlan *plan = data;
  (void)error;
  for (uint64_t i = 0; i < n * plan->width; i++)
    pixels[i] = i % plan->width % 2 == 0 || first + i / plan->width + 1 == plan->height;
  return CUDACCL_OK;
}

static CclStatus
take_rows (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  (void)data, (void)rows, (void)n, (void)error;
  return CUDACCL_OK;
}

/* Labels a comb with a fault. Returns whether the fault has happened. */
static bool
run_with_fault (int rank, int n_ranks, FaultKind kind, int faulty_rank, int number, bool *passed)
{
  CclTiledPlan plan = {.width = 31,
      .height = 3 * (uint64_t)n_ranks,
      .depth = 1,
      .connectivity = 8,
      .first_layer = 3 * (uint64_t)rank,
      .n_layers = 3,
      .tile_layers = 2,
      .n_threads = 1};
  const CclTiledIo io = {.data = &plan, .read = read_layers, .rows = take_rows};
  const CclTiledPeers peers = {.rank = (uint32_t)rank,
      .n_ranks = (uint32_t)n_ranks,
      .send = send_bytes,
      .receive = receive_bytes};
  CclTiledResult result = {0};
  CclError error = {CUDACCL_OK, ""};
  int counts[3], sums[3];

  was_hit = false;
  if (rank == faulty_rank)
    n_good_calls[kind] = number;
  const CclStatus status = ccl_tiled_run (&plan, &io, &peers, &result, &error);
  n_good_calls[kind] = -1;
  counts[0] = was_hit;
  counts[1] = status != CUDACCL_OK;
  counts[2] = was_hit == (status != CUDACCL_OK);
  MPI_Allreduce (counts, sums, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  /* All fail, or the faulty one alone. */
  *passed = sums[1] == (sums[0] ? n_ranks : 0) || sums[2] == n_ranks;
  if (status == CUDACCL_OK && result.n_components != 1)
    *passed = false;
  if (!*passed && rank == 0)
    printf ("# fault %d of kind %d in rank %d: %d ranks failed\n", number, (int)kind, faulty_rank,
        sums[1]);
  return sums[0] > 0;
}

static bool
run_faults (int rank, int *n_cases)
{
  bool passed = true;
  int n_ranks;

  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  for (int kind = 0; kind < N_FAULTS; kind++)
    for (int faulty = 0; faulty < n_ranks; faulty++)
      for (int number = 0;
           passed && run_with_fault (rank, n_ranks, (FaultKind)kind, faulty, number, &passed);
           number++, ++*n_cases)
        is_synchronous = number % 2;
  return passed;
}

int
main (int argc, char **argv)
{
  int rank, n_cases = 0;
  bool passed = true;

  MPI_Init (&argc, &argv);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  const bool has_faults = argc > 1 && strcmp (argv[1], "faults") == 0;
  if (has_faults)
    passed = run_faults (rank, &n_cases);
  const uint32_t n_seeds = has_faults ? 0 : argc > 1 ? (uint32_t)atoi (argv[1]) : 100;
  for (uint32_t seed = 100000; seed < 100000 + n_seeds && passed; seed++, n_cases++) {
    TiledCase *c = tiled_case_new (seed);
    passed = run_case (c, rank);
    tiled_case_free (c);
  }
  for (int i = 2; i < argc && passed; i++)
    passed = run_file (argv[i], rank, &n_cases);
  if (rank == 0)
    printf ("%d cases %s\n", n_cases, passed ? "passed" : "and one failed");
  MPI_Finalize ();
  return !passed;
}
