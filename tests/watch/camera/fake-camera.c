/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loaded before the C library, this is a Video4Linux2 camera, /dev/video99, without a kernel
 * module: YUYV frames of 160×120 pixels, 25 per second, in which a white square moves over black.
 * As long as the file exists that the environment variable UNPLUGGED names, the camera is not
 * there.
 *
 * It answers only what v4l2src needs of a camera that streams by mmap(). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define PATH "/dev/video99"
#define WIDTH 160
#define HEIGHT 120
#define RATE 25
#define STRIDE (2 * WIDTH)
#define SIZE (STRIDE * HEIGHT)
#define MAX_BUFFERS 32
#define MAX_FILES 4096
#define PAGES(bytes) (((bytes) + 4095) / 4096 * 4096)

static _Atomic char is_camera[MAX_FILES]; /* by file descriptor: a timer, readable for each frame */
static int memory = -1;                   /* of all buffers */
static unsigned char *pixels;
static unsigned n_buffers, n_frames;
static unsigned queue[MAX_BUFFERS], n_queued;
static const char *unplugged;

__attribute__ ((constructor)) static void
find_path (void)
{
  unplugged = getenv ("UNPLUGGED");
}

static int
is_plugged (void)
{
  return !unplugged || access (unplugged, F_OK) != 0;
}

static int
fail (int error)
{
  errno = error;
  return -1;
}

int
open64 (const char *path, int flags, ...)
{
  int (*next) (const char *, int, ...) = dlsym (RTLD_NEXT, "open64");
  va_list arguments;
  mode_t mode;
  int file;

  va_start (arguments, flags);
  mode = va_arg (arguments, mode_t);
  va_end (arguments);
  if (strcmp (path, PATH) != 0)
    return next (path, flags, mode);
  if (!is_plugged ())
    return fail (ENOENT);
  file = timerfd_create (CLOCK_MONOTONIC, TFD_CLOEXEC);
  if (file >= 0 && file < MAX_FILES)
    is_camera[file] = 1;
  return file;
}

int
stat64 (const char *path, struct stat64 *status)
{
  int (*next) (const char *, struct stat64 *) = dlsym (RTLD_NEXT, "stat64");

  if (strcmp (path, PATH) != 0)
    return next (path, status);
  if (!is_plugged ())
    return fail (ENOENT);
  *status = (struct stat64){.st_mode = S_IFCHR | 0600, .st_rdev = makedev (81, 99)};
  return 0;
}

int
dup (int file)
{
  int (*next) (int) = dlsym (RTLD_NEXT, "dup");
  int copy = next (file);

  if (copy >= 0 && copy < MAX_FILES && file < MAX_FILES)
    is_camera[copy] = is_camera[file];
  return copy;
}

int
close (int file)
{
  int (*next) (int) = dlsym (RTLD_NEXT, "close");

  if (file >= 0 && file < MAX_FILES)
    is_camera[file] = 0;
  return next (file);
}

void *
mmap64 (void *address, size_t length, int protection, int flags, int file, off64_t offset)
{
  void *(*next) (void *, size_t, int, int, int, off64_t) = dlsym (RTLD_NEXT, "mmap64");

  if (file >= 0 && file < MAX_FILES && is_camera[file])
    file = memory;
  return next (address, length, protection, flags, file, offset);
}

static void
describe_format (struct v4l2_format *format)
{
  format->fmt.pix = (struct v4l2_pix_format){.width = WIDTH,
      .height = HEIGHT,
      .pixelformat = V4L2_PIX_FMT_YUYV,
      .field = V4L2_FIELD_NONE,
      .bytesperline = STRIDE,
      .sizeimage = SIZE,
      .colorspace = V4L2_COLORSPACE_SMPTE170M};
}

static int
request_buffers (struct v4l2_requestbuffers *request)
{
  if (request->memory != V4L2_MEMORY_MMAP)
    return fail (EINVAL);
  if (pixels)
    munmap (pixels, n_buffers * PAGES (SIZE));
  if (memory >= 0)
    close (memory);
  pixels = NULL;
  memory = -1;
  n_queued = 0;
  n_buffers = request->count = request->count > MAX_BUFFERS ? MAX_BUFFERS : request->count;
  if (n_buffers == 0)
    return 0;
  memory = memfd_create ("camera", MFD_CLOEXEC);
  if (memory < 0 || ftruncate (memory, n_buffers * PAGES (SIZE)) != 0)
    return -1;
  pixels = mmap (NULL, n_buffers * PAGES (SIZE), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  return pixels == MAP_FAILED ? -1 : 0;
}

static void
describe_buffer (struct v4l2_buffer *buffer)
{
  buffer->length = SIZE;
  buffer->m.offset = buffer->index * PAGES (SIZE);
  buffer->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
  buffer->field = V4L2_FIELD_NONE;
}

static void
draw (unsigned char *frame)
{
  unsigned left = n_frames * 2 % (WIDTH - 40);

  for (unsigned i = 0; i < SIZE; i++)
    frame[i] = i % 2 ? 128 : 16;
  for (unsigned y = 40; y < 80; y++)
    for (unsigned x = left; x < left + 40; x++)
      frame[y * STRIDE + 2 * x] = 235;
}

static int
dequeue (int file, struct v4l2_buffer *buffer)
{
  struct timespec now;
  unsigned long long n;

  if (read (file, &n, sizeof n) < 0)
    return -1;
  if (!is_plugged ())
    return fail (ENODEV);
  if (n_queued == 0)
    return fail (EAGAIN);
  buffer->index = queue[0];
  memmove (queue, queue + 1, --n_queued * sizeof *queue);
  describe_buffer (buffer);
  draw (pixels + buffer->m.offset);
  clock_gettime (CLOCK_MONOTONIC, &now);
  buffer->timestamp = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  buffer->bytesused = SIZE;
  buffer->sequence = n_frames++;
  return 0;
}

static int
stream (int file, int on)
{
  const long interval = on ? 1000000000 / RATE : 0;
  struct itimerspec time = {{0, interval}, {0, interval}};

  n_queued = on ? n_queued : 0;
  return timerfd_settime (file, 0, &time, NULL);
}

/* Whether the enumeration of one member is asked for it. */
static int
only (unsigned index)
{
  return index == 0 ? 0 : fail (EINVAL);
}

static int
answer (int file, unsigned long request, void *argument)
{
  if (!is_plugged ())
    return fail (ENODEV);
  switch (request) {
  case VIDIOC_QUERYCAP:
    *(struct v4l2_capability *)argument = (struct v4l2_capability){.driver = "fake",
        .card = "fake camera",
        .capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING | V4L2_CAP_DEVICE_CAPS,
        .device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING};
    return 0;
  case VIDIOC_ENUMINPUT:
    ((struct v4l2_input *)argument)->type = V4L2_INPUT_TYPE_CAMERA;
    return only (((struct v4l2_input *)argument)->index);
  case VIDIOC_G_INPUT:
    *(int *)argument = 0;
    return 0;
  case VIDIOC_S_INPUT:
    return only ((unsigned)*(int *)argument);
  case VIDIOC_ENUM_FMT:
    ((struct v4l2_fmtdesc *)argument)->pixelformat = V4L2_PIX_FMT_YUYV;
    return only (((struct v4l2_fmtdesc *)argument)->index);
  case VIDIOC_ENUM_FRAMESIZES: {
    struct v4l2_frmsizeenum *sizes = argument;

    sizes->type = V4L2_FRMSIZE_TYPE_DISCRETE;
    sizes->discrete = (struct v4l2_frmsize_discrete){WIDTH, HEIGHT};
    return only (sizes->index);
  }
  case VIDIOC_ENUM_FRAMEINTERVALS: {
    struct v4l2_frmivalenum *intervals = argument;

    intervals->type = V4L2_FRMIVAL_TYPE_DISCRETE;
    intervals->discrete = (struct v4l2_fract){1, RATE};
    return only (intervals->index);
  }
  case VIDIOC_G_FMT:
  case VIDIOC_TRY_FMT:
  case VIDIOC_S_FMT:
    describe_format (argument);
    return 0;
  case VIDIOC_G_PARM:
  case VIDIOC_S_PARM: {
    struct v4l2_captureparm *capture = &((struct v4l2_streamparm *)argument)->parm.capture;

    capture->capability = V4L2_CAP_TIMEPERFRAME;
    capture->timeperframe = (struct v4l2_fract){1, RATE};
    return 0;
  }
  case VIDIOC_REQBUFS:
    return request_buffers (argument);
  case VIDIOC_QUERYBUF:
    describe_buffer (argument);
    return 0;
  case VIDIOC_QBUF:
    queue[n_queued++] = ((struct v4l2_buffer *)argument)->index;
    return 0;
  case VIDIOC_DQBUF:
    return dequeue (file, argument);
  case VIDIOC_STREAMON:
  case VIDIOC_STREAMOFF:
    return stream (file, request == VIDIOC_STREAMON);
  case VIDIOC_QUERYCTRL:
  case VIDIOC_G_CTRL:
    return fail (EINVAL);
  default:
    return fail (ENOTTY);
  }
}

int
ioctl (int file, unsigned long request, ...)
{
  int (*next) (int, unsigned long, ...) = dlsym (RTLD_NEXT, "ioctl");
  va_list arguments;
  void *argument;

  va_start (arguments, request);
  argument = va_arg (arguments, void *);
  va_end (arguments);
  return file >= 0 && file < MAX_FILES && is_camera[file] ? answer (file, request, argument)
                                                          : next (file, request, argument);
}
