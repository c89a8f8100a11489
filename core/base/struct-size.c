/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "struct-size.h"

#include <string.h>

static CclStatus
check_size (const void *given, size_t least, size_t known, CclError *error)
{
  const uint8_t *bytes = given;
  const size_t size = *(const size_t *)given;

  if (size != 0 && size < least)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a plan or options of %zu bytes are too small: this struct has %zu", size, known);
  for (size_t i = known; i < size; i++) {
    if (bytes[i] != 0)
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
          "a plan or options set a field that this version of the library does not have");
  }
  return CUDACCL_OK;
}

CclStatus
ccl_struct_size_check (const void *given, size_t known, CclError *error)
{
  if (!given)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the plan must not be NULL");
  return check_size (given, known, known, error);
}

CclStatus
ccl_struct_complete (void *complete, size_t known, const void *given, size_t least, CclError *error)
{
  const size_t size = *(const size_t *)given ? *(const size_t *)given : least;
  const CclStatus status = check_size (given, least, known, error);

  if (status != CUDACCL_OK)
    return status;
  memcpy (complete, given, size < known ? size : known);
  *(size_t *)complete = known;
  return CUDACCL_OK;
}
