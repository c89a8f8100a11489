/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "processes.h"

#include "error.h"

#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most bytes of one message or one access to a file: MPI counts them with an int. */
#define MOST_BYTES ((uint64_t)1 << 30)

enum { TAG = 1 };

/* The action of a rank in a collective write. All ranks take the greatest action of any rank. */
enum { NOTHING, SOMETHING, FAILURE };

struct OutputFile {
  MPI_File file;
  char *path;
  bool failed; /* a write of this or another rank */
  bool ended;  /* the ranks agree that there are no more collective writes */
};

static CclTiledPeers peers;
static void (*clean_up_before_abort) (void);

/* This rank's failure follows from that of another one, whose message is the one to print. */
static bool is_consequence;

static bool
mpi_fail (CclError *error, int result, const char *what)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  MPI_Error_string (result, text, &length);
  return fail (error, "%s: %s", what, text);
}

/* The bytes of the next message or access. */
static uint64_t
next_bytes (uint64_t size, uint64_t done)
{
  return size - done < MOST_BYTES ? size - done : MOST_BYTES;
}

static CclStatus
send_bytes (void *data, uint32_t to, const void *bytes, uint64_t size, CclError *error)
{
  for (uint64_t done = 0, n; done < size; done += n) {
    n = next_bytes (size, done);
    const int result =
        MPI_Send ((const char *)bytes + done, (int)n, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD);
    if (result != MPI_SUCCESS)
      return mpi_fail (error, result, "message to another rank") ? CUDACCL_OK : CUDACCL_ERROR_IO;
  }
  return CUDACCL_OK;
}

static CclStatus
receive_bytes (void *data, uint32_t from, void *bytes, uint64_t size, CclError *error)
{
  for (uint64_t done = 0, n; done < size; done += n) {
    n = next_bytes (size, done);
    const int result = MPI_Recv (
        (char *)bytes + done, (int)n, MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS)
      return mpi_fail (error, result, "message from another rank") ? CUDACCL_OK : CUDACCL_ERROR_IO;
  }
  return CUDACCL_OK;
}

/* Ends ranks that wait for this one. */
static void
abort_ranks (void *data)
{
  clean_up_before_abort ();
  MPI_Abort (MPI_COMM_WORLD, 1);
}

Processes
processes_start (int *argc, char ***argv, void (*clean_up) (void))
{
  int rank, n_ranks, local_rank;
  MPI_Comm local;

  clean_up_before_abort = clean_up;
  MPI_Init (argc, argv);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  MPI_Comm_split_type (MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &local);
  MPI_Comm_rank (local, &local_rank);
  MPI_Comm_free (&local);
  peers = (CclTiledPeers){
      .rank = (uint32_t)rank,
      .n_ranks = (uint32_t)n_ranks,
      .send = send_bytes,
      .receive = receive_bytes,
      .abort = abort_ranks,
  };
  return (Processes){
      .rank = peers.rank,
      .n_ranks = peers.n_ranks,
      .local_rank = (uint32_t)local_rank,
      .peers = &peers,
  };
}

bool
processes_agree (bool succeeded, CclError *error)
{
  const int n_ranks = (int)peers.n_ranks;
  int failing = succeeded ? 2 * n_ranks : (int)peers.rank + (is_consequence ? n_ranks : 0), first;

  MPI_Allreduce (&failing, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == 2 * n_ranks)
    return true;
  MPI_Bcast (error, sizeof *error, MPI_BYTE, first % n_ranks, MPI_COMM_WORLD);
  return false;
}

uint64_t
processes_share (uint64_t value)
{
  MPI_Bcast (&value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return value;
}

uint64_t
processes_sum_before (uint64_t value)
{
  uint64_t sum = 0;
  MPI_Exscan (&value, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return peers.rank ? sum : 0; /* rank 0 gets no value */
}

uint64_t
processes_sum (uint64_t value)
{
  uint64_t sum = 0;
  MPI_Allreduce (&value, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

void
processes_sum_all (uint64_t *numbers, uint32_t n)
{
  MPI_Allreduce (MPI_IN_PLACE, numbers, (int)n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

void
processes_end (void)
{
  MPI_Finalize ();
}

OutputFile *
output_file_open (const char *path, CclError *error)
{
  OutputFile *file = calloc (1, sizeof *file);
  char *copy = strdup (path);
  const bool has_memory = file && copy;

  /* Opening is collective, so no rank may go on alone. */
  if (processes_agree (has_memory || fail_without_memory (error), error)) {
    const int result = MPI_File_open (
        MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file->file);
    if (result == MPI_SUCCESS) {
      file->path = copy;
      MPI_File_set_size (file->file, 0);
      return file;
    }
    mpi_fail (error, result, path);
  }
  free (copy);
  free (file);
  return NULL;
}

bool
output_file_reserve (OutputFile *file, uint64_t size, CclError *error)
{
  const int descriptor = open (file->path, O_WRONLY | O_CLOEXEC);
  bool succeeded = true;

  if (descriptor < 0 ||
      (fallocate (descriptor, 0, 0, (off_t)size) != 0 && errno != EOPNOTSUPP && errno != ENOSYS))
    succeeded = fail (error, "%s: %s", file->path, strerror (errno));
  if (descriptor >= 0)
    close (descriptor);
  return succeeded;
}

bool
output_file_write (
    OutputFile *file, uint64_t offset, const void *bytes, uint64_t size, CclError *error)
{
  for (uint64_t done = 0, n; done < size; done += n) {
    MPI_Status status;
    int written = 0;
    n = next_bytes (size, done);
    const int result = MPI_File_write_at (file->file, (MPI_Offset)(offset + done),
        (const char *)bytes + done, (int)n, MPI_BYTE, &status);
    if (result != MPI_SUCCESS)
      return mpi_fail (error, result, file->path);
    MPI_Get_count (&status, MPI_BYTE, &written);
    if ((uint64_t)written != n)
      return fail (error, "%s: the file system is full", file->path);
  }
  return true;
}

/* One round of collective writes. Returns the largest value of all ranks. */
static int
write_round (
    OutputFile *file, int mine, uint64_t offset, const void *bytes, uint64_t size, CclError *error)
{
  MPI_Status status;
  int most, written = 0;

  MPI_Allreduce (&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (most != SOMETHING) {
    file->ended = true;
    if (most == FAILURE && mine != FAILURE) {
      file->failed = is_consequence = true;
      fail (error, "%s: another rank has failed", file->path);
    }
    return most;
  }
  const int result =
      MPI_File_write_at_all (file->file, (MPI_Offset)offset, bytes, (int)size, MPI_BYTE, &status);
  if (result == MPI_SUCCESS)
    MPI_Get_count (&status, MPI_BYTE, &written);
  if (result != MPI_SUCCESS || (uint64_t)written != size) {
    if (result != MPI_SUCCESS)
      mpi_fail (error, result, file->path);
    else
      fail (error, "%s: the file system is full", file->path);
    fprintf (stderr, "ccl-label: %s\n", error->message);
    clean_up_before_abort ();
    MPI_Abort (MPI_COMM_WORLD, 1);
  }
  return most;
}

bool
output_file_write_together (
    OutputFile *file, uint64_t offset, const void *bytes, uint64_t size, CclError *error)
{
  for (uint64_t done = 0, n; done < size && !file->failed; done += n) {
    n = next_bytes (size, done);
    if (write_round (file, SOMETHING, offset + done, (const char *)bytes + done, n, error) ==
        FAILURE)
      return false;
  }
  return !file->failed;
}

bool
output_file_close (OutputFile *file, bool failed, CclError *error)
{
  if (!file)
    return true;
  while (!file->ended)
    write_round (file, failed || file->failed ? FAILURE : NOTHING, 0, NULL, 0, error);
  failed |= file->failed;
  int result = MPI_File_sync (file->file);
  if (MPI_File_close (&file->file) != MPI_SUCCESS)
    result = MPI_ERR_IO;
  if (result != MPI_SUCCESS && !failed)
    failed = !mpi_fail (error, result, file->path);
  free (file->path);
  free (file);
  return !failed;
}
