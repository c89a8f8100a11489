/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fibre.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#include "sanitizer.h"

#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace simcuda {

/* Instrumented code needs several times the room. */
const size_t stack_size = SIMCUDA_ASAN ? 256 * 1024 : 64 * 1024;
static const size_t guard_size = 4096;

/* The fibre that was left by the switch in progress, and the one that it goes to. */
static Fibre *leaving, *arriving;

#ifdef __x86_64__

/* Saves what the ABI lets a callee keep, and changes stacks. */
extern "C" void simcuda_switch_stack (void **save, void *position);
asm(".text\n"
    ".local simcuda_switch_stack\n"
    ".type simcuda_switch_stack, @function\n"
    "simcuda_switch_stack:\n"
    "  pushq %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  ret\n"
    ".size simcuda_switch_stack, . - simcuda_switch_stack\n");

void
fibre_prepare (Fibre *fibre, char *stack, void (*entry) ())
{
  /* Stacks are 2^n apart; starting each a little lower spreads them over the cache's sets. */
  size_t colour = (reinterpret_cast<size_t> (stack) / stack_size * 192) % 4096;
  void **top = reinterpret_cast<void **> (stack + stack_size - colour - 64);
  *--top = nullptr; /* entry's return address, and what aligns its frame */
  *--top = reinterpret_cast<void *> (entry);
  for (int i = 0; i < 6; i++)
    *--top = nullptr;
  fibre->position = top;
  fibre->stack = stack;
  fibre->stack_size = stack_size;
  fibre->fake_stack = nullptr;
}

static void
change_stacks (Fibre *from, Fibre *to)
{
  void *position = to->position;
  to->position = nullptr;
  simcuda_switch_stack (&from->position, position);
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

static void
change_stacks (Fibre *from, Fibre *to)
{
  ucontext_t here;
  from->position = &here;
  ucontext_t *there = static_cast<ucontext_t *> (to->position);
  to->position = nullptr;
  swapcontext (&here, there);
}

#endif

void
fibre_started ()
{
#if SIMCUDA_ASAN
  const void *stack;
  size_t size;
  __sanitizer_finish_switch_fiber (arriving->fake_stack, &stack, &size);
  if (!leaving->stack) {
    leaving->stack = static_cast<char *> (const_cast<void *> (stack));
    leaving->stack_size = size;
  }
#endif
}

void
fibre_switch (Fibre *from, Fibre *to, bool from_is_done)
{
  leaving = from;
  arriving = to;
#if SIMCUDA_ASAN
  __sanitizer_start_switch_fiber (
      from_is_done ? nullptr : &from->fake_stack, to->stack, to->stack_size);
#else
  (void)from_is_done;
#endif
  change_stacks (from, to);
  fibre_started ();
}

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
  SIMCUDA_UNPOISON (stack, stack_size);
  return stack;
}

void
StackPool::give (char *stack)
{
  free_.push_back (stack);
}

} /* namespace simcuda */
