/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fibres: stacks between which one CPU thread switches explicitly.
 *
 * All fibres of the process run on the one CPU thread that simulates the device.
 */
#pragma once

#include <cstddef>
#include <vector>

#ifndef __x86_64__
#include <ucontext.h>
#endif

#include "sanitizer.h"

namespace simcuda {

/* The saved state of a fibre while another one runs. */
struct Fibre {
  void *position = nullptr; /* NULL: not started, or running now */
  char *stack = nullptr;    /* lowest address; NULL on the thread's own stack */
  size_t stack_size = 0;
  void *fake_stack = nullptr; /* AddressSanitizer's fake stack */
};

/* Prepares a fibre to call entry on the stack. entry must not return. */
void fibre_prepare (Fibre *fibre, char *stack, void (*entry) ());

/* An entry function must call this first. */
void fibre_started ();

/* Switches to another fibre; returns after a switch back to this one. A fibre that has ended
 * passes true. */
#ifdef __x86_64__

/* Inlined, and ends in a jump instead of a return, so that the CPU's prediction of return
 * addresses stays right for both fibres. The compiler saves the named registers that it uses. */
static inline __attribute__ ((always_inline)) void
change_stacks (void **save, void *position)
{
  asm volatile("leaq -128(%%rsp), %%rsp\n\t" /* past the red zone */
               "leaq 1f(%%rip), %%rax\n\t"
               "pushq %%rbp\n\t"
               "pushq %%rax\n\t"
               "movq %%rsp, (%%rdi)\n\t"
               "movq %%rsi, %%rsp\n\t"
               "popq %%rax\n\t"
               "jmpq *%%rax\n"
               "1:\n\t"
               "popq %%rbp\n\t"
               "leaq 128(%%rsp), %%rsp\n\t"
               : "+D"(save), "+S"(position)
               :
               : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
               "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
               "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}

#else

static inline void
change_stacks (void **save, void *position)
{
  ucontext_t here;
  *save = &here;
  swapcontext (&here, static_cast<ucontext_t *> (position));
}

#endif

#if SIMCUDA_ASAN
void fibre_switch (Fibre *from, Fibre *to, bool from_is_done);
#else
static inline __attribute__ ((always_inline)) void
fibre_switch (Fibre *from, Fibre *to, bool)
{
  change_stacks (&from->position, to->position);
}
#endif

/* A pool of stacks with a guard page below each. The stack released last is reused first, because
 * it is still in the CPU's caches. */
class StackPool {
public:
  char *take ();
  void give (char *stack, bool abandoned);

private:
  std::vector<char *> free_;
};

extern const size_t stack_size;

} /* namespace simcuda */
