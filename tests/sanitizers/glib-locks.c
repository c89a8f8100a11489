/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declares the synchronisation inside GLib and GStreamer to ThreadSanitizer. These libraries are
 * not instrumented and use their own futexes and atomics, which it does not see. Linked into a
 * program, the functions of this file replace those of the libraries and call them.
 */
#include <dlfcn.h>
#include <gio/gio.h>
#include <gst/gst.h>
#include <pthread.h>

void __tsan_acquire (void *address);
void __tsan_release (void *address);

/* The library's function of that name. */
#define REAL(name)                                                                                 \
  static void *found;                                                                              \
  void *known = __atomic_load_n (&found, __ATOMIC_RELAXED);                                        \
  if (!known) {                                                                                    \
    known = dlsym (RTLD_NEXT, #name);                                                              \
    __atomic_store_n (&found, known, __ATOMIC_RELAXED);                                            \
  }                                                                                                \
  __typeof__ (&name) real = (__typeof__ (&name))known

#define LOCK(name, Lock)                                                                           \
  void name (Lock *lock)                                                                           \
  {                                                                                                \
    REAL (name);                                                                                   \
    real (lock);                                                                                   \
    __tsan_acquire (lock);                                                                         \
  }
#define TRY_LOCK(name, Lock)                                                                       \
  gboolean name (Lock *lock)                                                                       \
  {                                                                                                \
    REAL (name);                                                                                   \
    gboolean locked = real (lock);                                                                 \
    if (locked)                                                                                    \
      __tsan_acquire (lock);                                                                       \
    return locked;                                                                                 \
  }
#define UNLOCK(name, Lock)                                                                         \
  void name (Lock *lock)                                                                           \
  {                                                                                                \
    REAL (name);                                                                                   \
    __tsan_release (lock);                                                                         \
    real (lock);                                                                                   \
  }
LOCK (g_mutex_lock, GMutex)
TRY_LOCK (g_mutex_trylock, GMutex)
UNLOCK (g_mutex_unlock, GMutex)
LOCK (g_rec_mutex_lock, GRecMutex)
UNLOCK (g_rec_mutex_unlock, GRecMutex)
LOCK (g_rw_lock_reader_lock, GRWLock)
UNLOCK (g_rw_lock_reader_unlock, GRWLock)
LOCK (g_rw_lock_writer_lock, GRWLock)
UNLOCK (g_rw_lock_writer_unlock, GRWLock)

/* A recursive mutex is one of the system. GLib locks and unlocks it by a jump, which
 * ThreadSanitizer takes for a call of this file, and tries it by a call of its own, which it does
 * not see. */
gboolean
g_rec_mutex_trylock (GRecMutex *lock)
{
  return pthread_mutex_trylock (lock->p) == 0;
}

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  REAL (g_cond_wait);
  __tsan_release (mutex);
  real (cond, mutex);
  __tsan_acquire (mutex);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  REAL (g_cond_wait_until);
  __tsan_release (mutex);
  gboolean signalled = real (cond, mutex, end_time);
  __tsan_acquire (mutex);
  return signalled;
}

/* The last unref frees the object: all other threads' accesses happen before it. */

void (g_object_unref) (gpointer object)
{
  REAL (g_object_unref);
  __tsan_release (object);
  __tsan_acquire (object);
  real (object);
}

void
gst_mini_object_unref (GstMiniObject *object)
{
  REAL (gst_mini_object_unref);
  __tsan_release (object);
  __tsan_acquire (object);
  real (object);
}

void
g_atomic_rc_box_release_full (gpointer box, GDestroyNotify clear)
{
  REAL (g_atomic_rc_box_release_full);
  __tsan_release (box);
  __tsan_acquire (box);
  real (box, clear);
}

/* A pool stores its buffers in a lock-free queue. */
GstFlowReturn
gst_buffer_pool_acquire_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  REAL (gst_buffer_pool_acquire_buffer);
  GstFlowReturn flow = real (pool, buffer, params);
  if (flow == GST_FLOW_OK)
    __tsan_acquire (*buffer);
  return flow;
}

/* Objects passed between threads through a queue. */

void
g_async_queue_push (GAsyncQueue *queue, gpointer data)
{
  REAL (g_async_queue_push);
  __tsan_release (data);
  real (queue, data);
}

#define POP(name, parameters, arguments)                                                           \
  gpointer name parameters                                                                         \
  {                                                                                                \
    REAL (name);                                                                                   \
    gpointer data = real arguments;                                                                \
    if (data)                                                                                      \
      __tsan_acquire (data);                                                                       \
    return data;                                                                                   \
  }
POP (g_async_queue_pop, (GAsyncQueue * queue), (queue))
POP (g_async_queue_try_pop, (GAsyncQueue * queue), (queue))
POP (g_async_queue_timeout_pop, (GAsyncQueue * queue, guint64 timeout), (queue, timeout))

/* Work for other threads. Their functions are called through others, which see what was done before
 * the push. */

typedef struct {
  GFunc function;
  gpointer data;
} Worker;

static void
call_worker (gpointer item, gpointer data)
{
  const Worker *worker = (const Worker *)data;

  __tsan_acquire (item);
  worker->function (item, worker->data);
  __tsan_release (data);
}

GThreadPool *
g_thread_pool_new (
    GFunc function, gpointer data, gint n_threads, gboolean exclusive, GError **error)
{
  REAL (g_thread_pool_new);
  Worker *worker = g_new (Worker, 1); /* never freed: threads of a pool may outlive it */

  *worker = (Worker){function, data};
  return real (call_worker, worker, n_threads, exclusive, error);
}

gboolean
g_thread_pool_push (GThreadPool *pool, gpointer item, GError **error)
{
  REAL (g_thread_pool_push);
  __tsan_release (item);
  return real (pool, item, error);
}

void
g_thread_pool_free (GThreadPool *pool, gboolean immediate, gboolean wait)
{
  REAL (g_thread_pool_free);
  gpointer worker = pool->user_data;

  real (pool, immediate, wait);
  if (wait)
    __tsan_acquire (worker);
}

/* What another thread, which runs a main loop, is asked to do. */

typedef struct {
  GSourceFunc function;
  gpointer data;
  GDestroyNotify free_data;
} Call;

static gboolean
call_idle (gpointer data)
{
  const Call *call = data;

  __tsan_acquire (data);
  return call->function (call->data);
}

static void
free_call (gpointer data)
{
  const Call *call = data;

  if (call->free_data)
    call->free_data (call->data);
  g_free (data);
}

static Call *
new_call (GSourceFunc function, gpointer data, GDestroyNotify free_data)
{
  Call *call = g_new (Call, 1);

  *call = (Call){function, data, free_data};
  __tsan_release (call);
  return call;
}

void
g_source_set_callback (
    GSource *source, GSourceFunc function, gpointer data, GDestroyNotify free_data)
{
  REAL (g_source_set_callback);

  if (source->source_funcs != &g_idle_funcs)
    real (source, function, data, free_data);
  else
    real (source, call_idle, new_call (function, data, free_data), free_call);
}

/* Newer releases of GLib call g_source_set_callback() in a way that no other function can replace.
 */
guint
g_idle_add_full (gint priority, GSourceFunc function, gpointer data, GDestroyNotify free_data)
{
  REAL (g_idle_add_full);
  return real (priority, call_idle, new_call (function, data, free_data), free_call);
}

guint
g_idle_add (GSourceFunc function, gpointer data)
{
  return g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, function, data, NULL);
}

static void
call_task (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GTaskThreadFunc function =
      (GTaskThreadFunc)g_object_get_data (G_OBJECT (task), "function-of-thread");

  __tsan_acquire (task);
  function (task, source, data, cancellable);
  __tsan_release (task);
}

void
g_task_run_in_thread (GTask *task, GTaskThreadFunc function)
{
  REAL (g_task_run_in_thread);
  g_object_set_data (G_OBJECT (task), "function-of-thread", (gpointer)function);
  __tsan_release (task);
  real (task, call_task);
}

gpointer
g_task_propagate_pointer (GTask *task, GError **error)
{
  REAL (g_task_propagate_pointer);
  __tsan_acquire (task);
  return real (task, error);
}
