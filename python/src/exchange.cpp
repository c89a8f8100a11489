/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "exchange.h"

namespace nb = nanobind;

static constexpr uint32_t MAJOR = nb::dlpack::major_version;

void
ReleaseExchanged::operator() (ExchangedArray *array) const
{
  if (array->release)
    array->release (array);
}

ExchangedArray *
ExchangeApi::import_array (nb::handle array) const
{
  ExchangedArray *imported = nullptr;
  if (import_function (array.ptr (), &imported) != 0)
    throw nb::python_error ();
  return imported;
}

uintptr_t
ExchangeApi::current_stream (int gpu) const
{
  void *stream = nullptr;
  if (stream_function (nb::device::cuda::value, gpu, &stream) != 0)
    throw nb::python_error ();
  return (uintptr_t)stream;
}

const ExchangeApi *
find_exchange_api (nb::handle type)
{
  const nb::object capsule = nb::getattr (type, "__dlpack_c_exchange_api__", nb::none ());
  if (!PyCapsule_IsValid (capsule.ptr (), "dlpack_exchange_api"))
    return nullptr;
  const auto *api =
      (const ExchangeApi *)PyCapsule_GetPointer (capsule.ptr (), "dlpack_exchange_api");
  while (api && api->major != MAJOR)
    api = api->former;
  return api && api->import_function && api->stream_function ? api : nullptr;
}
