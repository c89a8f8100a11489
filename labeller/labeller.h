/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The contract between those who label (cpu/, cuda/) and those who want frames labelled
 * (gst/, bench/, tests/).
 *
 * A labeller is planned once for a frame size and then run on frame after frame. Planning
 * allocates everything; running allocates nothing, and synchronises with a device at most once.
 *
 * House rules:
 *
 * - The result of a frame is unique. Labels are 1…N in raster order of each component's first
 *   pixel, so every labeller and every algorithm gives the same bits, whatever the schedule.
 * - Sizes and coordinates are in pixels, strides in bytes, unless a comment says otherwise.
 * - A labeller may be used from any thread, by one thread at a time. Different labellers are
 *   independent, also on one device.
 * - Arguments are checked. A function that fails says so in its CclStatus, fills the CclError
 *   that was passed (NULL is allowed) and leaves the labeller usable.
 */
#ifndef CCL_LABELLER_H
#define CCL_LABELLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most pixels a frame may have: raw labels are pixel indices plus one in 32 bits, with the
 * upper bit left to the algorithms. */
#define CCL_MAX_PIXELS INT32_MAX

typedef enum CclStatus {
  CCL_OK = 0,
  CCL_ERROR_ARGUMENT,    /* an argument is outside its documented range */
  CCL_ERROR_UNSUPPORTED, /* unknown algorithm, or one that lacks the connectivity */
  CCL_ERROR_NOT_FOUND,   /* no driver, no such device */
  CCL_ERROR_NO_MEMORY,   /* host or device memory exhausted */
  CCL_ERROR_DEVICE,      /* a device call failed; the message names the call and the error */
} CclStatus;

/* What went wrong. The message is one line without a final full stop or newline. */
typedef struct CclError {
  CclStatus status;
  char message[256];
} CclError;

typedef enum CclConnectivity {
  CCL_CONNECTIVITY_4 = 4, /* pixels that share an edge */
  CCL_CONNECTIVITY_8 = 8, /* pixels that share an edge or a corner */
} CclConnectivity;

/* What a labeller is planned for. */
typedef struct CclPlan {
  uint32_t width;  /* ≥ 1 */
  uint32_t height; /* ≥ 1; width × height ≤ CCL_MAX_PIXELS */
  CclConnectivity connectivity;
  uint32_t max_components; /* rows of the component table, ≥ 1 */
  const char *algorithm;   /* a name from the labeller's own list; NULL and "auto" let it choose.
                            * Need live only for the call. */
  uint32_t n_threads; /* CPU: threads that may share a frame, ≥ 1; 0 means 1. Ignored by GPUs. */
} CclPlan;

typedef enum CclLocation {
  CCL_LOCATION_HOST = 0, /* ordinary or pinned memory; on a GPU labeller the frame is uploaded */
  CCL_LOCATION_DEVICE,   /* memory of the labeller's device; GPU labellers only */
} CclLocation;

/* A frame of the planned width and height, one byte a pixel. Only width bytes of each row are
 * read. The caller keeps it; it is never written. */
typedef struct CclFrame {
  const void *data;
  size_t stride; /* ≥ width; any alignment */
  CclLocation location;
} CclFrame;

/* What may differ from frame to frame. */
typedef struct CclOptions {
  uint32_t threshold; /* 0…255: a pixel is foreground when its value is greater */
  bool invert;        /* swap foreground and background */
  uint32_t min_area;  /* components of fewer pixels get no label and no row; 0 and 1 keep all */
  uint32_t max_area;  /* components of more pixels get no label and no row; 0 means no limit */
} CclOptions;

/* Where the label map of a frame goes: one uint32_t a pixel, 0 for background. The caller keeps
 * the memory; bytes of a row beyond 4 × width are left alone. On a GPU labeller it must be
 * device memory, on the CPU ordinary memory, aligned to 4 bytes either way. */
typedef struct CclLabels {
  void *data;
  size_t stride; /* ≥ 4 × width, a multiple of 4 */
} CclLabels;

/* One component. */
typedef struct CclComponent {
  uint32_t label;    /* 1…N in raster order of first pixels */
  uint32_t area;     /* pixels */
  uint32_t x, y;     /* upper left corner of the bounding box, inside the frame */
  uint32_t width;    /* of the bounding box, ≥ 1 */
  uint32_t height;   /* of the bounding box, ≥ 1 */
  double centroid_x; /* exact 64-bit sum of x divided by area, rounded once; pixel centres are */
  double centroid_y; /* at integer coordinates */
} CclComponent;

/* The component table of a frame. */
typedef struct CclTable {
  uint32_t n_components;    /* N: all components that pass the area filter */
  uint32_t n_rows;          /* rows delivered: the smaller of N and the plan's max_components */
  const CclComponent *rows; /* in label order; host memory of the labeller, valid until its next
                             * run or its end */
} CclTable;

typedef struct CclLabeller CclLabeller;

/* What cpu/ and cuda/ implement. Called through the functions below only, which have checked
 * the arguments. */
typedef struct CclLabellerClass {
  const char *name; /* "cpu", "cuda" */
  CclStatus (*run) (CclLabeller *labeller, const CclFrame *frame, const CclOptions *options,
      const CclLabels *labels, CclTable *table, CclError *error);
  void (*free) (CclLabeller *labeller);
} CclLabellerClass;

/* The head of every implementation's own struct. */
struct CclLabeller {
  const CclLabellerClass *klass;
  CclPlan plan; /* algorithm: the name of the one chosen, a static string */
};

/* Labels one frame and waits for the result.
 *
 * labels: where the label map goes; NULL if none is wanted, which saves its cost.
 * table: filled on success.
 *
 * Errors: CCL_ERROR_ARGUMENT (nothing was read or written), CCL_ERROR_DEVICE. */
CclStatus ccl_labeller_run (CclLabeller *labeller, const CclFrame *frame, const CclOptions *options,
    const CclLabels *labels, CclTable *table, CclError *error);

/* Frees the labeller and all it allocated, and clears the handle. NULL and a handle that is
 * NULL already are fine. */
void ccl_labeller_free (CclLabeller **labeller);

/* For implementations: whether a plan is inside the ranges documented above (the algorithm's
 * name aside). */
CclStatus ccl_plan_check (const CclPlan *plan, CclError *error);

/* For implementations: fills the error (may be NULL) with a printf-style message and returns
 * its status. */
CclStatus ccl_error_set (CclError *error, CclStatus status, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

#ifdef __cplusplus
}
#endif

#endif /* CCL_LABELLER_H */
