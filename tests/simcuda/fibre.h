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

/* Goes on with another fibre; returns when somebody goes on with this one. A fibre that is done
 * for good passes true. */
void fibre_switch (Fibre *from, Fibre *to, bool from_is_done);

/* To be called first by an entry function. */
void fibre_started ();

/* Stacks with a guard page below each. The last one given back is the next one handed out, so
 * that it is still in the CPU's caches. */
class StackPool {
public:
  char *take ();
  void give (char *stack);

private:
  std::vector<char *> free_;
};

extern const size_t stack_size;

} /* namespace simcuda */

#endif /* SIMCUDA_FIBRE_H */
