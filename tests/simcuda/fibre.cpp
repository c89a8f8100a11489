/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fibre.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#include "sanitizer.h"

namespace simcuda {

/* Code instrumented by a sanitizer needs several times as much stack. */
const size_t stack_size = SIMCUDA_ASAN ? 256 * 1024 : 64 * 1024;
static const size_t guard_size = 4096;

#ifdef __x86_64__

void
fibre_prepare (Fibre *fibre, char *stack, void (*entry) ())
{
  /* Stacks are 2^n bytes apart; different start offsets spread them over the cache sets. */
  size_t colour = (reinterpret_cast<size_t> (stack) / stack_size * 192) % 4096;
  void **top = reinterpret_cast<void **> (stack + stack_size - colour - 64);
  *--top = nullptr; /* entry's return address, never used */
  *--top = reinterpret_cast<void *> (entry);
  fibre->position = top;
  fibre->stack = stack;
  fibre->stack_size = stack_size;
  fibre->fake_stack = nullptr;
}

#else

void
fibre_prepare (Fibre *fibre, char *stack, void (*entry) ())
{
  ucontext_t *context = reinterpret_cast<ucontext_t *> (stack + stack_size) - 1;
  getcontext (context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = stack_size - sizeof *context;
  context->uc_link = nullptr;
  makecontext (context, entry, 0);
  fibre->position = context;
  fibre->stack = stack;
  fibre->stack_size = stack_size;
  fibre->fake_stack = nullptr;
}

#endif

#if SIMCUDA_ASAN

/* The source and the target of the switch in progress. */
static Fibre *leaving, *arriving;

void
fibre_started ()
{
  const void *stack;
  size_t size;
  __sanitizer_finish_switch_fiber (arriving->fake_stack, &stack, &size);
  if (!leaving->stack) {
    leaving->stack = static_cast<char *> (const_cast<void *> (stack));
    leaving->stack_size = size;
  }
}

void
fibre_switch (Fibre *from, Fibre *to, bool from_is_done)
{
  leaving = from;
  arriving = to;
  __sanitizer_start_switch_fiber (
      from_is_done ? nullptr : &from->fake_stack, to->stack, to->stack_size);
  change_stacks (&from->position, to->position);
  fibre_started ();
}

#else

void
fibre_started ()
{
}

#endif

char *
StackPool::take ()
{
  if (free_.empty ()) {
    const size_t n = 64, step = stack_size + guard_size;
    void *memory = mmap (nullptr, n * step, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      fprintf (stderr, "simcuda: no memory for the stacks of threads\n");
      abort ();
    }
    for (size_t i = 0; i < n; i++) {
      char *guard = static_cast<char *> (memory) + i * step;
      mprotect (guard, guard_size, PROT_NONE);
      free_.push_back (guard + guard_size);
    }
  }
  char *stack = free_.back ();
  free_.pop_back ();
  return stack;
}

void
StackPool::give (char *stack, bool abandoned)
{
  /* Functions that never returned have not removed their redzones. */
  if (abandoned)
    SIMCUDA_UNPOISON (stack, stack_size);
  free_.push_back (stack);
}

} /* namespace simcuda */
