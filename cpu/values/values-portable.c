/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scan of values in standard C. */
#include "values-compare.h"

#define DEFINE_TYPE(type)                                                                          \
  static ALWAYS_INLINE uint64_t equal_##type (                                                     \
      const void *a, const void *b, uint32_t n, bool with_zero)                                    \
  {                                                                                                \
    return n == 64 ? some_equal_##type (a, b, 64, with_zero)                                       \
                   : some_equal_##type (a, b, n, with_zero);                                       \
  }

DEFINE_TYPE (integer_8)
DEFINE_TYPE (integer_16)
DEFINE_TYPE (integer_32)
DEFINE_TYPE (integer_64)
DEFINE_TYPE (real_32)
DEFINE_TYPE (real_64)

#include "values-scan.h"

#include "values-write.h"

const ValuesCode values_code_portable = {"portable", scan_type, write_row};
