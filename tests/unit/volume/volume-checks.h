/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checks shared by all labellers of volumes: results must equal those of a flood fill
 * (volume-reference.h) bit for bit. Each test program provides a backend. */
#pragma once

#include <cudaccl/volume.h>

/* A labeller of volumes under test. */
typedef struct VolumeBackend {
  const char *name; /* test cases are "/<name>/…" */
  CclVolumeLabeller *(*labeller_new) (const CclVolumePlan *plan, CclError *error);

  /* Like ccl_volume_labeller_run(), with volume and label map in host memory also for labellers
   * that use device memory. */
  CclStatus (*run) (CclVolumeLabeller *labeller, const CclVolume *volume,
      const CclLabellerOptions *options, const CclVolumeLabels *labels, CclVolumeTable *table,
      CclError *error);
} VolumeBackend;

/* Adds all cases to GLib's test suite. The backend must stay valid until the suite has run. */
void volume_checks_register (const VolumeBackend *backend);

/* Frees the memory that the cases share. */
void volume_checks_clear (void);
