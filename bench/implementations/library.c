/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "library.h"

const size_t bench_sizes[] = {
    sizeof (CclError),
    sizeof (Input),
    sizeof (AccessCount),
    sizeof (Turn),
    sizeof (ImplementationClass),
    sizeof (Implementation),
    sizeof (ImplementationSettings),
    sizeof (FrameSequence),
};

const char *
bench_describe (void)
{
#ifdef __clang__
  return BENCH_VERSION "\n" __VERSION__ "\n" BENCH_SOURCE_ROOT;
#else
  return BENCH_VERSION "\nGCC " __VERSION__ "\n" BENCH_SOURCE_ROOT;
#endif
}
