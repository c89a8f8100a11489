/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ranks, each a thread, of which one fails at every place where it can: at each allocation, each
 * message that it sends and each that it receives. No rank may wait for ever, and all return the
 * error unless the ranks have already got their labels.
 */
#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "tiled-case.h"

typedef enum FaultKind {
  FAULT_ALLOCATION,   /* one allocation fails */
  FAULT_SEND,         /* one send fails, and sends nothing */
  FAULT_RECEIVE,      /* one receive fails, and takes nothing */
  FAULT_LASTING_SEND, /* all sends fail from one on */
  FAULT_LASTING_RECEIVE,
  FAULT_DEATH, /* the rank dies: from one call on, those of others that concern it fail, too */
  N_FAULTS
} FaultKind;

static const char *const fault_names[N_FAULTS] = {
    "allocation", "send", "receive", "all sends", "all receives", "death"};

typedef struct Fault {
  FaultKind kind;
  uint32_t rank;
  int number; /* of the allocation or the call, from 0 */
} Fault;

/* Of this thread: how many allocations succeed until one fails; negative: all do. */
static _Thread_local int n_good_allocations = -1;
static _Thread_local bool has_failed_allocation;

static bool
allocation_fails (void)
{
  if (n_good_allocations < 0 || n_good_allocations-- > 0)
    return false;
  has_failed_allocation = true;
  errno = ENOMEM;
  return true;
}

/* The linker's --wrap redirects the library's allocations to these functions. */
void *__real_malloc (size_t size);
void *__wrap_malloc (size_t size);
void *__real_calloc (size_t n, size_t size);
void *__wrap_calloc (size_t n, size_t size);
void *__real_aligned_alloc (size_t alignment, size_t size);
void *__wrap_aligned_alloc (size_t alignment, size_t size);
void *__real_mmap (void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__real_mmap64 (void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap (void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap64 (void *address, size_t size, int protection, int flags, int file, off_t offset);

void *
__wrap_malloc (size_t size)
{
  return allocation_fails () ? NULL : __real_malloc (size);
}

void *
__wrap_calloc (size_t n, size_t size)
{
  return allocation_fails () ? NULL : __real_calloc (n, size);
}

void *
__wrap_aligned_alloc (size_t alignment, size_t size)
{
  return allocation_fails () ? NULL : __real_aligned_alloc (alignment, size);
}

void *
__wrap_mmap (void *address, size_t size, int protection, int flags, int file, off_t offset)
{
  return allocation_fails () ? MAP_FAILED
                             : __real_mmap (address, size, protection, flags, file, offset);
}

/* The name with large file offsets. */
void *
__wrap_mmap64 (void *address, size_t size, int protection, int flags, int file, off_t offset)
{
  return allocation_fails () ? MAP_FAILED
                             : __real_mmap64 (address, size, protection, flags, file, offset);
}

/* Messages between ranks, in order for each pair. It notices when all ranks wait for each other. */
typedef struct Network {
  GMutex mutex;
  GCond changed;
  bool is_synchronous;                   /* a send waits until the message is received */
  GQueue queues[MOST_RANKS][MOST_RANKS]; /* of GBytes, from and to */
  uint32_t n_running;
  GQueue *waiting[MOST_RANKS];      /* what the rank waits for: that the queue is not empty, */
  bool waits_for_empty[MOST_RANKS]; /* or that it is, */
  uint32_t waits_for[MOST_RANKS];   /* and for which rank */
  bool is_dead[MOST_RANKS];
  bool is_deadlock;
  bool is_aborted; /* calls that would wait fail */
} Network;

typedef struct Rank {
  Network *network;
  const TiledCase *c;
  CclTiledPeers peers;
  Fault fault;
  int n_calls; /* of the kind that is to fail */
  bool was_hit;
  bool has_begun; /* labels and rows */
  CclStatus status;
  CclError error;
} Rank;

/* Whether nothing can happen any more, because all ranks that run wait. */
static bool
is_deadlock (const Network *network)
{
  uint32_t n_waiting = 0;
  for (int i = 0; i < MOST_RANKS; i++) {
    if (!network->waiting[i])
      continue;
    if (g_queue_is_empty (network->waiting[i]) == network->waits_for_empty[i] ||
        network->is_aborted || network->is_dead[network->waits_for[i]])
      return false;
    n_waiting++;
  }
  return n_waiting > 0 && n_waiting == network->n_running;
}

/* Waits until the queue is empty, or until it is not. */
static bool
wait_for (Rank *rank, uint32_t other, GQueue *queue, bool empty)
{
  Network *network = rank->network;
  const uint32_t own = rank->peers.rank;

  network->waiting[own] = queue;
  network->waits_for_empty[own] = empty;
  network->waits_for[own] = other;
  while (g_queue_is_empty (queue) != empty && !network->is_deadlock && !network->is_aborted &&
         !network->is_dead[other]) {
    network->is_deadlock = is_deadlock (network);
    if (network->is_deadlock)
      g_cond_broadcast (&network->changed);
    else
      g_cond_wait (&network->changed, &network->mutex);
  }
  network->waiting[own] = NULL;
  return g_queue_is_empty (queue) == empty;
}

/* Whether this call of the kind fails. */
static bool
call_fails (Rank *rank, FaultKind once, FaultKind lasting)
{
  const Fault *fault = &rank->fault;
  const uint32_t own = rank->peers.rank;
  if (fault->rank != own ||
      (fault->kind != once && fault->kind != lasting && fault->kind != FAULT_DEATH))
    return false;
  const int number = rank->n_calls++;
  const bool fails = fault->kind == once ? number == fault->number : number >= fault->number;
  rank->was_hit |= fails;
  if (fails && fault->kind == FAULT_DEATH) {
    rank->network->is_dead[own] = true;
    g_cond_broadcast (&rank->network->changed);
  }
  return fails;
}

static CclStatus
set_error (CclError *error, const char *message)
{
  *error = (CclError){.status = CUDACCL_ERROR_IO};
  g_strlcpy (error->message, message, sizeof error->message);
  return CUDACCL_ERROR_IO;
}

static CclStatus
send_bytes (void *data, uint32_t to, const void *bytes, uint64_t size, CclError *error)
{
  Rank *rank = data;
  Network *network = rank->network;
  GQueue *queue = &network->queues[rank->peers.rank][to];
  CclStatus status = CUDACCL_OK;

  g_mutex_lock (&network->mutex);
  if (call_fails (rank, FAULT_SEND, FAULT_LASTING_SEND)) {
    status = set_error (error, "the line is cut");
  } else if (network->is_aborted || network->is_dead[to]) {
    status = set_error (error, "the other rank is dead");
  } else {
    g_queue_push_tail (queue, g_bytes_new (bytes, size));
    g_cond_broadcast (&network->changed);
    if (network->is_synchronous && !wait_for (rank, to, queue, true))
      status = set_error (error, "the other rank is dead");
  }
  g_mutex_unlock (&network->mutex);
  return status;
}

static CclStatus
receive_bytes (void *data, uint32_t from, void *bytes, uint64_t size, CclError *error)
{
  Rank *rank = data;
  Network *network = rank->network;
  GQueue *queue = &network->queues[from][rank->peers.rank];
  CclStatus status = CUDACCL_OK;

  g_mutex_lock (&network->mutex);
  if (call_fails (rank, FAULT_RECEIVE, FAULT_LASTING_RECEIVE)) {
    status = set_error (error, "the line is cut");
  } else if (!wait_for (rank, from, queue, false)) {
    status = set_error (error, "the other rank is dead");
  } else {
    gsize got;
    GBytes *message = g_queue_pop_head (queue);
    const void *content = g_bytes_get_data (message, &got);
    g_assert_cmpuint (got, ==, size);
    memcpy (bytes, content, MIN (size, got));
    g_bytes_unref (message);
    g_cond_broadcast (&network->changed);
  }
  g_mutex_unlock (&network->mutex);
  return status;
}

static void
abort_network (void *data)
{
  Network *network = ((Rank *)data)->network;
  g_mutex_lock (&network->mutex);
  network->is_aborted = true;
  g_cond_broadcast (&network->changed);
  g_mutex_unlock (&network->mutex);
}

static CclStatus
read_layers (void *data, uint64_t first, uint64_t n, uint8_t *pixels, CclError *error)
{
  const TiledCase *c = ((Rank *)data)->c;
  (void)error;
  memcpy (pixels, c->pixels + first * c->plan.width, n * c->plan.width);
  return CUDACCL_OK;
}

static CclStatus
begin (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
    uint32_t label_bytes, CclError *error)
{
  Rank *rank = data;
  (void)first_label, (void)n_labels, (void)label_bytes, (void)error;
  g_assert_cmpuint (n_components, ==, rank->c->n_components);
  rank->has_begun = true;
  return CUDACCL_OK;
}

static CclStatus
write_layers (void *data, uint64_t first, uint64_t n, const void *labels, CclError *error)
{
  const TiledCase *c = ((Rank *)data)->c;
  (void)error;
  g_assert_cmpmem (
      labels, 4 * n * c->plan.width, c->labels + first * c->plan.width, 4 * n * c->plan.width);
  return CUDACCL_OK;
}

static CclStatus
read_values (void *data, uint64_t first, uint64_t n, void *values, CclError *error)
{
  const CclTiledPlan *plan = &((Rank *)data)->c->plan;
  (void)first, (void)error;
  memset (values, 3, n * plan->width);
  return CUDACCL_OK;
}

/* Each component is a column of the comb. */
static CclStatus
take_measured (void *data, const CclTiledComponent *rows, const CclVolumeShape *found, size_t n,
    CclError *error)
{
  (void)data, (void)error;
  for (size_t i = 0; i < n; i++) {
    g_assert_cmpfloat (found[i].crack_length, ==, 2.0 * (double)rows[i].height + 2);
    g_assert_cmpfloat (found[i].euler_number_8, ==, 1);
    g_assert_cmpfloat (found[i].intensity_mean, ==, 3);
  }
  return CUDACCL_OK;
}

static gpointer
run_rank (gpointer data)
{
  Rank *rank = data;
  Network *network = rank->network;
  const uint32_t own = rank->peers.rank;
  const CclTiledIo io = {
      .data = rank,
      .read = read_layers,
      .begin = begin,
      .write = write_layers,
      .read_values = read_values,
      .measured = take_measured,
  };
  CclTiledPlan plan = rank->c->plan;

  plan.first_layer = rank->c->begins[own];
  plan.n_layers = rank->c->begins[own + 1] - plan.first_layer;
  plan.tile_layers = 2;
  plan.n_threads = 1;
  plan.label_bytes = 4;
  plan.scratch_folder = own % 2 ? P_tmpdir : NULL;
  has_failed_allocation = false;
  if (rank->fault.kind == FAULT_ALLOCATION && rank->fault.rank == own)
    n_good_allocations = rank->fault.number;
  rank->status = ccl_tiled_run (&plan, &io, &rank->peers, NULL, &rank->error);
  n_good_allocations = -1;
  rank->was_hit |= has_failed_allocation;

  g_mutex_lock (&network->mutex);
  network->n_running--;
  if (is_deadlock (network))
    network->is_deadlock = true;
  g_cond_broadcast (&network->changed);
  g_mutex_unlock (&network->mutex);
  return NULL;
}

/* Checks what the ranks have returned. */
static void
check_ranks (const Network *network, const Rank *ranks, uint32_t n_ranks, const Fault *fault)
{
  uint32_t n_failed = 0, n_begun = 0;
  const Rank *faulty = &ranks[fault->rank];

  for (uint32_t i = 0; i < n_ranks; i++) {
    n_failed += ranks[i].status != CUDACCL_OK;
    n_begun += ranks[i].has_begun;
  }
  g_assert_false (network->is_deadlock);
  if (!faulty->was_hit) {
    g_assert_cmpuint (n_failed, ==, 0);
    return;
  }
  g_assert_cmpint (faulty->status, !=, CUDACCL_OK);
  if (fault->kind > FAULT_RECEIVE) {
    /* Ranks that already have their labels cannot know. */
    g_assert_cmpuint (n_failed + n_begun, >=, n_ranks);
  } else if (n_begun > 0) {
    g_assert_cmpuint (n_failed, ==, 1);
  } else {
    g_assert_cmpuint (n_failed, ==, n_ranks);
    for (uint32_t i = 0; i < n_ranks; i++) {
      g_assert_cmpint (ranks[i].status, ==, faulty->status);
      g_assert_cmpint (ranks[i].error.status, ==, faulty->status);
      g_assert_cmpstr (ranks[i].error.message, ==, faulty->error.message);
    }
  }
}

/* Runs a case with a fault. Returns whether the fault has happened. */
static bool
run_with_fault (const TiledCase *c, bool is_synchronous, const Fault *fault)
{
  Network network = {.is_synchronous = is_synchronous, .n_running = c->n_ranks};
  GThread *threads[MOST_RANKS];
  Rank ranks[MOST_RANKS] = {0};

  g_mutex_init (&network.mutex);
  g_cond_init (&network.changed);
  for (uint32_t i = 0; i < c->n_ranks; i++)
    ranks[i] = (Rank){
        .network = &network,
        .c = c,
        .peers = {&ranks[i], i, c->n_ranks, send_bytes, receive_bytes, NULL},
        .fault = *fault,
    };
  /* Where a rank is cut off without being dead, only abort() can tell the others. */
  if (fault->kind == FAULT_LASTING_SEND || fault->kind == FAULT_LASTING_RECEIVE)
    for (uint32_t i = 0; i < c->n_ranks; i++)
      ranks[i].peers.abort = abort_network;
  for (uint32_t i = 0; i < c->n_ranks; i++)
    threads[i] = g_thread_new ("rank", run_rank, &ranks[i]);
  for (uint32_t i = 0; i < c->n_ranks; i++)
    g_thread_join (threads[i]);
  check_ranks (&network, ranks, c->n_ranks, fault);
  if (g_test_failed ())
    g_test_message ("%s %d of rank %u of %u, %s", fault_names[fault->kind], fault->number,
        fault->rank, c->n_ranks, is_synchronous ? "synchronous" : "asynchronous");
  for (int i = 0; i < MOST_RANKS; i++)
    for (int j = 0; j < MOST_RANKS; j++)
      g_queue_clear_full (&network.queues[i][j], (GDestroyNotify)g_bytes_unref);
  g_mutex_clear (&network.mutex);
  g_cond_clear (&network.changed);
  return ranks[fault->rank].was_hit;
}

/* Every second column is foreground in all rows but the last: many components cross all seams. */
static TiledCase *
comb_new (uint32_t n_ranks, uint32_t connectivity)
{
  TiledCase *c = g_new0 (TiledCase, 1);
  const uint32_t width = 9, height = 2 * n_ranks + 1;

  c->plan =
      (CclTiledPlan){.width = width, .height = height, .depth = 1, .connectivity = connectivity};
  if (n_ranks == 3)
    c->plan.columns = CUDACCL_ALL_COLUMNS;
  c->n_ranks = n_ranks;
  c->pixels = g_malloc0 (width * height);
  c->labels = g_malloc0 (4 * width * height);
  c->n_components = (width + 1) / 2;
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x += 2) {
      c->pixels[y * width + x] = 1;
      c->labels[y * width + x] = x / 2 + 1;
    }
  }
  for (uint32_t i = 0; i < n_ranks; i++)
    c->begins[i] = 2 * i;
  c->begins[n_ranks] = height;
  return c;
}

static void
test_faults (gconstpointer data)
{
  const FaultKind kind = (FaultKind)GPOINTER_TO_INT (data);

  /* Three ranks measure; with 4 neighbours they unite the groups twice. */
  static const uint32_t combs[][2] = {{2, 8}, {3, 8}, {3, 4}, {6, 8}};

  for (size_t i = 0; i < G_N_ELEMENTS (combs); i++) {
    const uint32_t n_ranks = combs[i][0];
    TiledCase *c = comb_new (n_ranks, combs[i][1]);
    for (int is_synchronous = 0; is_synchronous < 2; is_synchronous++) {
      for (uint32_t rank = 0; rank < n_ranks; rank++) {
        Fault fault = {.kind = kind, .rank = rank};
        while (run_with_fault (c, is_synchronous, &fault) && !g_test_failed ())
          fault.number++;
        /* A rank allocates, sends and receives. */
        g_assert_cmpint (fault.number, >, 1);
      }
    }
    g_free (c->pixels);
    g_free (c->labels);
    g_free (c);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_set_nonfatal_assertions ();
  for (int kind = 0; kind < N_FAULTS; kind++) {
    char *name = g_strdup_printf ("/tiled-faults/%s", fault_names[kind]);
    g_test_add_data_func (g_strdelimit (name, " ", '-'), GINT_TO_POINTER (kind), test_faults);
    g_free (name);
  }
  return g_test_run ();
}
