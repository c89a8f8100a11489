/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fibres: stacks that one CPU thread changes between by hand.
 *
 * All fibres of the process run on the one CPU thread that plays the device.
 */
#ifndef SIMCUDA_FIBRE_H
#define SIMCUDA_FIBRE_H

#include <cstddef>
#include <vector>

#ifndef __x86_64__
#include <ucontext.h>
#endif

#include "sanitizer.h"

namespace simcuda {

/* Where a fibre stands while another one runs. */
struct Fibre {
  void *position = nullptr; /* NULL: it was not started, or it runs */
  char *stack = nullptr;    /* lowest address; NULL on the thread's own stack */
  size_t stack_size = 0;
  void *fake_stack = nullptr; /* of AddressSanitizer */
};

/* Readies a fibre to call entry, which must not return, on the stack. */
void fibre_prepare (Fibre *fibre, char *stack, void (*entry) ());

/* To be called first by an entry function. */
void fibre_started ();

/* Goes on with another fibre; returns when somebody goes on with this one. A fibre that is done
 * for good passes true. */
#ifdef __x86_64__

/* Inlined and with a jump, not a return, so that the CPU still foresees the returns of both
 * fibres. The compiler saves what it needs of the registers that are named. */
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

/* Stacks with a guard page below each. The last one given back is the next one handed out, so
 * that it is still in the CPU's caches. */
class StackPool {
public:
  char *take ();
  void give (char *stack, bool abandoned);

private:
  std::vector<char *> free_;
};

extern const size_t stack_size;

} /* namespace simcuda */

#endif /* SIMCUDA_FIBRE_H */
