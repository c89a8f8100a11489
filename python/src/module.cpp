/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The extension module _cudaccl: libcudaccl with views of arrays in place of pointers. The package
 * around it chooses objects and allocates results. */
#include "module.h"

#include <chrono>

bool
is_interrupted (void *)
{
  static thread_local std::chrono::steady_clock::time_point last;
  const auto now = std::chrono::steady_clock::now ();
  if (now - last < std::chrono::milliseconds (50))
    return false;
  last = now;
  const nb::gil_scoped_acquire acquire;
  return PyErr_CheckSignals () != 0;
}

void
raise (const CclError &error)
{
  if (error.status == CUDACCL_ERROR_INTERRUPTED && PyErr_Occurred ())
    throw nb::python_error ();
  PyObject *type = PyExc_RuntimeError;
  if (error.status == CUDACCL_ERROR_ARGUMENT || error.status == CUDACCL_ERROR_UNSUPPORTED)
    type = PyExc_ValueError;
  else if (error.status == CUDACCL_ERROR_NO_MEMORY)
    type = PyExc_MemoryError;
  if (error.status == CUDACCL_ERROR_IO)
    type = PyExc_OSError;
  PyErr_SetString (type, error.message);
  throw nb::python_error ();
}

uint32_t
to_uint32 (const char *name, int64_t value)
{
  if (value < 0 || value > UINT32_MAX)
    throw nb::value_error ((std::string (name) + " must be 0…" + std::to_string (UINT32_MAX) +
                            ", not " + std::to_string (value))
                               .c_str ());
  return (uint32_t)value;
}

NB_MODULE (_cudaccl, module)
{
  module.doc () = "The binding of libcudaccl, for the package cudaccl alone.";
  module.attr ("version") = PACKAGE_VERSION;
  bind_batch (module);
  bind_chunks (module);
  bind_view (module);
  bind_device (module);
  bind_labeller (module);
  bind_contours (module);
  bind_distance (module);
  bind_measure (module);
  bind_foreground (module);
  bind_ground (module);
  bind_plain_images (module);
  bind_tiled (module);
  bind_tracker (module);
  bind_values (module);
}
