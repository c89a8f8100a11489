/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A part of a clip as a file of its own: the head of the clip, and the fragments of the part, whose
 * times begin at zero. Nothing is copied: what is read comes from the clip's file. The functions
 * wait for the disk. Not thread-safe. */
#pragma once

#include <glib.h>

typedef struct _ClipPart ClipPart;

/* The part begins with the last key frame that is not later than @from, and ends with the fragment
 * of @to, which takes a second at most. A clip that is being written has those that are complete.
 * @file: the descriptor of a file that clip_new() had made; it stays the caller's and outlives the
 * part
 * @from, @to: microseconds since 1970, UTC
 * NULL and an error: G_IO_ERROR_NOT_SUPPORTED for a file that is no clip or does not say when it
 * begins, G_IO_ERROR_NOT_FOUND for one that has nothing of this time. */
ClipPart *clip_part_new (gint file, gint64 from, gint64 to, GError **error);
void clip_part_free (ClipPart *part);

/* In bytes. */
goffset clip_part_get_size (ClipPart *part);

/* Reads at most @size bytes from a position on, as pread() does: -1 with errno on failure. */
gssize clip_part_read (ClipPart *part, guint8 *bytes, gsize size, goffset at);
