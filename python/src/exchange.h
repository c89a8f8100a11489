/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The C exchange API of DLPack (version 1.2 and later): a class of arrays, such as PyTorch's,
 * offers functions that import an array and name the current stream. They take a small part of the
 * time that the same calls through Python take. */
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

/* DLManagedTensorVersioned, whose memory lives until release() is called. */
struct ExchangedArray {
  uint32_t major, minor;
  void *context;
  void (*release) (ExchangedArray *); /* may be NULL */
  uint64_t flags;
  nanobind::dlpack::dltensor tensor;

  bool
  is_read_only () const
  {
    return flags & 1;
  }
};

struct ReleaseExchanged {
  void operator() (ExchangedArray *array) const;
};

/* DLPackExchangeAPI. The functions return 0, or −1 with a Python exception. */
struct ExchangeApi {
  uint32_t major, minor;
  const ExchangeApi *former; /* the table for an older major version, or NULL */
  void *allocate;
  int (*import_function) (PyObject *array, ExchangedArray **imported);
  void *to_python, *borrow;
  int (*stream_function) (int32_t device_type, int32_t device, void **stream);

  /* Imports an array of the class. Nothing waits for work that is queued on it. */
  ExchangedArray *import_array (nanobind::handle array) const;

  /* The current stream of the calling thread on a GPU: a CUstream. */
  uintptr_t current_stream (int gpu) const;
};

/* The functions of a class of arrays, or NULL. They live until the process ends. */
const ExchangeApi *find_exchange_api (nanobind::handle type);
