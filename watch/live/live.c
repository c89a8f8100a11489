/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "live.h"

#include "watch/system/log.h"
#include "recording/jpeg.h"

#define MAX_ENCODING 4
#define MAX_WAITING 64
#define FRESH (200 * G_TIME_SPAN_MILLISECOND)
#define FORGOTTEN (5 * G_TIME_SPAN_SECOND)

struct _WatchLive {
  Watch *watch;
  GHashTable *pictures; /* "CAMERA/LOOK/WIDTH" → Picture */
  GQueue waiting;       /* Picture, which are not encoded yet */
  guint n_encoding;
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

typedef struct {
  WatchLive *live;
  Picture *picture;
  GstSample *frame;
} Job;

static void
picture_free (gpointer data)
{
  Picture *picture = data;

  g_clear_pointer (&picture->jpeg, g_bytes_unref);
  g_free (picture->camera);
  g_free (picture);
}

static void
job_free (gpointer data)
{
  Job *job = data;

  gst_sample_unref (job->frame);
  g_free (job);
}

static void
encode (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Job *job = data;
  GError *error = NULL;
  GBytes *jpeg = jpeg_encode (job->frame, job->picture->look, job->picture->width, &error);

  if (jpeg)
    g_task_return_pointer (task, jpeg, (GDestroyNotify)g_bytes_unref);
  else
    g_task_return_error (task, error);
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

/* Takes the picture, which may be NULL, and answers all requests. */
static void
finish (Picture *picture, GBytes *jpeg)
{
  GSList *requests = g_slist_reverse (g_steal_pointer (&picture->requests));

  g_clear_pointer (&picture->jpeg, g_bytes_unref);
  picture->jpeg = jpeg;
  for (GSList *l = requests; l; l = l->next) {
    const Request *request = l->data;

    request->function (request->data, jpeg);
  }
  g_slist_free_full (requests, g_free);
}

static void start_waiting (WatchLive *live);

static void
on_encoded (GObject *source, GAsyncResult *result, gpointer data)
{
  Job *job = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;

  job->live->n_encoding--;
  finish (job->picture, g_task_propagate_pointer (G_TASK (result), &error));
  if (error)
    watch_log_warning ("live picture: %s", error->message);
  start_waiting (job->live);
}

static void
start_waiting (WatchLive *live)
{
  Picture *picture;

  while (live->n_encoding < MAX_ENCODING && (picture = g_queue_pop_head (&live->waiting))) {
    GstSample *frame = get_frame (live, picture->camera);

    if (frame) {
      g_autoptr (GTask) task = g_task_new (NULL, NULL, on_encoded, NULL);
      Job *job = g_new (Job, 1);

      *job = (Job){live, picture, frame};
      picture->time = g_get_monotonic_time ();
      live->n_encoding++;
      g_task_set_task_data (task, job, job_free);
      g_task_run_in_thread (task, encode);
    } else {
      finish (picture, NULL); /* the camera was removed */
    }
  }
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
    if (g_queue_get_length (&live->waiting) >= MAX_WAITING)
      return WATCH_LIVE_BUSY;
    g_queue_push_tail (&live->waiting, picture);
  }
  picture->requests =
      g_slist_prepend (picture->requests, g_memdup2 (&(Request){function, data}, sizeof (Request)));
  start_waiting (live);
  return WATCH_LIVE_TAKEN;
}

WatchLive *
watch_live_new (Watch *watch)
{
  WatchLive *live = g_new0 (WatchLive, 1);

  live->watch = watch;
  g_queue_init (&live->waiting);
  live->pictures = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, picture_free);
  return live;
}

void
watch_live_free (WatchLive *live)
{
  while (live->n_encoding > 0)
    g_main_context_iteration (NULL, TRUE);
  g_hash_table_unref (live->pictures);
  g_free (live);
}
