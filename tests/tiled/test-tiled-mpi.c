/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures labelled in tiles by 1 to 9 MPI processes must equal a flood fill, or what a file of
 * cases says. One mpirun runs all cases: ranks that take no part in a case wait.
 *
 * usage: test-tiled-mpi N_SEEDS [CASES]
 *
 * CASES: for each case eight uint32_t (width, height, depth, connectivity, ranks, tile layers, N,
 * 0), ten uint32_t (the first layers of the blocks and the end), the pixels, and uint32_t labels.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tiled-case.h"

static CclStatus
send_bytes (void *data, uint32_t to, const void *bytes, uint64_t size, CclError *error)
{
  (void)data, (void)error;
  MPI_Send (bytes, (int)size, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD);
  return CCL_OK;
}

static CclStatus
receive_bytes (void *data, uint32_t from, void *bytes, uint64_t size, CclError *error)
{
  (void)data, (void)error;
  MPI_Recv (bytes, (int)size, MPI_BYTE, (int)from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return CCL_OK;
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

int
main (int argc, char **argv)
{
  int rank, n_cases = 0;
  bool passed = true;

  MPI_Init (&argc, &argv);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  const uint32_t n_seeds = argc > 1 ? (uint32_t)atoi (argv[1]) : 100;
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
