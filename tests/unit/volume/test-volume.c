/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checks shared by all labellers of volumes, on the CPU. */
#include <glib.h>

#include "tests/unit/volume/volume-checks.h"

int
main (int argc, char **argv)
{
  static const VolumeBackend cpu = {
      .name = "volume",
      .labeller_new = ccl_cpu_volume_labeller_new,
      .run = ccl_volume_labeller_run,
  };

  g_test_init (&argc, &argv, NULL);
  /* The other cases run after a failed one. */
  g_test_set_nonfatal_assertions ();
  volume_checks_register (&cpu);
  const int status = g_test_run ();
  volume_checks_clear ();
  return status;
}
