/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scheduler.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <sys/mman.h>

#include "dynamic-shared.h"
#include "fibre.h"
#include "launch-child.h"
#include "sanitizer.h"
#include "settings.h"
#include "thread.h"

namespace simcuda {

const Place *place;
int points_to_switch;

static const unsigned lanes_per_warp = 32, max_threads = 1024, max_warps = 32;
static const size_t max_shared = 227 * 1024;
/* Redzones of AddressSanitizer around each shared variable. */
static const size_t redzone = 32;
/* Without a seed, a thread that polls yields after this many calls of point (). */
static const int patience = 4096;

struct Block;

struct Thread : Place {
  Block *block;
  unsigned warp;
  Fibre fibre;
  const char *waits; /* reason of the wait; NULL while runnable */
  Collective what;
  uint32_t mask, argument;
  uint64_t value; /* input of a collective, then its result */
};

struct Warp {
  uint32_t fresh;    /* lanes that have not started */
  uint32_t ready;    /* runnable lanes, the fresh ones included */
  uint32_t yielded;  /* runnable lanes that poll */
  uint32_t together; /* lanes that wait in a collective */
  uint32_t alive;    /* lanes that have not ended */
};

/* A launch from the device. */
struct Child {
  Kernel kernel;
  Launch launch; /* its kernel is the caller's until the child runs */
};

struct Grid {
  const Launch *launch;
  uint64_t n_blocks, n_started = 0, n_ended = 0;
  uint64_t order_factor = 1, order_offset = 0; /* the n-th block started is factor × n + offset */
  bool waited = false;                         /* a thread has called grid_dependency_wait () */
  std::list<Child> children, tail; /* launched by its threads, in the order of launches */
};

struct Block {
  Grid *grid;
  std::vector<Thread> threads{max_threads};
  Warp warps[max_warps];
  uint32_t warps_ready, warps_yielded;
  unsigned n_threads, n_alive, n_arrived;
  int n_true;  /* true predicates among the threads at the barrier */
  int verdict; /* result of the last barrier, from n_true and n_arrived */
  unsigned verdict_arrived;
  char *shared;               /* max_shared bytes and redzones */
  size_t shared_used;         /* with redzones */
  size_t static_shared;       /* without */
  std::vector<char *> places; /* of shared variables, by number; NULL until used */
};

static const size_t arena_size = 1 << 20;
static size_t n_shared_variables;
static ScheduleStatistics statistics;

class Scheduler;
static Scheduler *the_scheduler; /* created by the first launch */

class Scheduler {
public:
  std::string run (const Launch &launch, std::list<Child> &pending);
  void wait (const char *reason); /* suspends the running thread until it is made ready */
  void yield ();
  void thread_ended ();
  void make_ready (Block *block, unsigned warp, uint32_t lanes);
  void give_up (const std::string &message);
  [[noreturn]] void run_threads ();
  Thread *
  running () const
  {
    return running_;
  }

private:
  Thread *pick ();
  Thread *pick_of_warp (Thread *self);
  Thread *take (Block *block, unsigned warp, unsigned lane);
  void go_on (Thread *next, Fibre *from, bool from_is_done);
  bool admit ();
  void retire (Block *block);
  void start_block (Block *block, uint64_t number);
  std::string describe_deadlock () const;
  void draw_turn ();

  StackPool stacks_;
  Fibre device_; /* the CPU thread's own stack */
  Grid *grid_ = nullptr;
  std::vector<Block *> resident_, unused_;
  size_t turn_ = 0; /* index in resident_ of the next block to run, without a seed */
  size_t most_resident_ = 1, most_held_ = 1;
  uint32_t yields_ = 0; /* since a thread ended or a barrier was passed */
  Thread *running_ = nullptr;
  Random random_{settings ().seed};
  bool drawn_ = settings ().seed != 0;
  int longest_turn_ = patience;
  std::string failure_;
};

static Scheduler &
scheduler ()
{
  return *the_scheduler;
}

static void
fibre_entry ()
{
  fibre_started ();
  scheduler ().run_threads ();
}

/* Blocks. */

void
Scheduler::start_block (Block *block, uint64_t number)
{
  const Launch &launch = *grid_->launch;
  uint3 index = {unsigned (number % launch.grid.x),
      unsigned (number / launch.grid.x % launch.grid.y),
      unsigned (number / launch.grid.x / launch.grid.y)};

  block->grid = grid_;
  block->n_threads = block->n_alive = unsigned (launch.block.count ());
  block->n_arrived = 0;
  block->n_true = 0;
  block->shared_used = block->static_shared = 0;
  block->places.assign (n_shared_variables + 1, nullptr);

  uint3 thread = {0, 0, 0};
  for (unsigned i = 0; i < block->n_threads; i++) {
    Thread &t = block->threads[i];
    t.thread_index = thread;
    t.block_index = index;
    t.block_dimensions = dim3 (launch.block.x, launch.block.y, launch.block.z);
    t.grid_dimensions = dim3 (launch.grid.x, launch.grid.y, launch.grid.z);
    t.warp = i / lanes_per_warp;
    t.lane = i % lanes_per_warp;
    t.block = block;
    t.waits = nullptr;
    t.what = Collective::none;
    if (++thread.x == launch.block.x) {
      thread.x = 0;
      if (++thread.y == launch.block.y) {
        thread.y = 0;
        thread.z++;
      }
    }
  }
  unsigned n_warps = (block->n_threads + lanes_per_warp - 1) / lanes_per_warp;
  block->warps_ready = n_warps == 32 ? ~0u : (1u << n_warps) - 1;
  block->warps_yielded = 0;
  for (unsigned i = 0; i < n_warps; i++) {
    unsigned lanes = std::min (lanes_per_warp, block->n_threads - i * lanes_per_warp);
    uint32_t all = lanes == 32 ? ~0u : (1u << lanes) - 1;
    block->warps[i] = {all, all, 0, 0, all};
  }
}

/* Starts the next block of the grid, if one remains and fits. */
bool
Scheduler::admit ()
{
  if (grid_->n_started == grid_->n_blocks || resident_.size () >= most_resident_)
    return false;
  if (unused_.empty ()) {
    Block *block = new Block;
    block->shared = static_cast<char *> (mmap (nullptr, arena_size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (block->shared == MAP_FAILED) {
      complain ("no memory for shared memory");
      abort ();
    }
    SIMCUDA_POISON (block->shared, arena_size);
    unused_.push_back (block);
  }
  Block *block = unused_.back ();
  unused_.pop_back ();
  uint64_t n = grid_->n_started++;
  start_block (block,
      uint64_t (
          ((unsigned __int128)(grid_->order_factor) * n + grid_->order_offset) % grid_->n_blocks));
  resident_.push_back (block);
  return true;
}

void
Scheduler::retire (Block *block)
{
  SIMCUDA_POISON (block->shared, block->shared_used);
  resident_.erase (std::find (resident_.begin (), resident_.end (), block));
  unused_.push_back (block);
  grid_->n_ended++;
}

/* Selection of the next thread. */

void
Scheduler::make_ready (Block *block, unsigned warp, uint32_t lanes)
{
  block->warps[warp].ready |= lanes;
  block->warps_ready |= 1u << warp;
}

Thread *
Scheduler::take (Block *block, unsigned warp, unsigned lane)
{
  Warp &w = block->warps[warp];
  w.ready &= ~(1u << lane);
  if (!w.ready)
    block->warps_ready &= ~(1u << warp);
  return &block->threads[warp * lanes_per_warp + lane];
}

/* The first set bit from a random position on, which is at most that of the highest set bit. */
static unsigned
random_bit (uint32_t bits, Random &random)
{
  const unsigned n = 32 - unsigned (__builtin_clz (bits));
  return unsigned (__builtin_ctz (bits & ~0u << random.below (n)));
}

/* The next thread to run; NULL when the grid has ended or no thread is runnable. */
Thread *
Scheduler::pick ()
{
  if (drawn_) {
    while (resident_.size () < most_resident_ && admit ()) {
    }
    size_t n = resident_.size (), first = n ? random_.below (uint32_t (n)) : 0;
    for (size_t i = 0; i < n; i++) {
      Block *block = resident_[(first + i) % n];
      if (!block->warps_ready)
        continue;
      const unsigned warp = random_bit (block->warps_ready, random_);
      return take (block, warp, random_bit (block->warps[warp].ready, random_));
    }
    return nullptr;
  }

  for (size_t tries = 0;;) {
    if (resident_.empty () && !admit ())
      return nullptr;
    if (turn_ >= resident_.size ())
      turn_ = 0;
    Block *block = resident_[turn_];
    if (block->warps_ready) {
      unsigned warp = unsigned (__builtin_ctz (block->warps_ready));
      return take (block, warp, unsigned (__builtin_ctz (block->warps[warp].ready)));
    }
    /* All threads of this block wait or poll: other blocks run, and a new one may start. */
    for (uint32_t warps = block->warps_yielded; warps; warps &= warps - 1) {
      unsigned warp = unsigned (__builtin_ctz (warps));
      make_ready (block, warp, block->warps[warp].yielded);
      block->warps[warp].yielded = 0;
    }
    block->warps_yielded = 0;
    tries = block->warps_ready ? 0 : tries + 1;
    if (admit ()) {
      turn_ = resident_.size () - 1;
      tries = 0;
    } else {
      turn_++;
    }
    if (tries > resident_.size ())
      return nullptr;
  }
}

/* The next lane of that thread's warp if the fixed order has it next, as it has most often; else
 * NULL. */
inline Thread *
Scheduler::pick_of_warp (Thread *self)
{
  Block *block = self->block;
  Warp &warp = block->warps[self->warp];
  if (drawn_ || !warp.ready || (block->warps_ready & ((1u << self->warp) - 1)))
    return nullptr;
  const int lane = __builtin_ctz (warp.ready);
  warp.ready &= warp.ready - 1;
  if (!warp.ready)
    block->warps_ready &= ~(1u << self->warp);
  return self - int (self->lane) + lane;
}

inline void
Scheduler::draw_turn ()
{
  points_to_switch = drawn_ ? 1 + int (random_.below (uint32_t (longest_turn_))) : patience;
}

/* Switches from a fibre to the next thread or, without one, to the CPU thread's own stack. */
void
Scheduler::go_on (Thread *next, Fibre *from, bool from_is_done)
{
  statistics.switches++;
  running_ = next;
  place = next;
  draw_turn ();
  if (!next) {
    fibre_switch (from, &device_, from_is_done);
    return;
  }
  Warp &warp = next->block->warps[next->warp];
  if (warp.fresh >> next->lane & 1)
    fibre_prepare (&next->fibre, stacks_.take (), fibre_entry);
  next->waits = nullptr;
  fibre_switch (from, &next->fibre, from_is_done);
}

void
Scheduler::wait (const char *reason)
{
  Thread *self = running_;
  self->waits = reason;
  Thread *next = pick_of_warp (self);
  if (!next)
    next = pick ();
  if (next == self) {
    self->waits = nullptr;
    draw_turn ();
    return;
  }
  go_on (next, &self->fibre, false);
}

void
Scheduler::yield ()
{
  Thread *self = running_;
  Block *block = self->block;
  if (drawn_) {
    /* All resident blocks may wait for one that has not started. */
    if (++yields_ > 100000)
      most_resident_ = most_held_;
    make_ready (block, self->warp, 1u << self->lane);
  } else {
    block->warps[self->warp].yielded |= 1u << self->lane;
    block->warps_yielded |= 1u << self->warp;
  }
  wait ("its turn");
}

/* Runs threads that have not started yet on this stack, one after the other. */
void
Scheduler::run_threads ()
{
  for (;;) {
    Thread *self = running_;
    Warp &warp = self->block->warps[self->warp];
    warp.fresh &= ~(1u << self->lane);
    statistics.threads++;
    grid_->launch->kernel->call (grid_->launch->parameters.data ());

    self = running_;
    thread_ended ();
    Fibre own = self->fibre;
    self->fibre = Fibre ();
    Thread *next = pick_of_warp (self);
    if (!next)
      next = pick ();
    if (next && next->block->warps[next->warp].fresh >> next->lane & 1) {
      next->fibre = own;
      next->waits = nullptr;
      running_ = next;
      place = next;
      draw_turn ();
      continue;
    }
    stacks_.give (own.stack, false);
    go_on (next, &own, true);
  }
}

/* Barriers and collectives. */

static void
pass_barrier (Block *block)
{
  block->verdict = block->n_true;
  block->verdict_arrived = block->n_arrived;
  block->n_arrived = 0;
  block->n_true = 0;
}

static void
release_barrier (Block *block, const Thread *except)
{
  pass_barrier (block);
  unsigned n_warps = (block->n_threads + lanes_per_warp - 1) / lanes_per_warp;
  for (unsigned i = 0; i < n_warps; i++) {
    uint32_t lanes = block->warps[i].alive;
    if (except && except->warp == i)
      lanes &= ~(1u << except->lane);
    if (lanes)
      scheduler ().make_ready (block, i, lanes);
  }
}

int
barrier (Barrier what, int predicate)
{
  Thread *self = scheduler ().running ();
  Block *block = self->block;
  block->n_arrived++;
  block->n_true += predicate != 0;
  if (block->n_arrived == block->n_alive)
    release_barrier (block, self);
  else
    scheduler ().wait ("__syncthreads");
  switch (what) {
  case Barrier::sync:
    return 0;
  case Barrier::count:
    return block->verdict;
  case Barrier::all:
    return block->verdict == int (block->verdict_arrived);
  case Barrier::any:
    return block->verdict != 0;
  }
  return 0;
}

/* The reason of a wait in a collective, whose name is that of Thread.what. */
static const char collective_wait[] = "a collective";

static const char *
collective_name (Collective what)
{
  switch (what) {
  case Collective::none:
    return "nothing";
  case Collective::sync:
    return "__syncwarp";
  case Collective::ballot:
    return "__ballot_sync";
  case Collective::all:
    return "__all_sync";
  case Collective::any:
    return "__any_sync";
  case Collective::shuffle:
    return "__shfl_sync";
  case Collective::match_any:
    return "__match_any_sync";
  case Collective::match_all:
    return "__match_all_sync";
  default:
    return "__reduce_sync";
  }
}

/* Computes the result for every lane of the mask. All of them have arrived. */
static void
complete (Thread *lanes, uint32_t mask)
{
  uint64_t result[lanes_per_warp] = {};
  Collective what = lanes[__builtin_ctz (mask)].what;
  uint64_t whole = lanes[__builtin_ctz (mask)].value;
  uint32_t votes = 0;

  if (what == Collective::ballot || what == Collective::all || what == Collective::any) {
    for (uint32_t left = mask; left; left &= left - 1)
      votes |= uint32_t (lanes[__builtin_ctz (left)].value) << __builtin_ctz (left);
    whole = what == Collective::ballot ? votes
            : what == Collective::all  ? votes == mask
                                       : votes != 0;
  } else if (what >= Collective::reduce_add) {
    for (uint32_t left = mask & (mask - 1); left; left &= left - 1) {
      uint32_t a = uint32_t (whole), b = uint32_t (lanes[__builtin_ctz (left)].value);
      switch (what) {
      case Collective::reduce_add:
        whole = a + b;
        break;
      case Collective::reduce_min:
        whole = std::min (a, b);
        break;
      case Collective::reduce_max:
        whole = std::max (a, b);
        break;
      case Collective::reduce_min_signed:
        whole = uint32_t (std::min (int32_t (a), int32_t (b)));
        break;
      case Collective::reduce_max_signed:
        whole = uint32_t (std::max (int32_t (a), int32_t (b)));
        break;
      case Collective::reduce_and:
        whole = a & b;
        break;
      case Collective::reduce_or:
        whole = a | b;
        break;
      default:
        whole = a ^ b;
        break;
      }
    }
    whole = uint32_t (whole);
  } else if (what == Collective::match_all) {
    uint64_t common = whole;
    whole = mask;
    for (uint32_t left = mask; left; left &= left - 1) {
      if (lanes[__builtin_ctz (left)].value != common)
        whole = 0;
    }
  }

  for (uint32_t left = mask; left && what != Collective::sync; left &= left - 1) {
    unsigned i = unsigned (__builtin_ctz (left));
    if (what == Collective::shuffle) {
      /* Reading a lane outside the mask is undefined: return a value that exposes the mistake. */
      uint32_t source = lanes[i].argument & 31;
      result[i] = mask >> source & 1 ? lanes[source].value : 0xdeadbeefdeadbeefull;
    } else if (what == Collective::match_any) {
      uint32_t same = 0;
      for (uint32_t others = mask; others; others &= others - 1) {
        if (lanes[__builtin_ctz (others)].value == lanes[i].value)
          same |= others & -others;
      }
      result[i] = same;
    } else {
      result[i] = whole;
    }
  }
  for (uint32_t left = mask; left; left &= left - 1) {
    unsigned i = unsigned (__builtin_ctz (left));
    lanes[i].value = result[i];
    lanes[i].what = Collective::none;
  }
}

/* Completes the collective if all live lanes of the mask have arrived; returns whether it did. */
static bool
try_complete (Block *block, unsigned warp_number, uint32_t mask, const Thread *except)
{
  Warp &warp = block->warps[warp_number];
  uint32_t expected = mask & warp.alive;
  if (!expected || (warp.together & expected) != expected)
    return false;
  Thread *lanes = &block->threads[warp_number * lanes_per_warp];
  const Thread &first = lanes[__builtin_ctz (expected)];
  for (uint32_t left = expected; left; left &= left - 1) {
    const Thread &lane = lanes[__builtin_ctz (left)];
    if (lane.mask != mask || lane.what != first.what)
      return false;
  }
  complete (lanes, expected);
  warp.together &= ~expected;
  if (except)
    expected &= ~(1u << except->lane);
  if (expected)
    scheduler ().make_ready (block, warp_number, expected);
  return true;
}

uint64_t
collective (Collective what, uint32_t mask, uint64_t value, uint32_t argument)
{
  Thread *self = scheduler ().running ();
  if (!(mask >> self->lane & 1))
    fault ("%s with the mask %#x, which does not include the calling lane %u",
        collective_name (what), mask, self->lane);
  self->what = what;
  self->mask = mask;
  self->value = value;
  self->argument = argument;
  self->block->warps[self->warp].together |= 1u << self->lane;
  if (!try_complete (self->block, self->warp, mask, self))
    scheduler ().wait (collective_wait);
  return self->value;
}

void
Scheduler::thread_ended ()
{
  Thread *self = running_;
  Block *block = self->block;
  Warp &warp = block->warps[self->warp];
  warp.alive &= ~(1u << self->lane);
  yields_ = 0;
  if (--block->n_alive == 0) {
    retire (block);
    return;
  }
  /* Threads that waited for this one only are now runnable. */
  if (block->n_arrived && block->n_arrived == block->n_alive)
    release_barrier (block, nullptr);
  for (uint32_t left = warp.together; left; left &= left - 1) {
    if (warp.together & left & -left)
      try_complete (block, self->warp,
          block->threads[self->warp * lanes_per_warp + unsigned (__builtin_ctz (left))].mask,
          nullptr);
  }
}

void
yield ()
{
  scheduler ().yield ();
}

void
grid_dependency_wait ()
{
  scheduler ().running ()->block->grid->waited = true;
}

void
grid_dependency_trigger ()
{
}

/* Faults. */

void
Scheduler::give_up (const std::string &message)
{
  failure_ = message;
  Thread *self = running_;
  running_ = nullptr;
  place = nullptr;
  fibre_switch (&self->fibre, &device_, false);
}

void
fault (const char *format, ...)
{
  char text[256], where[160];
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (text, sizeof text, format, arguments);
  va_end (arguments);
  const Place *p = place;
  snprintf (where, sizeof where, " by thread (%u, %u, %u) of block (%u, %u, %u)", p->thread_index.x,
      p->thread_index.y, p->thread_index.z, p->block_index.x, p->block_index.y, p->block_index.z);
  scheduler ().give_up (std::string (text) + where);
  abort ();
}

std::string
Scheduler::describe_deadlock () const
{
  std::string text = "deadlock between its threads:";
  unsigned n_shown = 0;
  for (const Block *block : resident_) {
    const char *last = nullptr;
    Collective last_what = Collective::none;
    for (unsigned i = 0; i < block->n_threads && n_shown < 6; i++) {
      const Thread &t = block->threads[i];
      if (!(block->warps[t.warp].alive >> t.lane & 1) || (t.waits == last && t.what == last_what))
        continue;
      last = t.waits;
      last_what = t.what;
      n_shown++;
      char line[160];
      snprintf (line, sizeof line, "%s block (%u, %u, %u) thread (%u, %u, %u) in %s",
          n_shown > 1 ? "," : "", t.block_index.x, t.block_index.y, t.block_index.z,
          t.thread_index.x, t.thread_index.y, t.thread_index.z,
          t.waits == collective_wait ? collective_name (t.what)
          : t.waits                  ? t.waits
                                     : "no wait");
      text += line;
      if (t.what != Collective::none) {
        snprintf (line, sizeof line, " (mask %#x)", t.mask);
        text += line;
      }
    }
  }
  return text;
}

/* Runs a grid. What its threads launch is put before the pending launches. */
std::string
Scheduler::run (const Launch &launch, std::list<Child> &pending)
{
  Grid grid;
  grid.launch = &launch;
  grid.n_blocks = launch.grid.count ();
  grid_ = &grid;
  device_ = Fibre ();
  failure_.clear ();
  turn_ = 0;
  uint64_t held =
      uint64_t (settings ().n_multiprocessors) *
      blocks_per_multiprocessor (unsigned (launch.block.count ()), launch.dynamic_shared);
  most_resident_ = most_held_ = std::min (grid.n_blocks, std::max<uint64_t> (held, 1));
  yields_ = 0;
  if (drawn_) {
    if (!launch.cooperative)
      most_resident_ = std::min<uint64_t> (most_resident_, 1 + random_.below (4));
    grid.order_offset = random_.next () % grid.n_blocks;
    do
      grid.order_factor = 1 + random_.next () % grid.n_blocks;
    while (std::__gcd (grid.order_factor, grid.n_blocks) != 1);
    longest_turn_ = 1 << random_.below (7);
  }

  Thread *first = pick ();
  if (first)
    go_on (first, &device_, false);

  grid_ = nullptr;
  if (failure_.empty () && grid.n_ended < grid.n_blocks)
    failure_ = describe_deadlock ();
  /* Remove the blocks that a failed launch left resident. */
  for (Block *block : resident_) {
    for (unsigned i = 0; i < block->n_threads; i++) {
      Thread &t = block->threads[i];
      bool started = !(block->warps[t.warp].fresh >> t.lane & 1);
      if (started && t.fibre.stack)
        stacks_.give (t.fibre.stack, true);
      t.fibre = Fibre ();
    }
    SIMCUDA_POISON (block->shared, block->shared_used);
    unused_.push_back (block);
  }
  resident_.clear ();
  if (failure_.empty () && launch.programmatic && !grid.waited)
    failure_ = "launched to start before its predecessor has ended, but it never calls "
               "cudaGridDependencySynchronize ()";
  pending.splice (pending.begin (), grid.tail);
  pending.splice (pending.begin (), grid.children);
  return failure_;
}

std::string
run_launch (const Launch &launch)
{
  if (!the_scheduler)
    the_scheduler = new Scheduler;
  std::list<Child> pending;
  std::string failure = the_scheduler->run (launch, pending);
  while (failure.empty () && !pending.empty ()) {
    std::list<Child> next;
    next.splice (next.begin (), pending, pending.begin ());
    next.front ().launch.kernel = &next.front ().kernel;
    failure = the_scheduler->run (next.front ().launch, pending);
  }
  return failure;
}

void
launch_child (void (*call) (const char *), const void *parameters, size_t size, bool at_tail,
    dim3 grid, dim3 block)
{
  Grid *parent = scheduler ().running ()->block->grid;
  const char *bytes = static_cast<const char *> (parameters);
  Child child;
  child.kernel = {"a kernel launched from the device", int (max_threads), {}, size, call};
  child.launch.context = parent->launch->context;
  child.launch.grid = {grid.x, grid.y, grid.z};
  child.launch.block = {block.x, block.y, block.z};
  child.launch.parameters.assign (bytes, bytes + size);
  if (child.launch.block.count () > max_threads || !child.launch.block.count () ||
      !child.launch.grid.count ())
    fault ("a launch from the device with a bad number of threads or blocks");
  (at_tail ? parent->tail : parent->children).push_back (std::move (child));
}

unsigned
blocks_per_multiprocessor (unsigned threads, unsigned shared)
{
  /* As on compute capability 9.0: 2048 threads, 32 blocks and 228 KiB of shared memory, 1 KiB of
   * which is reserved for each block. */
  unsigned rounded = (threads + 31) / 32 * 32;
  unsigned by_threads = rounded ? 2048 / rounded : 0;
  unsigned by_shared = 228 * 1024 / (shared + 1024);
  return std::min ({by_threads, by_shared, 32u});
}

ScheduleStatistics
schedule_statistics ()
{
  return statistics;
}

/* The address of a shared variable in the running block, assigned at the first use. */
static void *
find_shared (SharedVariable *variable)
{
  Block *block = scheduler ().running ()->block;
  size_t number = variable->number;
  if (!number)
    number = variable->number = ++n_shared_variables;
  if (number >= block->places.size ())
    block->places.resize (number + 1, nullptr);

  bool is_dynamic = variable->size == size_of_launch;
  size_t size = is_dynamic ? block->grid->launch->dynamic_shared : variable->size;
  size_t alignment = std::max<size_t> (variable->alignment, 16);
  size_t start = (block->shared_used + redzone + alignment - 1) / alignment * alignment;
  if (!is_dynamic)
    block->static_shared += size;
  if (start + size + redzone > arena_size ||
      block->static_shared + block->grid->launch->dynamic_shared > max_shared)
    fault ("%zu bytes of static and %u of dynamic shared memory are more than a block may have",
        block->static_shared, block->grid->launch->dynamic_shared);
  block->shared_used = start + size;
  SIMCUDA_UNPOISON (block->shared + start, size);
  memset (block->shared + start, 0xcd, size);
  return block->places[number] = block->shared + start;
}

} /* namespace simcuda */

/* The compiler's runtime function for thread-local storage; __shared__ is implemented by it. */
extern "C" __attribute__ ((visibility ("hidden"))) void *
__emutls_get_address (simcuda::SharedVariable *variable)
{
  simcuda::Block *block = static_cast<const simcuda::Thread *> (simcuda::place)->block;
  if (variable->number < block->places.size () && block->places[variable->number])
    return block->places[variable->number];
  return simcuda::find_shared (variable);
}

/* Kernels compiled with a callback for every plain load and store call this before it, so that
 * another thread may run first. */
#define ACCESS(name)                                                                               \
  extern "C" __attribute__ ((visibility ("hidden"))) void name (void *)                            \
  {                                                                                                \
    if (simcuda::place && --simcuda::points_to_switch <= 0)                                        \
      simcuda::yield ();                                                                           \
  }
ACCESS (__sanitizer_cov_load1)
ACCESS (__sanitizer_cov_load2)
ACCESS (__sanitizer_cov_load4)
ACCESS (__sanitizer_cov_load8)
ACCESS (__sanitizer_cov_load16)
ACCESS (__sanitizer_cov_store1)
ACCESS (__sanitizer_cov_store2)
ACCESS (__sanitizer_cov_store4)
ACCESS (__sanitizer_cov_store8)
ACCESS (__sanitizer_cov_store16)
