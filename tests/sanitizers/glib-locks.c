/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declares the synchronisation inside GLib and GStreamer to ThreadSanitizer. These libraries are
 * not instrumented and use their own futexes and atomics, which it does not see. Linked into a
 * program, the functions of this file replace those of the libraries and call them.
 */
#include <dlfcn.h>
#include <gst/gst.h>

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
TRY_LOCK (g_rec_mutex_trylock, GRecMutex)
UNLOCK (g_rec_mutex_unlock, GRecMutex)
LOCK (g_rw_lock_reader_lock, GRWLock)
UNLOCK (g_rw_lock_reader_unlock, GRWLock)
LOCK (g_rw_lock_writer_lock, GRWLock)
UNLOCK (g_rw_lock_writer_unlock, GRWLock)

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
