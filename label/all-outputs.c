/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "all-outputs.h"

#include <unistd.h>

/* Notes the names of all files before any is opened. */
static bool
note_names (AllOutputs *self, const Options *options, CclError *error)
{
  const struct {
    const char *path;
    PendingName *name;
  } files[] = {
      {options->labels, &self->map_name},
      {options->table, &self->table_name},
      {options->contours, &self->contours_name},
      {options->contacts, &self->contacts_name},
      {options->distances, &self->distances_name},
  };
  const uint64_t number = processes_share ((uint64_t)getpid ());
  bool succeeded = true;

  for (size_t i = 0; i < sizeof files / sizeof *files && succeeded; i++)
    if (files[i].path)
      succeeded = pending_name_init (files[i].name, files[i].path, number, error);
  return processes_agree (succeeded, error);
}

bool
outputs_open (AllOutputs *self, const Options *options, const OutputFormat *format,
    const char *input, CclError *error)
{
  bool succeeded = note_names (self, options, error);

  if (options->distances && succeeded) {
    self->distances =
        label_map_open (options->distances, self->distances_name.temporary, format, error);
    succeeded = processes_agree (self->distances != NULL, error);
  }
  if (options->contours && succeeded) {
    self->contours = contour_file_open (
        options->contours, self->contours_name.temporary, input, format, options->tolerance, error);
    succeeded = processes_agree (self->contours != NULL, error);
  }
  if (options->contacts && succeeded) {
    self->contacts =
        contact_file_open (options->contacts, self->contacts_name.temporary, format, error);
    succeeded = processes_agree (self->contacts != NULL, error);
  }
  if (options->labels && succeeded) {
    self->map = label_map_open (options->labels, self->map_name.temporary, format, error);
    succeeded = processes_agree (self->map != NULL, error);
  }
  if (options->table && succeeded) {
    self->table = table_open (options->table, self->table_name.temporary, format, error);
    succeeded = processes_agree (self->table != NULL, error);
  }
  return succeeded;
}

bool
outputs_begin (AllOutputs *self, uint64_t n_components, uint64_t first_label, uint32_t label_bytes,
    CclError *error)
{
  const Phase before = phases_enter (self->phases, PHASE_MAP);
  bool succeeded = !self->map || label_map_begin (self->map, label_bytes, error);

  self->label_bytes = label_bytes;
  phases_enter (self->phases, PHASE_TABLE);
  if (succeeded && self->table)
    succeeded = table_begin (self->table,
        self->order ? row_order_count (self->order, n_components) : n_components, first_label,
        error);
  phases_enter (self->phases, before);
  return succeeded;
}

bool
outputs_write_labels (
    AllOutputs *self, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error)
{
  const Phase before = phases_enter (self->phases, PHASE_MAP);
  bool succeeded = !self->map || label_map_write (self->map, first_layer, n_layers, labels, error);

  if (succeeded && self->contours)
    succeeded = contour_file_add_labels (
        self->contours, first_layer, n_layers, labels, self->label_bytes, error);
  if (succeeded && self->contacts)
    succeeded =
        contact_file_add_labels (self->contacts, n_layers, labels, self->label_bytes, error);
  phases_enter (self->phases, before);
  return succeeded;
}

bool
outputs_write_rows (AllOutputs *self, const CclTiledComponent *rows, const CclVolumeShape *shapes,
    size_t n, CclError *error)
{
  const Phase before = phases_enter (self->phases, PHASE_TABLE);
  bool succeeded = true;

  if (self->order)
    succeeded = row_order_add (self->order, rows, shapes, n, error);
  else if (self->table)
    succeeded = table_write (self->table, rows, shapes, n, error);
  if (succeeded && self->contours)
    succeeded = contour_file_add_rows (self->contours, rows, n, error);
  phases_enter (self->phases, before);
  return succeeded;
}

/* Gives the complete files their names. */
static bool
commit_names (AllOutputs *self, CclError *error)
{
  return (!self->contours || pending_name_commit (&self->contours_name, error)) &&
         (!self->contacts || pending_name_commit (&self->contacts_name, error)) &&
         (!self->distances || pending_name_commit (&self->distances_name, error)) &&
         (!self->map || pending_name_commit (&self->map_name, error)) &&
         (!self->table || pending_name_commit (&self->table_name, error));
}

bool
outputs_close (AllOutputs *self, const Processes *processes, bool succeeded, CclError *error)
{
  if (succeeded && self->order)
    succeeded = row_order_write (self->order, self->table, error);
  succeeded = label_map_close (self->map, !succeeded, error) && succeeded;
  succeeded = label_map_close (self->distances, !succeeded, error) && succeeded;
  succeeded = table_close (self->table, !succeeded, error) && succeeded;
  succeeded = contour_file_close (self->contours, !succeeded, error) && succeeded;
  succeeded = contact_file_close (self->contacts, !succeeded, error) && succeeded;
  succeeded = processes_agree (succeeded, error);
  if (succeeded && processes->rank == 0)
    succeeded = commit_names (self, error);
  succeeded = processes_agree (succeeded, error);
  pending_name_clear (&self->map_name);
  pending_name_clear (&self->table_name);
  pending_name_clear (&self->contours_name);
  pending_name_clear (&self->contacts_name);
  pending_name_clear (&self->distances_name);
  return succeeded;
}
