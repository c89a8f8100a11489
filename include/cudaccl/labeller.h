/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connected-component labelling of frames, on the CPU; device.h has the GPU's.
 *
 * A labeller is planned once for a frame size and then run on frame after frame. Planning
 * allocates everything. Running allocates nothing and, on a GPU, synchronises once.
 *
 *   CclLabellerPlan plan = CUDACCL_LABELLER_PLAN_DEFAULT;
 *   CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
 *   CclError error;
 *   plan.width = 1920;
 *   plan.height = 1080;
 *   CclLabeller *labeller = ccl_cpu_labeller_new (&plan, &error);
 *   for each frame:
 *     if (ccl_labeller_run (labeller, &frame, &options, NULL, &table, &error) == CUDACCL_OK)
 *       printf ("%u components\n", table.n_components);
 *   ccl_labeller_free (&labeller);
 *
 * Rules that hold for every header of this library:
 *
 * - CPU and GPU, and all algorithms, give identical output for the same frame: labels are 1…N in
 *   raster order of each component's first pixel, whatever the schedule of threads.
 * - Sizes and coordinates are in pixels, strides in bytes, unless a comment says otherwise.
 * - Any thread may use an object, one thread at a time. Different objects are independent of each
 *   other, also on one device.
 * - Arguments are checked. A function that fails returns its CclStatus, fills the CclError that
 *   it was given (NULL is allowed) and leaves its object usable.
 * - Plans and options need to live only for the call. For each of these structs, a macro
 *   CUDACCL_…_DEFAULT initialises all fields with defaults: those of the elements, of Python and of
 *   ccl-label. Fields that have no default, such as the size of frames, are 0 in it and must be
 *   set.
 * - Plans and options begin with their size, which CUDACCL_…_DEFAULT sets, so that later
 *   versions can add fields at the end: fields that a program was built without have their
 *   defaults. 0 stands for the size in version 0.3. A struct of newer headers than the library's
 *   is accepted only if its further bytes are 0.
 * - Functions that free take a pointer to the handle and set the handle to NULL. NULL, and a
 *   handle that is NULL, are allowed.
 *
 * Since: 0.2
 */
#ifndef CUDACCL_LABELLER_H
#define CUDACCL_LABELLER_H

#include <cudaccl/columns.h>
#include <cudaccl/version.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most pixels that a frame may have. Raw labels are pixel indices plus one in 32 bits, with
 * the upper bit left to the algorithms. */
#define CUDACCL_MAX_PIXELS INT32_MAX

typedef enum CclStatus {
  CUDACCL_OK = 0,
  CUDACCL_ERROR_ARGUMENT = 1,    /* an argument is outside its documented range */
  CUDACCL_ERROR_UNSUPPORTED = 2, /* unknown algorithm, or one that lacks the connectivity */
  CUDACCL_ERROR_NOT_FOUND = 3,   /* no driver, no such device, or a build without GPU support */
  CUDACCL_ERROR_NO_MEMORY = 4,   /* host or device memory exhausted */
  CUDACCL_ERROR_DEVICE = 5, /* a device call failed; the message names the call and the error */
  CUDACCL_ERROR_IO = 6,     /* a read, a write or a message to another process failed */
} CclStatus;

/* The name of a status, as "CUDACCL_ERROR_NO_MEMORY"; NULL for other numbers. A static string.
 * Thread safe. Since: 0.3 */
CUDACCL_API
const char *ccl_status_name (CclStatus status);

/* Why a function failed. The message is one line without a final full stop or newline. */
typedef struct CclError {
  CclStatus status;
  char message[256];
} CclError;

typedef enum CclConnectivity {
  CUDACCL_CONNECTIVITY_4 = 4, /* pixels that share an edge are neighbours */
  CUDACCL_CONNECTIVITY_8 = 8, /* pixels that share an edge or a corner are neighbours */
} CclConnectivity;

/* How a frame stores the value of a pixel, which is what thresholds are compared with. All rows and
 * strides are in bytes; CclFrame.data is the first byte of the frame, whatever the format.
 *
 * A format of more than 8 bits is read as its 16 bits are stored, wherever its bits are in them: a
 * sample of 10 bits in the upper bits of a word, as in P010, is a value of 0…65472 in steps of 64.
 * Since: 0.2 */
typedef enum CclPixelFormat {
  CUDACCL_PIXEL_FORMAT_8 = 0,       /* one byte per pixel, 0…255: GRAY8, NV12, I420 */
  CUDACCL_PIXEL_FORMAT_16 = 1,      /* two bytes, little-endian, 0…65535: GRAY16_LE, P010, P016 */
  CUDACCL_PIXEL_FORMAT_8_FIRST = 2, /* two bytes, of which the first is the value: YUY2, YVYU */
  CUDACCL_PIXEL_FORMAT_8_SECOND = 3, /* two bytes, of which the second is the value: UYVY, VYUY */

  /* Doubles, of intensities alone that ccl_tiled_run() and ccl_measure_volume_labels() measure.
   * Their sums are rounded. The measures of a component with a value that is not a number are not a
   * number. Since: 0.4 */
  CUDACCL_PIXEL_FORMAT_REAL = 4,
  CUDACCL_PIXEL_FORMAT_REAL_OR_NAN = 5 /* the same, but NaN stands for no value. Since: 0.4 */
} CclPixelFormat;

typedef enum CclLocation {
  CUDACCL_LOCATION_HOST = 0,   /* ordinary or pinned memory; a GPU labeller uploads the frame */
  CUDACCL_LOCATION_DEVICE = 1, /* memory of the labeller's device; GPU labellers only */
} CclLocation;

/* The properties of a labeller that are fixed when it is made. */
typedef struct CclLabellerPlan {
  size_t size;     /* of this struct in bytes, or 0 (labeller.h) */
  uint32_t width;  /* pixels, ≥ 1 */
  uint32_t height; /* pixels, ≥ 1; width × height ≤ CUDACCL_MAX_PIXELS */
  CclConnectivity connectivity;
  uint32_t max_components; /* rows of the component table, ≥ 1 */
  const char *algorithm;   /* a name from the backend's list of algorithms; NULL and "auto" select
                            * the fastest one that offers the connectivity and the frame size */
  uint32_t n_threads; /* CPU: the most threads that share a frame; 0 means as many as are useful for
                       * the frame size, at most one per processor that the affinity mask and the
                       * quotas of control groups leave to the process. A GPU ignores it. */
  CclPixelFormat format; /* of the frames; 0 is one byte per pixel */
  uint32_t columns; /* what to measure beyond CclComponent: flags of CclColumn, for frames of at
                     * most CUDACCL_MAX_FEATURE_SIDE pixels in width and height. 0: nothing,
                     * which costs nothing. Since: 0.3 */
  CclLocation table_location; /* of the rows and features of the tables; 0 is host memory. In the
                               * memory of a GPU they are for work that follows on its stream
                               * (ccl_cuda_labeller_get_table()): the host reads their number
                               * only. Since: 0.3 */
} CclLabellerPlan;

/* The defaults of CclLabellerPlan; width and height must be set. Since: 0.3 */
#define CUDACCL_LABELLER_PLAN_DEFAULT                                                              \
  {                                                                                                \
    .size = sizeof (CclLabellerPlan), .connectivity = CUDACCL_CONNECTIVITY_8,                      \
    .max_components = 4096                                                                         \
  }

/* The chroma of a frame, one byte per sample of u and of v, in two planes, interleaved in one, or
 * interleaved with the luma. A sample covers 1 << shift_x × 1 << shift_y pixels; the last one of a
 * row or column may cover fewer.
 *
 * Of samples of 16 bits, as in P010, only the upper bytes are used: u and v point to the upper byte
 * of the first samples, and step is 4. In frames of CUDACCL_PIXEL_FORMAT_16, a step of 4 always
 * means such samples, whose lower bytes may be read, too. */
typedef struct CclChroma {
  const void *u, *v;         /* the first samples; NULL: the frame has no chroma */
  size_t u_stride, v_stride; /* bytes from row to row */
  uint32_t step;             /* bytes from sample to sample: 1 in planes, 2 interleaved, 4 where two
                              * pixels of luma are between two samples, or interleaved samples of 16
                              * bits; 4 needs a shift_x of 1 or 2 */
  uint32_t shift_x;          /* 0…2 */
  uint32_t shift_y;          /* 0 or 1 */
} CclChroma;

/* A second plane of a frame, whose values are measured under each component: a grey picture, a
 * depth, a temperature. It has the frame's width, height and location. In device memory, values of
 * two bytes have an even address and an even stride. Since: 0.3 */
typedef struct CclIntensity {
  const void *data;      /* NULL: the frame has no such plane */
  size_t stride;         /* bytes, at least those of a row's values */
  CclPixelFormat format; /* CUDACCL_PIXEL_FORMAT_8 or CUDACCL_PIXEL_FORMAT_16 */
} CclIntensity;

/* A frame of the planned width, height and format. Only the bytes of its pixels are read. It
 * belongs to the caller and is never written. In device memory, frames of two bytes per pixel have
 * an even address and an even stride; all others may have any. */
typedef struct CclFrame {
  const void *data;
  size_t stride; /* bytes, at least those of a row's pixels */
  CclLocation location;
  CclChroma chroma; /* in the same location; only background models read it (foreground.h). Zeros:
                     * the frame has no chroma */
  CclIntensity intensity; /* needed with CUDACCL_COLUMN_INTENSITY, else not read. Since: 0.3 */
} CclFrame;

/* Settings that may differ from frame to frame. */
typedef struct CclLabellerOptions {
  size_t size;        /* of this struct in bytes, or 0 (labeller.h) */
  uint32_t threshold; /* a pixel is foreground when its value is greater; 0…255, and 0…65535 for
                       * CUDACCL_PIXEL_FORMAT_16 */
  bool invert;        /* swap foreground and background */
  uint32_t min_area;  /* components of fewer pixels get no label and no row; 0 and 1 keep all */
  uint32_t max_area;  /* components of more pixels get no label and no row; 0 means no limit */
} CclLabellerOptions;

/* The defaults of CclLabellerOptions. Since: 0.3 */
#define CUDACCL_LABELLER_OPTIONS_DEFAULT                                                           \
  {                                                                                                \
    .size = sizeof (CclLabellerOptions), .threshold = 0, .min_area = 1                             \
  }

/* The memory for the label map of a frame: one uint32_t per pixel, 0 for background. It belongs to
 * the caller; bytes of a row beyond 4 × width are not written. A GPU labeller takes device memory,
 * a CPU labeller host memory. Both must be aligned to 4 bytes. */
typedef struct CclLabels {
  void *data;
  size_t stride; /* bytes, ≥ 4 × width, a multiple of 4 */
} CclLabels;

/* One component. */
typedef struct CclComponent {
  uint32_t label;  /* 1…N in raster order of first pixels */
  uint32_t area;   /* pixels */
  uint32_t x, y;   /* upper left corner of the bounding box, inside the frame */
  uint32_t width;  /* of the bounding box, pixels, ≥ 1 */
  uint32_t height; /* of the bounding box, pixels, ≥ 1 */

  /* The mean coordinates of its pixels, whose centres are at integer coordinates: exact 64-bit sums
   * divided by the area, rounded once. */
  double centroid_x;
  double centroid_y;
} CclComponent;

/* Changes a component into what it is where each pixel of its mask becomes factor × factor pixels:
 * area, box and centroid are those that a labeller finds in the enlarged mask, to the last bit in
 * masks of up to 65535×65535 pixels, and the label stays. For masks of reduced size
 * (CclForegroundOptions.reduced_mask). component: its numbers must not exceed their types then.
 * factor: 1 or more. Thread safe. Since: 0.3 */
CUDACCL_API
void ccl_component_enlarge (CclComponent *component, uint32_t factor);

/* The component table of a frame. */
typedef struct CclTable {
  uint32_t n_components;    /* N: all components that pass the area filter */
  uint32_t n_rows;          /* rows of the table: the smaller of N and the plan's max_components */
  const CclComponent *rows; /* in label order; memory of the labeller at the plan's table_location,
                             * valid until its next run or until it is freed */
  const CclFeatures *features; /* as rows, of the plan's columns; NULL without any. Since: 0.3 */
} CclTable;

/* An opaque labeller. Since: 0.2 */
typedef struct CclLabeller CclLabeller;

/* Makes a labeller that runs on the CPU. Free it with ccl_labeller_free().
 *
 * Frames and label maps are host memory. Address space is reserved for the worst frame, some 22
 * bytes per pixel; memory is used only as far as frames need it, which for usual frames is less
 * than one byte per pixel.
 *
 * The environment variable CCL_CPU_INSTRUCTIONS ("portable", "avx2", "avx512" or "neon") overrides
 * the choice of instruction set for the algorithm "runs".
 *
 * Returns the labeller, or NULL with the error filled: CUDACCL_ERROR_ARGUMENT;
 * CUDACCL_ERROR_UNSUPPORTED (the algorithm is not in ccl_cpu_algorithms(), it lacks the
 * connectivity, or the processor lacks the requested instructions); CUDACCL_ERROR_NO_MEMORY. Thread
 * safe. Since: 0.2 */
CUDACCL_API
CclLabeller *ccl_cpu_labeller_new (const CclLabellerPlan *plan, CclError *error);

/* The names that CclLabellerPlan.algorithm may have on the CPU, ended by NULL; "auto" selects the
 * first. Static memory. Thread safe. Since: 0.2 */
CUDACCL_API
const char *const *ccl_cpu_algorithms (void);

/* Whether an algorithm of ccl_cpu_algorithms() offers the connectivity. Thread safe. Since: 0.2 */
CUDACCL_API
bool ccl_cpu_algorithm_offers (const char *algorithm, CclConnectivity connectivity);

/* Returns a line that tells people what an algorithm of ccl_cpu_algorithms() is, static memory;
 * NULL if it is none of them. Thread safe. Since: 0.3 */
CUDACCL_API
const char *ccl_cpu_algorithm_title (const char *algorithm);

/* Whether an algorithm of ccl_cpu_algorithms() lets several threads share a frame. The others
 * ignore CclLabellerPlan.n_threads. Thread safe. Since: 0.2 */
CUDACCL_API
bool ccl_cpu_algorithm_uses_threads (const char *algorithm);

/* Labels one frame and waits for the result.
 *
 * labels: the memory for the label map, or NULL for no label map, which saves its cost.
 * table: filled on success.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (nothing was read or written) or CUDACCL_ERROR_DEVICE.
 * Since: 0.2 */
CUDACCL_API
CclStatus ccl_labeller_run (CclLabeller *labeller, const CclFrame *frame,
    const CclLabellerOptions *options, const CclLabels *labels, CclTable *table, CclError *error);

/* Starts to label a frame as ccl_labeller_run() does. A GPU labeller only queues the work, so that
 * a program can queue a frame on each of several labellers and wait for all of them at once; those
 * of different streams run side by side. A CPU labeller labels the frame.
 *
 * Every frame that is queued has to be waited for with ccl_labeller_wait(), before the labeller
 * gets the next one. Until then frame and label map must stay valid, and the label map must not be
 * read.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (nothing was read or written; also if a frame is
 * queued already) or CUDACCL_ERROR_DEVICE; after an error no frame is queued. Since: 0.2 */
CUDACCL_API
CclStatus ccl_labeller_queue (CclLabeller *labeller, const CclFrame *frame,
    const CclLabellerOptions *options, const CclLabels *labels, CclError *error);

/* Waits for the frame of ccl_labeller_queue() and fills the table.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (no frame is queued) or CUDACCL_ERROR_DEVICE; after it
 * no frame is queued. Since: 0.2 */
CUDACCL_API
CclStatus ccl_labeller_wait (CclLabeller *labeller, CclTable *table, CclError *error);

/* Whether the frame of ccl_labeller_queue() is done, so that ccl_labeller_wait() returns without
 * waiting; also if it has failed, which ccl_labeller_wait() reports. It never waits itself: a
 * program with other work can ask now and then. true if no frame is queued, and for NULL.
 * Since: 0.3 */
CUDACCL_API
bool ccl_labeller_is_done (CclLabeller *labeller);

/* Changes the size of the next frames. The memory of the labeller is kept unless it is too small or
 * far too large: a program that labels crops of many sizes resizes one labeller. The rows of the
 * last table become invalid.
 *
 * width, height: as in CclLabellerPlan.
 *
 * Returns CUDACCL_OK; CUDACCL_ERROR_ARGUMENT (also if a frame is queued); CUDACCL_ERROR_UNSUPPORTED
 * (the labeller's algorithm cannot label frames of this size); CUDACCL_ERROR_NO_MEMORY;
 * CUDACCL_ERROR_DEVICE. After an error the frames keep their size. Since: 0.3 */
CUDACCL_API
CclStatus ccl_labeller_resize (
    CclLabeller *labeller, uint32_t width, uint32_t height, CclError *error);

/* The name of the algorithm that a labeller uses, which "auto" may have selected; a static string.
 * NULL for NULL. Since: 0.2 */
CUDACCL_API
const char *ccl_labeller_algorithm (const CclLabeller *labeller);

/* Computes what follows from the features of a component. Sums are combined as integers of 128
 * bits; each value is then rounded a few times, so it has a relative error of some 2⁻⁵⁰, and the
 * lesser eigenvalue and what follows from it one of some 2⁻⁵⁰ of the greater one.
 *
 * row, features: of the same component.
 * columns: flags of CclColumn, those that the features have. CUDACCL_COLUMN_MOMENTS includes
 *   CUDACCL_COLUMN_SUMS. Values of other columns are not a number.
 *
 * Thread safe. Since: 0.3 */
CUDACCL_API
void ccl_features_derive (
    const CclComponent *row, const CclFeatures *features, uint32_t columns, CclShape *shape);

/* Measures the labels of a label map, of whatever origin, on the CPU. A label may be in several
 * parts that do not touch.
 *
 * labels: width × height pixels in host memory; width and height 1…CUDACCL_MAX_FEATURE_SIDE, with
 * at most CUDACCL_MAX_PIXELS pixels. intensity: needed with CUDACCL_COLUMN_INTENSITY; NULL is
 * allowed otherwise. columns: flags of CclColumn, or 0 for rows alone. n: the labels 1…n are
 * measured; pixels with other labels count as background. rows: [n] filled; the row of a label
 * without pixels is all zeros. NULL: not wanted. features: [n] filled; NULL if columns is 0.
 *
 * It allocates some rows of pixels. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT or
 * CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.3 */
CUDACCL_API
CclStatus ccl_measure_labels (const CclLabels *labels, uint32_t width, uint32_t height,
    const CclIntensity *intensity, uint32_t columns, uint32_t n, CclComponent *rows,
    CclFeatures *features, CclError *error);

/* The most channels of ccl_measure_channels(). Since: 0.3 */
#define CUDACCL_MAX_CHANNELS 64

/* Measures the values of each channel of a picture under the labels of a label map, on the CPU: the
 * red, green and blue of a colour picture for the mean colour of each component.
 *
 * labels, width, height, n: as for ccl_measure_labels(). intensity: of a pixel n_channels values,
 * one after the other; stride: at least the bytes of a row's values. n_channels:
 * 1…CUDACCL_MAX_CHANNELS. features: [n_channels × n] filled, those of the first channel first: the
 * fields of CUDACCL_COLUMN_INTENSITY.
 *
 * It allocates some rows of pixels. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT or
 * CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.3 */
CUDACCL_API
CclStatus ccl_measure_channels (const CclLabels *labels, uint32_t width, uint32_t height,
    const CclIntensity *intensity, uint32_t n_channels, uint32_t n, CclFeatures *features,
    CclError *error);

/* Frees a labeller of any backend with all its memory, and sets the handle to NULL. It waits for a
 * frame that is queued. Since: 0.2 */
CUDACCL_API
void ccl_labeller_free (CclLabeller **labeller);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_LABELLER_H */
