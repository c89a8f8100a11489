/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "web-guard.h"

#include <gio/gio.h>

#include "log.h"
#include "web-address.h"

#define PRIORITY 1000
#define MAX_LOGGED 100 /* hosts */

static GMutex lock;
static GPtrArray *trusted; /* guarded by the lock; NULL: nothing is guarded */
static GPtrArray *logged;  /* guarded by the lock */

void
watch_guard_set_trusted (GPtrArray *hosts)
{
  g_mutex_lock (&lock);
  g_clear_pointer (&trusted, g_ptr_array_unref);
  trusted = hosts;
  g_mutex_unlock (&lock);
}

static gboolean
contains (GPtrArray *texts, const gchar *text)
{
  return g_ptr_array_find_with_equal_func (texts, text, g_str_equal, NULL);
}

static gboolean
is_guarded (const gchar *host)
{
  g_autofree gchar *name = g_ascii_strdown (host, -1);
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);

  return trusted && !contains (trusted, name);
}

/* Says so once for each host, because cameras try again and again. */
static void
log_refusal (const gchar *host)
{
  gboolean is_new;

  g_mutex_lock (&lock);
  if (!logged)
    logged = g_ptr_array_new_with_free_func (g_free);
  is_new = logged->len < MAX_LOGGED && !contains (logged, host);
  if (is_new)
    g_ptr_array_add (logged, g_strdup (host));
  g_mutex_unlock (&lock);
  if (is_new)
    watch_log_warning (
        "no connection to \"%s\": it leads to a loopback or link-local address, which the "
        "configuration does not allow (web-local)",
        host);
}

static void
refuse (const gchar *host, GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
      "\"%s\" leads to a loopback or link-local address, which the configuration does not allow",
      host);
  log_refusal (host);
}

gboolean
watch_guard_may_send (const gchar *uri, const gchar *host)
{
  g_autofree gchar *server = watch_uri_host (uri);

  if (!watch_host_is_local (host) || !is_guarded (host) || (server && !is_guarded (server)))
    return TRUE;
  log_refusal (host);
  return FALSE;
}

/* Removes local addresses of a host; NULL and an error if none is left. */
static GList *
filter (const gchar *host, GList *addresses, GError **error)
{
  GList *next;

  if (!addresses || !is_guarded (host))
    return addresses;
  for (GList *l = addresses; l; l = next) {
    next = l->next;
    if (watch_address_is_local (l->data)) {
      g_object_unref (l->data);
      addresses = g_list_delete_link (addresses, l);
    }
  }
  if (!addresses)
    refuse (host, error);
  return addresses;
}

/* The addresses of names: asks the resolver that was the default one. */

#define GUARD_TYPE_RESOLVER (guard_resolver_get_type ())
G_DECLARE_FINAL_TYPE (GuardResolver, guard_resolver, GUARD, RESOLVER, GResolver)

struct _GuardResolver {
  GResolver parent;
};

G_DEFINE_FINAL_TYPE (GuardResolver, guard_resolver, G_TYPE_RESOLVER)

static GResolver *default_resolver;

static GList *
lookup_by_name (GResolver *resolver, const gchar *host, GCancellable *cancellable, GError **error)
{
  return filter (
      host, g_resolver_lookup_by_name (default_resolver, host, cancellable, error), error);
}

static GList *
lookup_by_name_with_flags (GResolver *resolver, const gchar *host, GResolverNameLookupFlags flags,
    GCancellable *cancellable, GError **error)
{
  return filter (host,
      g_resolver_lookup_by_name_with_flags (default_resolver, host, flags, cancellable, error),
      error);
}

static void
free_addresses (gpointer addresses)
{
  g_resolver_free_addresses (addresses);
}

static void
on_looked_up (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  const gchar *host = g_task_get_task_data (task);
  GError *error = NULL;
  GList *addresses =
      g_resolver_lookup_by_name_with_flags_finish (G_RESOLVER (source), result, &error);

  addresses = filter (host, addresses, &error);
  if (addresses)
    g_task_return_pointer (task, addresses, free_addresses);
  else
    g_task_return_error (task, error);
}

static void
lookup_by_name_with_flags_async (GResolver *resolver, const gchar *host,
    GResolverNameLookupFlags flags, GCancellable *cancellable, GAsyncReadyCallback callback,
    gpointer data)
{
  GTask *task = g_task_new (resolver, cancellable, callback, data);

  g_task_set_task_data (task, g_strdup (host), g_free);
  g_resolver_lookup_by_name_with_flags_async (
      default_resolver, host, flags, cancellable, on_looked_up, task);
}

static void
lookup_by_name_async (GResolver *resolver, const gchar *host, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer data)
{
  lookup_by_name_with_flags_async (
      resolver, host, G_RESOLVER_NAME_LOOKUP_FLAGS_DEFAULT, cancellable, callback, data);
}

static GList *
lookup_by_name_finish (GResolver *resolver, GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

static gchar *
lookup_by_address (
    GResolver *resolver, GInetAddress *address, GCancellable *cancellable, GError **error)
{
  return g_resolver_lookup_by_address (default_resolver, address, cancellable, error);
}

static void
lookup_by_address_async (GResolver *resolver, GInetAddress *address, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer data)
{
  g_resolver_lookup_by_address_async (default_resolver, address, cancellable, callback, data);
}

static gchar *
lookup_by_address_finish (GResolver *resolver, GAsyncResult *result, GError **error)
{
  return g_resolver_lookup_by_address_finish (default_resolver, result, error);
}

static GList *
lookup_records (GResolver *resolver, const gchar *name, GResolverRecordType type,
    GCancellable *cancellable, GError **error)
{
  return g_resolver_lookup_records (default_resolver, name, type, cancellable, error);
}

static void
lookup_records_async (GResolver *resolver, const gchar *name, GResolverRecordType type,
    GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data)
{
  g_resolver_lookup_records_async (default_resolver, name, type, cancellable, callback, data);
}

static GList *
lookup_records_finish (GResolver *resolver, GAsyncResult *result, GError **error)
{
  return g_resolver_lookup_records_finish (default_resolver, result, error);
}

static void
guard_resolver_class_init (GuardResolverClass *klass)
{
  GResolverClass *resolver = G_RESOLVER_CLASS (klass);

  resolver->lookup_by_name = lookup_by_name;
  resolver->lookup_by_name_async = lookup_by_name_async;
  resolver->lookup_by_name_finish = lookup_by_name_finish;
  resolver->lookup_by_name_with_flags = lookup_by_name_with_flags;
  resolver->lookup_by_name_with_flags_async = lookup_by_name_with_flags_async;
  resolver->lookup_by_name_with_flags_finish = lookup_by_name_finish;
  resolver->lookup_by_address = lookup_by_address;
  resolver->lookup_by_address_async = lookup_by_address_async;
  resolver->lookup_by_address_finish = lookup_by_address_finish;
  resolver->lookup_records = lookup_records;
  resolver->lookup_records_async = lookup_records_async;
  resolver->lookup_records_finish = lookup_records_finish;
}

static void
guard_resolver_init (GuardResolver *self)
{
}

/* Hosts that are written as addresses. No resolver sees them, but GLib asks for their proxy, and
 * the guard answers as the resolver of proxies that it replaces. */

#define GUARD_TYPE_PROXY_RESOLVER (guard_proxy_resolver_get_type ())
G_DECLARE_FINAL_TYPE (GuardProxyResolver, guard_proxy_resolver, GUARD, PROXY_RESOLVER, GObject)

struct _GuardProxyResolver {
  GObject parent;
};

static void guard_proxy_resolver_init_interface (GProxyResolverInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (GuardProxyResolver, guard_proxy_resolver, G_TYPE_OBJECT,
    G_IMPLEMENT_INTERFACE (G_TYPE_PROXY_RESOLVER, guard_proxy_resolver_init_interface))

/* The resolver of proxies that GLib would choose without the guard. */
static GProxyResolver *
get_next_proxy_resolver (void)
{
  static GProxyResolver *next;
  GIOExtensionPoint *point = g_io_extension_point_lookup (G_PROXY_RESOLVER_EXTENSION_POINT_NAME);
  GList *extensions = g_io_extension_point_get_extensions (point);

  if (!g_once_init_enter (&next))
    return next;
  for (GList *l = extensions; l; l = l->next) {
    GType type = g_io_extension_get_type (l->data);
    GProxyResolver *resolver = type != GUARD_TYPE_PROXY_RESOLVER ? g_object_new (type, NULL) : NULL;

    if (resolver && g_proxy_resolver_is_supported (resolver)) {
      g_once_init_leave (&next, resolver);
      return next;
    }
    g_clear_object (&resolver);
  }
  g_once_init_leave (&next, g_simple_proxy_resolver_new (NULL, NULL));
  return next;
}

static gboolean
is_supported (GProxyResolver *resolver)
{
  return TRUE;
}

static gchar **
lookup (GProxyResolver *resolver, const gchar *uri, GCancellable *cancellable, GError **error)
{
  g_autofree gchar *host = watch_uri_host (uri);

  if (!host || !watch_host_is_local (host) || !is_guarded (host))
    return g_proxy_resolver_lookup (get_next_proxy_resolver (), uri, cancellable, error);
  refuse (host, error);
  return NULL;
}

static void
lookup_in_thread (GTask *task, gpointer resolver, gpointer uri, GCancellable *cancellable)
{
  GError *error = NULL;
  gchar **proxies = lookup (resolver, uri, cancellable, &error);

  if (proxies)
    g_task_return_pointer (task, proxies, (GDestroyNotify)g_strfreev);
  else
    g_task_return_error (task, error);
}

static void
lookup_async (GProxyResolver *resolver, const gchar *uri, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer data)
{
  g_autoptr (GTask) task = g_task_new (resolver, cancellable, callback, data);

  g_task_set_task_data (task, g_strdup (uri), g_free);
  g_task_run_in_thread (task, lookup_in_thread);
}

static gchar **
lookup_finish (GProxyResolver *resolver, GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

static void
guard_proxy_resolver_init_interface (GProxyResolverInterface *iface)
{
  iface->is_supported = is_supported;
  iface->lookup = lookup;
  iface->lookup_async = lookup_async;
  iface->lookup_finish = lookup_finish;
}

static void
guard_proxy_resolver_class_init (GuardProxyResolverClass *klass)
{
}

static void
guard_proxy_resolver_init (GuardProxyResolver *self)
{
}

void
watch_guard_install (void)
{
  g_autoptr (GResolver) guard = NULL;

  default_resolver = g_resolver_get_default ();
  guard = g_object_new (GUARD_TYPE_RESOLVER, NULL);
  g_resolver_set_default (guard);
  g_io_extension_point_register (G_PROXY_RESOLVER_EXTENSION_POINT_NAME);
  g_io_extension_point_implement (
      G_PROXY_RESOLVER_EXTENSION_POINT_NAME, GUARD_TYPE_PROXY_RESOLVER, "ccl-watch", PRIORITY);
}
