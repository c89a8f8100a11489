/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loaded before the C library, this is a machine on which libav decodes one frame at a time: all
 * decoders take turns, and each frame takes the microseconds of the environment variable
 * FRAME_TIME. It uses no processor time, so a test does not depend on the machine that it runs on.
 * As long as the file exists that the environment variable FAST names, the machine is as it is.
 * The file that the environment variable DECODED names gets a byte for each frame. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static unsigned n_waiting, n_served;

typedef int SendPacket (void *context, const void *packet);
static SendPacket *send_packet;

static void
wait_for_the_turn (const char *frame_time)
{
  unsigned number;

  pthread_mutex_lock (&lock);
  number = n_waiting++;
  while (n_served != number)
    pthread_cond_wait (&turn, &lock);
  pthread_mutex_unlock (&lock);
  usleep (atoi (frame_time));
  pthread_mutex_lock (&lock);
  n_served++;
  pthread_cond_broadcast (&turn);
  pthread_mutex_unlock (&lock);
}

/* The library belongs to a plugin, so RTLD_NEXT does not find it. */
static int
find_libavcodec (struct dl_phdr_info *info, size_t size, void *data)
{
  void **library = data;

  if (strstr (info->dlpi_name, "/libavcodec.so"))
    *library = dlopen (info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  return *library != NULL;
}

static void
find_function (void)
{
  void *library = NULL;

  dl_iterate_phdr (find_libavcodec, &library);
  send_packet = (SendPacket *)dlsym (library, "avcodec_send_packet");
}

static void
count_frame (const char *path)
{
  const int file = open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

  if (file < 0 || write (file, ".", 1) != 1)
    abort ();
  close (file);
}

SendPacket avcodec_send_packet;

int
avcodec_send_packet (void *context, const void *packet)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const char *path = getenv ("FAST"), *frame_time = getenv ("FRAME_TIME");

  if (packet && getenv ("DECODED"))
    count_frame (getenv ("DECODED"));
  if (frame_time && (!path || access (path, F_OK) != 0))
    wait_for_the_turn (frame_time);
  pthread_once (&once, find_function);
  return send_packet (context, packet);
}
