/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "all-outputs.h"

#include <unistd.h>

/* Notes the names of all files before any is opened. */
static bool
note_names (AllOutputs *self, const Options *options, CclError *error)
{
  const uint64_t number = processes_share ((uint64_t)getpid ());
  bool succeeded = true;

  for (int i = 0; i < N_OUTPUTS && succeeded; i++)
    if (options->outputs[i])
      succeeded = pending_name_init (&self->names[i], options->outputs[i], number, error);
  return processes_agree (succeeded, error);
}

bool
outputs_open (AllOutputs *self, const Options *options, const OutputFormat *format,
    const char *input, CclError *error)
{
  const char *const *const given = options->outputs;
  const char *paths[N_OUTPUTS];
  bool succeeded = note_names (self, options, error);

  for (int i = 0; i < N_OUTPUTS; i++)
    paths[i] = self->names[i].temporary;
  if (given[DISTANCES] && succeeded) {
    self->distances = label_map_open (given[DISTANCES], paths[DISTANCES], format, error);
    succeeded = processes_agree (self->distances != NULL, error);
  }
  if (given[CONTOURS] && succeeded) {
    self->contours = contour_file_open (
        given[CONTOURS], paths[CONTOURS], input, format, options->tolerance, error);
    succeeded = processes_agree (self->contours != NULL, error);
  }
  if (given[CONTACTS] && succeeded) {
    self->contacts = contact_file_open (given[CONTACTS], paths[CONTACTS], format, error);
    succeeded = processes_agree (self->contacts != NULL, error);
  }
  if (given[LABEL_MAP] && succeeded) {
    self->map = label_map_open (given[LABEL_MAP], paths[LABEL_MAP], format, error);
    succeeded = processes_agree (self->map != NULL, error);
  }
  if (given[TABLE] && succeeded) {
    self->table = table_open (given[TABLE], paths[TABLE], format, error);
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
  for (int i = 0; i < N_OUTPUTS && succeeded && processes->rank == 0; i++)
    succeeded = !self->names[i].path || pending_name_commit (&self->names[i], error);
  succeeded = processes_agree (succeeded, error);
  for (int i = 0; i < N_OUTPUTS; i++)
    pending_name_clear (&self->names[i]);
  return succeeded;
}
