/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "contact-file.h"

#include "error.h"

#include <cudaccl/contacts.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ContactFile {
  uint64_t width, height; /* of a layer */
  bool is_volume, is_json;
  CclContacts *contacts; /* NULL before the first labels */
  FILE *file;
  char *path;
};

static void
contact_file_free (ContactFile *self)
{
  ccl_contacts_free (&self->contacts);
  if (self->file)
    fclose (self->file);
  free (self->path);
  free (self);
}

ContactFile *
contact_file_open (const char *name, const char *path, const OutputFormat *format, CclError *error)
{
  const bool is_json = has_suffix (name, ".ndjson") || has_suffix (name, ".jsonl");

  if (!is_json && !has_suffix (name, ".csv")) {
    fail (error, "%s: the name of a file of contacts ends in .csv or .ndjson", name);
    return NULL;
  }
  ContactFile *self = calloc (1, sizeof *self);
  if (!self || !(self->path = strdup (path))) {
    fail_without_memory (error);
  } else if ((self->file = fopen (path, "w"))) {
    self->width = format->width;
    self->height = format->is_volume ? format->height : 1;
    self->is_volume = format->is_volume;
    self->is_json = is_json;
    return self;
  } else {
    fail (error, "%s: %s", path, strerror (errno));
  }
  if (self)
    contact_file_free (self);
  return NULL;
}

/* Prepares for labels of that size. */
static bool
begin (ContactFile *self, uint32_t label_bytes, CclError *error)
{
  if (!self->contacts)
    self->contacts =
        ccl_contacts_new (self->width, self->height, self->is_volume ? 6 : 4, label_bytes, error);
  return self->contacts != NULL;
}

bool
contact_file_add_labels (
    ContactFile *self, uint64_t n_layers, const void *labels, uint32_t label_bytes, CclError *error)
{
  return begin (self, label_bytes, error) &&
         ccl_contacts_add (self->contacts, labels, n_layers, error) == CUDACCL_OK;
}

static bool
write_rows (ContactFile *self, CclError *error)
{
  const char *row =
      self->is_json ? "{\"label\":%llu,\"neighbour\":%llu,\"contact\":%llu}\n" : "%llu,%llu,%llu\n";
  const CclContact *rows = NULL;
  size_t n = 0;

  if (self->contacts && ccl_contacts_rows (self->contacts, &rows, &n, error) != CUDACCL_OK)
    return false;
  if (!self->is_json)
    fputs ("label,neighbour,contact\n", self->file);
  for (size_t i = 0; i < n; i++)
    fprintf (self->file, row, (unsigned long long)rows[i].label,
        (unsigned long long)rows[i].neighbour, (unsigned long long)rows[i].n_sides);
  const bool has_failed = ferror (self->file);
  const int result = fclose (self->file);
  self->file = NULL;
  return (!has_failed && result == 0) || fail (error, "%s: %s", self->path, strerror (errno));
}

bool
contact_file_close (ContactFile *self, bool failed, CclError *error)
{
  if (!self)
    return true;
  const bool succeeded = failed || write_rows (self, error);
  contact_file_free (self);
  return succeeded;
}
