/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "turn.h"

typedef struct {
  void (*function) (gpointer data);
  gpointer data;
} Turn;

static GQueue waiting = G_QUEUE_INIT; /* Turn; the first one is under way */

void
watch_turn_take (void (*function) (gpointer data), gpointer data)
{
  g_queue_push_tail (&waiting, g_memdup2 (&(Turn){function, data}, sizeof (Turn)));
  if (g_queue_get_length (&waiting) == 1)
    function (data);
}

void
watch_turn_end (void)
{
  const Turn *next;

  g_free (g_queue_pop_head (&waiting));
  next = g_queue_peek_head (&waiting);
  if (next)
    next->function (next->data);
}
