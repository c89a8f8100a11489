/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The extension module _cudaccl: libcudaccl with views of arrays in place of pointers. The package
 * around it chooses objects and allocates results. */
#include "module.h"

void
raise (const CclError &error)
{
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
  bind_view (module);
  bind_device (module);
  bind_device_column (module);
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
