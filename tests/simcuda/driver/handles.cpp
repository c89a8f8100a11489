/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "driver.h"

#include <unordered_map>

namespace simcuda {

/* Never destroyed: LeakSanitizer then does not report objects that could not be freed because the
 * device was lost. */
static std::unordered_map<const void *, HandleKind> &handles =
    *new std::unordered_map<const void *, HandleKind>;

void
add_handle (const void *handle, HandleKind kind)
{
  handles[handle] = kind;
}

void
remove_handle (const void *handle)
{
  handles.erase (handle);
}

bool
is_handle (const void *handle, HandleKind kind)
{
  auto found = handles.find (handle);
  return found != handles.end () && found->second == kind;
}

size_t
count_handles (HandleKind kind)
{
  size_t n = 0;
  for (auto &i : handles)
    n += i.second == kind;
  return n;
}

} /* namespace simcuda */
