/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>

#include "tests/simcuda/sanitizer.h"
#include "tests/simcuda/settings.h"

namespace simcuda {

static const size_t page = 4096;
static const size_t alignment = 512; /* the alignment that cuMemAlloc guarantees */
static const int pattern = 0xcd, slack_pattern = 0xa5;

/* By address. Never destroyed: threads may call the driver while the process ends. */
static std::map<uintptr_t, Allocation> &allocations = *new std::map<uintptr_t, Allocation>;

static Allocation *
add (const Allocation &allocation)
{
  return &(allocations[reinterpret_cast<uintptr_t> (allocation.address)] = allocation);
}

Allocation *
allocate (size_t size, MemoryKind kind, Context *context)
{
  size_t room = (size + alignment - 1) / alignment * alignment;
  size_t pages = (room + page - 1) / page * page;
  if (pages < size)
    return nullptr;
  size_t mapping_size = pages + 2 * page;
  void *memory = mmap (nullptr, mapping_size, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  char *mapping = static_cast<char *> (memory);
  mprotect (mapping, page, PROT_NONE);
  mprotect (mapping + page + pages, page, PROT_NONE);
  char *address = mapping + page + pages - room;
  memset (address, pattern, size);
  memset (address + size, slack_pattern, room - size);
  SIMCUDA_POISON (mapping + page, size_t (address - mapping) - page);
  SIMCUDA_POISON (address + size, room - size);
  return add ({address, size, kind, context, mapping, mapping_size, room - size, false});
}

Allocation *
register_host (void *address, size_t size, Context *context)
{
  return add (
      {static_cast<char *> (address), size, MemoryKind::registered, context, nullptr, 0, 0, false});
}

static void
set_hidden (Allocation *allocation, bool hidden)
{
  allocation->is_hidden = hidden;
  mprotect (allocation->mapping + page, allocation->mapping_size - 2 * page,
      hidden ? PROT_NONE : PROT_READ | PROT_WRITE);
}

void
hide_memory_of_others (const Context *context)
{
  for (auto &i : allocations)
    if (i.second.kind == MemoryKind::device && i.second.context != context)
      set_hidden (&i.second, true);
}

void
show_hidden_memory ()
{
  for (auto &i : allocations)
    if (i.second.is_hidden)
      set_hidden (&i.second, false);
}

void
release (Allocation *allocation)
{
  if (allocation->is_hidden)
    set_hidden (allocation, false);
  if (allocation->mapping) {
    const char *end = allocation->address + allocation->size;
    SIMCUDA_UNPOISON (allocation->mapping + page, allocation->mapping_size - 2 * page);
    for (size_t i = 0; i < allocation->slack; i++) {
      if (static_cast<unsigned char> (end[i]) != slack_pattern) {
        complain (
            "%zu bytes of %s memory at %p: byte %zu, after the end of the allocation, was written",
            allocation->size, allocation->kind == MemoryKind::device ? "device" : "pinned",
            static_cast<void *> (allocation->address), allocation->size + i);
        abort ();
      }
    }
    munmap (allocation->mapping, allocation->mapping_size);
  }
  allocations.erase (reinterpret_cast<uintptr_t> (allocation->address));
}

Allocation *
find_allocation (const void *address)
{
  auto after = allocations.upper_bound (reinterpret_cast<uintptr_t> (address));
  if (after == allocations.begin ())
    return nullptr;
  Allocation &found = (--after)->second;
  return static_cast<const char *> (address) < found.address + found.size ? &found : nullptr;
}

static const Allocation *
find_range (const void *address, size_t size)
{
  const Allocation *found = find_allocation (address);
  return found &&
                 size <= size_t (found->address + found->size - static_cast<const char *> (address))
             ? found
             : nullptr;
}

bool
lies_in_device_memory (const void *address, size_t size)
{
  const Allocation *found = find_range (address, size);
  return found && found->kind == MemoryKind::device;
}

bool
lies_in_pinned_memory (const void *address, size_t size)
{
  const Allocation *found = find_range (address, size);
  return found && found->kind != MemoryKind::device;
}

void
release_all (Context *context)
{
  for (auto i = allocations.begin (); i != allocations.end ();) {
    Allocation *allocation = &(i++)->second;
    if (allocation->context == context)
      release (allocation);
  }
}

size_t
bytes_allocated (const Context *context, MemoryKind kind)
{
  size_t sum = 0;
  for (auto &i : allocations) {
    if (i.second.context == context && i.second.kind == kind)
      sum += i.second.size;
  }
  return sum;
}

size_t
count_allocations (MemoryKind kind)
{
  size_t n = 0;
  for (auto &i : allocations)
    n += i.second.kind == kind;
  return n;
}

} /* namespace simcuda */
