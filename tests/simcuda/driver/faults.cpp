/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "faults.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "queue.h"
#include "tests/simcuda/settings.h"

namespace simcuda {

static const char *const kind_names[] = {
    "other", "init", "allocate", "copy", "launch", "synchronise", "create"};
static const int n_kinds = 7;

static uint64_t counts[n_kinds];
static int fault_kind = -1;
static uint64_t fault_number;
static CUresult fault_error;
static bool fault_loses_device;
static uint64_t n_faults;
static CUresult lost = CUDA_SUCCESS;

bool
order_fault (const char *text)
{
  memset (counts, 0, sizeof counts);
  fault_kind = -1;
  if (!text) {
    lost = CUDA_SUCCESS;
    lose_device (false);
    return true;
  }
  char kind[16], tail[8] = "";
  unsigned long long number;
  int error, n = sscanf (text, "%15[a-z]:%llu:%d:%7s", kind, &number, &error, tail);
  if (n < 3 || number == 0 || error <= 0 || (n == 4 && strcmp (tail, "lost")))
    return false;
  for (int i = 1; i < n_kinds; i++) {
    if (!strcmp (kind, kind_names[i]))
      fault_kind = i;
  }
  fault_number = number;
  fault_error = CUresult (error);
  fault_loses_device = n == 4 || (error >= 700 && error <= 720);
  return fault_kind > 0;
}

CUresult
count_call (CallKind kind)
{
  static bool read;
  if (!read) {
    read = true;
    const char *text = getenv ("SIMCUDA_FAULT");
    if (text && *text && !order_fault (text)) {
      complain ("SIMCUDA_FAULT=%s is not KIND:N:ERROR[:lost]", text);
      exit (2);
    }
  }
  if (lost != CUDA_SUCCESS)
    return lost;
  if (kind == CallKind::other || ++counts[int (kind)] != fault_number || int (kind) != fault_kind)
    return CUDA_SUCCESS;
  n_faults++;
  if (fault_loses_device) {
    lost = fault_error;
    lose_device (true);
  }
  return fault_error;
}

uint64_t
count_faults ()
{
  return n_faults;
}

} /* namespace simcuda */
