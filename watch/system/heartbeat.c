/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "heartbeat.h"

#define AT_REST (-1)

struct _WatchHeartbeat {
  gchar *name;
  gint64 time; /* of the last beat, monotonic, or AT_REST; guarded by the lock */
};

static GMutex lock;
static GList *heartbeats; /* WatchHeartbeat, guarded by the lock */

WatchHeartbeat *
watch_heartbeat_new (const gchar *name)
{
  WatchHeartbeat *heartbeat = g_new (WatchHeartbeat, 1);

  *heartbeat = (WatchHeartbeat){.name = g_strdup (name), .time = AT_REST};
  g_mutex_lock (&lock);
  heartbeats = g_list_prepend (heartbeats, heartbeat);
  g_mutex_unlock (&lock);
  return heartbeat;
}

void
watch_heartbeat_free (WatchHeartbeat *heartbeat)
{
  g_mutex_lock (&lock);
  heartbeats = g_list_remove (heartbeats, heartbeat);
  g_mutex_unlock (&lock);
  g_free (heartbeat->name);
  g_free (heartbeat);
}

static void
set_time (WatchHeartbeat *heartbeat, gint64 time)
{
  g_mutex_lock (&lock);
  heartbeat->time = time;
  g_mutex_unlock (&lock);
}

void
watch_heartbeat_beat (WatchHeartbeat *heartbeat)
{
  set_time (heartbeat, g_get_monotonic_time ());
}

void
watch_heartbeat_rest (WatchHeartbeat *heartbeat)
{
  set_time (heartbeat, AT_REST);
}

/* With the lock. */
static gdouble
age_of (const WatchHeartbeat *heartbeat)
{
  return heartbeat->time == AT_REST ? 0 : (g_get_monotonic_time () - heartbeat->time) / 1e6;
}

gdouble
watch_heartbeat_get_age (WatchHeartbeat *heartbeat)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);

  return age_of (heartbeat);
}

GHashTable *
watch_heartbeat_get_ages (void)
{
  GHashTable *ages = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);

  for (GList *l = heartbeats; l; l = l->next) {
    const WatchHeartbeat *heartbeat = l->data;
    const gdouble age = age_of (heartbeat);
    const gdouble *other = g_hash_table_lookup (ages, heartbeat->name);

    if (!other || *other < age)
      g_hash_table_insert (ages, g_strdup (heartbeat->name), g_memdup2 (&age, sizeof age));
  }
  return ages;
}
