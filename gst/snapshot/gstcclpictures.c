/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclpictures.h"

#include "recording/jpeg.h"
#include "shared/gstccllocation.h"

#define FILE_MODE 0666 /* before the umask */

struct _GstCclPictures {
  GstElement *element;
  GThreadPool *pool; /* of one thread */
  gint has_failed;   /* atomic: no picture is made any more */
  gint is_posted;    /* atomic: the error that caused it was posted */

  GMutex lock;
  GCond changed;
  guint n_waiting;
  gsize n_bytes;
};

typedef struct {
  GstSample *sample;
  GstStructure *about;
  guint64 number;
  gchar *location;
  gboolean posts;
} Job;

/* The first error is posted. */
static void
fail (GstCclPictures *self, const GError *error)
{
  if (!g_atomic_int_compare_and_exchange (&self->has_failed, FALSE, TRUE))
    return;
  if (error->domain != G_FILE_ERROR)
    GST_ELEMENT_ERROR (self->element, STREAM, ENCODE, ("%s", error->message), (NULL));
  else if (error->code == G_FILE_ERROR_NOSPC)
    GST_ELEMENT_ERROR (self->element, RESOURCE, NO_SPACE_LEFT, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR (self->element, RESOURCE, OPEN_WRITE, ("%s", error->message), (NULL));
  g_atomic_int_set (&self->is_posted, TRUE);
}

/* Writes the whole file; after an error there is none. */
static gboolean
write_file (const Job *job, GBytes *jpeg, GError **error)
{
  g_autofree gchar *path = gst_ccl_location_format (job->location, job->number, error);
  gsize size;
  gconstpointer data = g_bytes_get_data (jpeg, &size);

  if (!path || !g_file_set_contents_full (
                   path, data, (gssize)size, G_FILE_SET_CONTENTS_CONSISTENT, FILE_MODE, error))
    return FALSE;
  gst_structure_set (job->about, "location", G_TYPE_STRING, path, NULL);
  return TRUE;
}

/* Takes the structure. */
static void
post (GstCclPictures *self, GstStructure *about, GBytes *jpeg)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new_wrapped_bytes (jpeg);
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple ("image/jpeg");
  g_autoptr (GstSample) image = gst_sample_new (buffer, caps, NULL, NULL);

  gst_structure_set (about, "image", GST_TYPE_SAMPLE, image, NULL);
  gst_element_post_message (
      self->element, gst_message_new_element (GST_OBJECT_CAST (self->element), about));
}

static void
encode (GstCclPictures *self, Job *job)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) jpeg = jpeg_encode (job->sample, FALSE, 0, &error);

  if (!jpeg || (job->location && !write_file (job, jpeg, &error)))
    fail (self, error);
  else if (job->posts)
    post (self, g_steal_pointer (&job->about), jpeg);
}

static void
take_job (gpointer data, gpointer user_data)
{
  Job *job = data;
  GstCclPictures *self = user_data;
  const gsize n_bytes = gst_buffer_get_size (gst_sample_get_buffer (job->sample));

  if (!g_atomic_int_get (&self->has_failed))
    encode (self, job);
  gst_sample_unref (job->sample);
  g_clear_pointer (&job->about, gst_structure_free);
  g_free (job->location);
  g_free (job);
  g_mutex_lock (&self->lock);
  self->n_waiting--;
  self->n_bytes -= n_bytes;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

GstCclPictures *
gst_ccl_pictures_new (GstElement *element)
{
  GstCclPictures *self = g_new0 (GstCclPictures, 1);

  self->element = element;
  self->pool = g_thread_pool_new (take_job, self, 1, FALSE, NULL);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  return self;
}

void
gst_ccl_pictures_free (GstCclPictures *self)
{
  g_thread_pool_free (self->pool, FALSE, TRUE);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self);
}

void
gst_ccl_pictures_push (GstCclPictures *self, GstSample *sample, GstStructure *about, guint64 number,
    const gchar *location, gboolean posts)
{
  Job *job = g_new (Job, 1);

  *job = (Job){sample, about, number, g_strdup (location), posts};
  g_mutex_lock (&self->lock);
  self->n_waiting++;
  self->n_bytes += gst_buffer_get_size (gst_sample_get_buffer (sample));
  g_mutex_unlock (&self->lock);
  g_thread_pool_push (self->pool, job, NULL);
}

void
gst_ccl_pictures_wait (GstCclPictures *self)
{
  g_mutex_lock (&self->lock);
  while (self->n_waiting > 0)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
}

gsize
gst_ccl_pictures_get_waiting (GstCclPictures *self)
{
  gsize n_bytes;

  g_mutex_lock (&self->lock);
  n_bytes = self->n_bytes;
  g_mutex_unlock (&self->lock);
  return n_bytes;
}

gboolean
gst_ccl_pictures_have_failed (GstCclPictures *self)
{
  return g_atomic_int_get (&self->is_posted);
}
