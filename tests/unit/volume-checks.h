/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checks that every labeller of volumes must pass, bit for bit against a flood fill
 * (volume-reference.h); each test program brings its backend. */
#ifndef CCL_TEST_VOLUME_CHECKS_H
#define CCL_TEST_VOLUME_CHECKS_H

#include <cudaccl/volume.h>

/* A labeller of volumes under test. */
typedef struct VolumeBackend {
  const char *name; /* test cases are "/<name>/…" */
  CclVolumeLabeller *(*labeller_new) (const CclVolumePlan *plan, CclError *error);

  /* ccl_volume_labeller_run() with volume and label map in host memory, whatever memory the
   * labeller takes. */
  CclStatus (*run) (CclVolumeLabeller *labeller, const CclVolume *volume, const CclOptions *options,
      const CclVolumeLabels *labels, CclVolumeTable *table, CclError *error);
} VolumeBackend;

/* Adds all cases to GLib's test suite. The backend must stay valid until the suite has run. */
void volume_checks_register (const VolumeBackend *backend);

/* Frees what the cases have kept. */
void volume_checks_clear (void);

#endif /* CCL_TEST_VOLUME_CHECKS_H */
