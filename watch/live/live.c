/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "live.h"

#include "watch/system/log.h"
#include "recording/jpeg.h"

#define MAX_ENCODING 4
#define MAX_WAITING (64 + MAX_ENCODING) /* with those that are being encoded */
#define FRESH (200 * G_TIME_SPAN_MILLISECOND)
#define FORGOTTEN (5 * G_TIME_SPAN_SECOND)

struct _WatchLive {
  Watch *watch;
  GHashTable *pictures; /* "CAMERA/LOOK/WIDTH" → Picture */
  GThreadPool *pool;    /* which encodes */
  guint n_jobs;         /* that wait or are being encoded */
};

typedef struct {
  gchar *camera;
  JpegLook look;
  gint width;
  GBytes *jpeg;     /* NULL before the first */
  gint64 time;      /* monotonic, when its frame was taken */
  GSList *requests; /* Request; not empty while it waits or is being encoded */
} Picture;

typedef struct {
  WatchLiveFunction function;
  gpointer data;
} Request;

/* In the pool, where `camera`, `look` and `width` of the picture are read alone. */
typedef struct {
  WatchLive *live;
  Picture *picture;
  GBytes *jpeg; /* NULL if encoding failed, or the camera was removed */
  gint64 time;  /* when its frame was taken */
} Job;

static void
picture_free (gpointer data)
{
  Picture *picture = data;

  g_clear_pointer (&picture->jpeg, g_bytes_unref);
  g_free (picture->camera);
  g_free (picture);
}

static GstSample *
get_frame (WatchLive *live, const gchar *name)
{
  g_autoptr (WatchCamera) camera = watch_find_camera (live->watch, name);

  return camera ? watch_camera_get_frame (camera) : NULL;
}

/* Asks the camera to attach the mask to its next frames: it does so only for these pictures. */
static void
ask_for_mask (WatchLive *live, const gchar *name)
{
  g_autoptr (WatchCamera) camera = watch_find_camera (live->watch, name);

  if (camera)
    watch_camera_attach_mask (camera);
}

/* Takes the picture and answers all requests. In the main thread. */
static gboolean
on_encoded (gpointer data)
{
  Job *job = data;
  Picture *picture = job->picture;
  GSList *requests = g_slist_reverse (g_steal_pointer (&picture->requests));

  g_clear_pointer (&picture->jpeg, g_bytes_unref);
  picture->jpeg = job->jpeg;
  picture->time = job->time;
  for (GSList *l = requests; l; l = l->next) {
    const Request *request = l->data;

    request->function (request->data, picture->jpeg);
  }
  g_slist_free_full (requests, g_free);
  job->live->n_jobs--;
  g_free (job);
  return G_SOURCE_REMOVE;
}

static void
encode (gpointer data, gpointer live)
{
  Job *job = data;
  const Picture *picture = job->picture;
  g_autoptr (GstSample) frame = get_frame (live, picture->camera);
  g_autoptr (GError) error = NULL;

  job->time = g_get_monotonic_time ();
  job->jpeg = frame ? jpeg_encode (frame, picture->look, picture->width, &error) : NULL;
  if (error)
    watch_log_warning ("live picture: %s", error->message);
  g_idle_add_full (G_PRIORITY_DEFAULT, on_encoded, job, NULL);
}

static gboolean
is_forgotten (gpointer key, gpointer value, gpointer now)
{
  const Picture *picture = value;

  return !picture->requests && picture->time + FORGOTTEN < *(gint64 *)now;
}

/* The picture of this key, which is made where missing. Old ones go. */
static Picture *
find_picture (WatchLive *live, const gchar *camera, JpegLook look, gint width)
{
  g_autofree gchar *key = g_strdup_printf ("%s/%d/%d", camera, look, width);
  gint64 now = g_get_monotonic_time ();
  Picture *picture;

  g_hash_table_foreach_remove (live->pictures, is_forgotten, &now);
  picture = g_hash_table_lookup (live->pictures, key);
  if (!picture) {
    picture = g_new0 (Picture, 1);
    picture->camera = g_strdup (camera);
    picture->look = look;
    picture->width = width;
    g_hash_table_insert (live->pictures, g_strdup (key), picture);
  }
  return picture;
}

WatchLiveResult
watch_live_request (WatchLive *live, const gchar *camera, JpegLook look, gint width,
    WatchLiveFunction function, gpointer data)
{
  g_autoptr (GstSample) frame = get_frame (live, camera);
  Picture *picture;

  if (!frame)
    return WATCH_LIVE_NO_FRAME;
  if (look == JPEG_FOREGROUND)
    ask_for_mask (live, camera);
  picture = find_picture (live, camera, look, width);
  if (!picture->requests) {
    if (picture->jpeg && g_get_monotonic_time () < picture->time + FRESH) {
      function (data, picture->jpeg);
      return WATCH_LIVE_TAKEN;
    }
    if (live->n_jobs >= MAX_WAITING)
      return WATCH_LIVE_BUSY;
    live->n_jobs++;
    g_thread_pool_push (live->pool, g_memdup2 (&(Job){live, picture}, sizeof (Job)), NULL);
  }
  picture->requests =
      g_slist_prepend (picture->requests, g_memdup2 (&(Request){function, data}, sizeof (Request)));
  return WATCH_LIVE_TAKEN;
}

WatchLive *
watch_live_new (Watch *watch)
{
  WatchLive *live = g_new0 (WatchLive, 1);

  live->watch = watch;
  live->pool = g_thread_pool_new (encode, live, MAX_ENCODING, FALSE, NULL);
  live->pictures = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, picture_free);
  return live;
}

void
watch_live_free (WatchLive *live)
{
  while (live->n_jobs > 0)
    g_main_context_iteration (NULL, TRUE);
  g_thread_pool_free (live->pool, FALSE, TRUE);
  g_hash_table_unref (live->pictures);
  g_free (live);
}
