/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls into AddressSanitizer; without it they do nothing. SIMCUDA_ASAN may be defined by the
 * build, for files that are not instrumented in a program that is. */
#pragma once

#ifndef SIMCUDA_ASAN
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMCUDA_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SIMCUDA_ASAN 1
#endif
#endif
#ifndef SIMCUDA_ASAN
#define SIMCUDA_ASAN 0
#endif

#if SIMCUDA_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define SIMCUDA_POISON(address, size) ASAN_POISON_MEMORY_REGION ((address), (size))
#define SIMCUDA_UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION ((address), (size))
#else
#define SIMCUDA_POISON(address, size) ((void)(address), (void)(size))
#define SIMCUDA_UNPOISON(address, size) ((void)(address), (void)(size))
#endif
