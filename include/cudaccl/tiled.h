/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labelling of frames and volumes that are larger than memory, tile by tile, in one process or in
 * several that share the work. The rules of labeller.h hold, except that ccl_tiled_run() allocates.
 *
 * A layer is a row of a frame or a slice of a volume. A tile is a number of consecutive layers that
 * are labelled at once. The caller's functions read layers of pixels and take layers of labels and
 * rows of the component table; nothing else ever has the size of the picture.
 *
 * The picture is labelled twice: the first pass unites components across the seams between tiles,
 * the second one computes labels and rows. A picture of one tile is labelled once. With 4, 6 or 18
 * neighbours, and CUDACCL_COLUMN_PERIMETER or CUDACCL_COLUMN_TOPOLOGY, there is a pass between the
 * two, which measures components that touch seams.
 *
 * Several processes (ranks) each label a slab of consecutive layers. The slabs follow each other
 * in the order of the ranks, without gaps, and may be empty. Ranks exchange only the components
 * that touch the seams between slabs, by two of the caller's functions: send and receive. The
 * slabs are merged in a binary tree; each rank takes part in all calls, in about log2 (n_ranks)
 * rounds.
 *
 * The result is the same for every size of tiles, number of ranks and backend: labels are 1…N in
 * raster order of each component's first pixel.
 *
 * Since: 0.2
 */
#ifndef CUDACCL_TILED_H
#define CUDACCL_TILED_H

#include <cudaccl/columns.h>
#include <cudaccl/device.h>
#include <cudaccl/labeller.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to label. */
typedef struct CclTiledPlan {
  size_t size;           /* of this struct in bytes, or 0 (labeller.h) */
  uint64_t width;        /* pixels, 1…UINT32_MAX */
  uint64_t height;       /* pixels, 1…UINT32_MAX */
  uint64_t depth;        /* slices, 1…UINT32_MAX; 1 for frames */
  uint32_t connectivity; /* frames: 4 or 8; volumes: 6, 18 or 26 */
  uint32_t threshold;    /* 0…255: a pixel is foreground when its value is greater */
  bool invert;           /* swap foreground and background */
  uint64_t min_area;     /* components of fewer pixels get no label and no row; 0 and 1 keep all */
  uint64_t max_area;     /* components of more pixels get no label and no row; 0 means no limit */
  uint64_t first_layer;  /* of the slab of this process */
  uint64_t n_layers;     /* of that slab; 0 only if there are several ranks */
  uint64_t tile_layers;  /* layers per tile; 0 derives it from memory */
  uint64_t memory;       /* bytes that tiles and scratch memory may take in the worst case; 0 means
                          * 1 GiB. A tile has at least one layer and at most CUDACCL_MAX_PIXELS pixels. */
  uint32_t n_threads;    /* CPU: as in CclLabellerPlan */
  uint32_t label_bytes;  /* of a label in the label map: 4 or 8; 0 means 4, or 8 if N ≥ 2^32 */
  CclCudaDevice *device; /* labels tiles on this GPU; NULL: on the CPU */
  const char *scratch_folder; /* components that touch a seam, about 96 bytes each, with columns
                               * 320, are kept in an unnamed file of this folder; NULL: in memory */
  uint32_t columns; /* what to measure beyond CclTiledComponent: flags of CclColumn. Components are
                     * measured on the CPU in any case. A perimeter is one of frames. 0:
                     * nothing, which costs nothing. Since: 0.3 */
  CclPixelFormat intensity_format; /* of the second plane, with CUDACCL_COLUMN_INTENSITY:
                                    * CUDACCL_PIXEL_FORMAT_8 or CUDACCL_PIXEL_FORMAT_16, or one of
                                    * doubles, whose measures depend on tiles and ranks in their
                                    * last digits (since 0.4). Since: 0.3 */
  bool clears_border; /* components that touch the border of the picture get no label and no row;
                       * in volumes the first and the last slice are border, too. Since: 0.4 */
} CclTiledPlan;

/* The defaults of CclTiledPlan, for a frame; width, height and n_layers must be set. Since: 0.3 */
#define CUDACCL_TILED_PLAN_DEFAULT                                                                 \
  {                                                                                                \
    .size = sizeof (CclTiledPlan), .depth = 1, .connectivity = 8, .min_area = 1,                   \
    .memory = (uint64_t)1 << 30                                                                    \
  }

/* One component. */
typedef struct CclTiledComponent {
  uint64_t label;                /* 1…N in raster order of first pixels */
  uint64_t area;                 /* pixels */
  uint64_t x, y, z;              /* the corner of the bounding box with the least coordinates */
  uint64_t width, height, depth; /* of the bounding box, pixels, ≥ 1 */

  /* The mean coordinates of its pixels, whose centres are at integer coordinates: exact 64-bit sums
   * divided by the area, rounded once. */
  double centroid_x;
  double centroid_y;
  double centroid_z;
} CclTiledComponent;

/* The caller's functions. They are called in the thread of ccl_tiled_run(). Those that return a
 * status return CUDACCL_OK, or fill the error and return CUDACCL_ERROR_IO; then the run fails.
 * Functions without a comment on NULL are required. */
typedef struct CclTiledIo {
  void *data; /* the first argument of each function */

  /* Reads n_layers layers of one byte per pixel, without padding, into pixels. It is called in
   * each pass for each layer, in order, and must read the same pixels. With
   * CUDACCL_COLUMN_PERIMETER or CUDACCL_COLUMN_TOPOLOGY, up to two layers before and after the
   * slab are read in the same way. */
  CclStatus (*read) (
      void *data, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error);

  /* Called before labels and rows: N of the whole picture, the first label of this process, the
   * number of its labels, and the bytes of a label. NULL is allowed. */
  CclStatus (*begin) (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
      uint32_t label_bytes, CclError *error);

  /* Takes n_layers layers of the label map, without padding: uint32_t or uint64_t. Called in order
   * of layers, a few megabytes at a time. NULL: no label map. */
  CclStatus (*write) (
      void *data, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error);

  /* Takes the next n rows of the component table, in label order. A component belongs to the
   * process whose slab has its first pixel. NULL: no table. */
  CclStatus (*rows) (void *data, const CclTiledComponent *rows, size_t n, CclError *error);

  /* Reports progress: how many layers are labelled, over all passes. NULL is allowed. */
  void (*progress) (void *data, uint64_t done, uint64_t total);

  /* Reads n_layers layers of the second plane, of the plan's intensity_format and without padding;
   * words and doubles are in this machine's byte order. As often as the layers of the slab are
   * read. Required with CUDACCL_COLUMN_INTENSITY. Since: 0.3 */
  CclStatus (*read_values) (
      void *data, uint64_t first_layer, uint64_t n_layers, void *values, CclError *error);

  /* Called in place of rows if the plan has columns: the next n rows and their measures.
   * Values of columns that are not in the plan are not a number. NULL: no table. Since: 0.3 */
  CclStatus (*measured) (void *data, const CclTiledComponent *rows, const CclVolumeShape *shapes,
      size_t n, CclError *error);
} CclTiledIo;

/* The transport between processes. Messages between two ranks arrive in the order in which they are
 * sent. A send may wait for its receive.
 *
 * A function that fails fills the error and returns CUDACCL_ERROR_IO; it has then sent or received
 * nothing. It is called once more for the same message, because the other rank waits for it: so a
 * function that fails once makes all ranks return its error. If it fails again, it is not called
 * for that rank any more, and abort is called. */
typedef struct CclTiledPeers {
  void *data;
  uint32_t rank;    /* of this process, < n_ranks */
  uint32_t n_ranks; /* 1…2^20 */
  CclStatus (*send) (void *data, uint32_t to, const void *bytes, uint64_t size, CclError *error);
  CclStatus (*receive) (void *data, uint32_t from, void *bytes, uint64_t size, CclError *error);

  /* Called at most once, when a rank cannot be reached that may wait for this one: ends its wait,
   * in that its functions fail, as those of a broken connection do by themselves, or ends all
   * processes, as MPI_Abort() does. NULL is allowed; such a rank then waits until its own transport
   * fails. Since: 0.3 */
  void (*abort) (void *data);
} CclTiledPeers;

/* The number of components, and the cost of a run. */
typedef struct CclTiledResult {
  uint64_t n_components;      /* N of the whole picture */
  uint64_t n_tiles;           /* of this process */
  uint64_t n_seam_components; /* of this process: components of tiles that touch a seam */
  uint64_t bytes_sent;        /* to other ranks */
  uint32_t n_messages;        /* to other ranks */
} CclTiledResult;

/* Labels a picture, or this process's slab of one. All ranks must call it with plans that differ
 * in first_layer, n_layers, tile_layers, memory, n_threads, device and scratch_folder only.
 *
 * peers: NULL for one process. result: filled on success; NULL is allowed.
 *
 * If a rank fails before the last pass, all ranks return its error. A failure in the last pass,
 * which begins with the message that brings a rank its labels, is returned by its own rank only. A
 * rank that cannot be reached any more makes the others fail, unless they have their labels.
 *
 * Returns CUDACCL_OK; CUDACCL_ERROR_ARGUMENT; CUDACCL_ERROR_UNSUPPORTED (a layer is larger than
 * CUDACCL_MAX_PIXELS, the sums of coordinates could exceed 64 bits, or N needs more than
 * label_bytes); CUDACCL_ERROR_NO_MEMORY; CUDACCL_ERROR_DEVICE; CUDACCL_ERROR_IO (a function of the
 * caller's failed, the pixels changed between the passes, or the scratch file cannot grow). Thread
 * safe. Since: 0.2 */
CUDACCL_API
CclStatus ccl_tiled_run (const CclTiledPlan *plan, const CclTiledIo *io, const CclTiledPeers *peers,
    CclTiledResult *result, CclError *error);

/* Finds the squared Euclidean distance of each pixel of the foreground to the nearest pixel outside
 * its component, which is one of the background, and 0 for background: the exact integers of
 * ccl_label_distances() (distance.h), whatever the tiles. For one process.
 *
 * plan: size, connectivity, threshold, invert, tile_layers, memory and scratch_folder, in whose
 * file a number for each place in a layer and tile is kept. The CPU works in one thread. io: read
 * is called twice for each layer, in order; write is required and takes layers of squared
 * distances, after begin, whose label_bytes is their size: uint32_t, CUDACCL_NO_DISTANCE where
 * there is no background; uint64_t, UINT64_MAX there, if the squared diagonal
 * (width - 1)² + (height - 1)² + (depth - 1)² is CUDACCL_NO_DISTANCE or more. The other numbers of
 * begin are 0, and rows and measured are not called.
 *
 * Memory: nine bytes for each pixel of a tile, and some 20 for one of a layer. Returns what
 * ccl_tiled_run() returns; CUDACCL_ERROR_UNSUPPORTED if the squared diagonal is 2⁶² or more. Thread
 * safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_tiled_distances (const CclTiledPlan *plan, const CclTiledIo *io, CclError *error);

/* The same for the labels of a map, whose pixels may touch: the squared distance of each pixel to
 * the nearest one with another label, background or not, and 0 for background.
 *
 * io: read_values is required in place of read, and reads layers of labels: uint32_t without
 * padding, 0 for background. It is called twice for each layer, in order. All else is as above; the
 * plan's threshold and invert are not read, and memory is four bytes more for a pixel of a layer.
 * Since: 0.4 */
CUDACCL_API
CclStatus ccl_tiled_label_distances (
    const CclTiledPlan *plan, const CclTiledIo *io, CclError *error);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_TILED_H */
