/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contours of components: the outer boundary and the holes of each, as ordered closed polygons.
 * The rules of labeller.h hold.
 *
 *   CclContoursPlan plan = CUDACCL_CONTOURS_PLAN_DEFAULT;
 *   plan.width = 1920;
 *   plan.height = 1080;
 *   CclContours *contours = ccl_cpu_contours_new (&plan, &error);
 *   CclContourTable table;
 *   ccl_contours_of_frame (contours, &frame, &options, &table, &error);
 *   for (uint32_t i = 0; i < table.n_contours; i++)
 *     draw (table.points + table.rows[i].first_point, table.rows[i].n_points);
 *   ccl_contours_free (&contours);
 *
 * Since: 0.3
 */
#ifndef CUDACCL_CONTOURS_H
#define CUDACCL_CONTOURS_H

#include <cudaccl/labeller.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most pixels of frames with contours. With them, all numbers of points have 32 bits, but for
 * one label map (ccl_contours_of_labels()). Since: 0.3 */
#define CUDACCL_MAX_CONTOUR_PIXELS (1 << 30)

/* The greatest width and height of frames with contours. Since: 0.4, before
 * CUDACCL_MAX_FEATURE_SIDE */
#define CUDACCL_MAX_CONTOUR_SIDE (1 << 29)

/* The parent of a contour that is in no other one. Since: 0.3 */
#define CUDACCL_NO_CONTOUR UINT32_MAX

/* What the points of a contour are. Since: 0.3 */
typedef enum CclContourKind {
  /* The pixels of the component along its boundary, each a step to one of the 8 neighbours from the
   * one before; thin parts are passed once on each side. With 8-connectivity they are the points of
   * OpenCV's findContours() with RETR_CCOMP and CHAIN_APPROX_NONE, in its order. */
  CUDACCL_CONTOUR_PIXELS = 0,
  /* The corners of the boundary between the pixels, in the coordinates of pixel corners: pixel (x,
   * y) is the square from (x, y) to (x + 1, y + 1). Edges are horizontal and vertical in turn. The
   * area of the polygon, without its holes, is the number of pixels inside. */
  CUDACCL_CONTOUR_CRACKS = 1,
} CclContourKind;

/* The properties of an object that finds contours. Since: 0.3 */
typedef struct CclContoursPlan {
  size_t size;     /* of this struct in bytes, or 0 (labeller.h) */
  uint32_t width;  /* pixels, 1…CUDACCL_MAX_CONTOUR_SIDE */
  uint32_t height; /* pixels, as the width; width × height ≤ CUDACCL_MAX_CONTOUR_PIXELS */
  CclConnectivity connectivity; /* of the components */
  CclContourKind kind;
  CclPixelFormat format; /* of frames; 0 is one byte per pixel */
} CclContoursPlan;

/* The defaults of CclContoursPlan; width and height must be set. Since: 0.3 */
#define CUDACCL_CONTOURS_PLAN_DEFAULT                                                              \
  {                                                                                                \
    .size = sizeof (CclContoursPlan), .connectivity = CUDACCL_CONNECTIVITY_8                       \
  }

/* A point of a contour: a pixel, or a corner of pixels. Since: 0.3 */
typedef struct CclContourPoint {
  int32_t x, y;
} CclContourPoint;

/* One contour. Since: 0.3 */
typedef struct CclContour {
  uint32_t component;   /* the component's label: 1…N, or that of the label map */
  uint32_t parent;      /* the index of the contour that directly surrounds this one: of a hole the
                         * outer contour of its component, of an outer contour the hole that it is
                         * in, or CUDACCL_NO_CONTOUR */
  uint32_t first_point; /* an index into CclContourTable.points */
  uint32_t n_points;    /* ≥ 1 */
  uint32_t is_hole;     /* 0: the outer contour of its component, 1: a hole in it */
} CclContour;

/* The contours of a frame.
 *
 * Contours are in raster order of their starts: of an outer contour the first pixel of its
 * component, of a hole the first pixel of the hole. So outer contours are in label order, unless a
 * label map is numbered in another way, and a parent comes before what it surrounds. The points of
 * a contour follow those of the one before.
 *
 * An outer contour begins at its start, or at the upper left corner of that pixel, and goes down
 * its left side: counter-clockwise, as it is seen with y pointing downwards. A hole is passed
 * clockwise, with the component on the left-hand side, too. As cracks it begins at the upper left
 * corner of its first pixel, as pixels at the pixel to the left of that. The last point is joined
 * to the first one, which is not repeated.
 *
 * Since: 0.3 */
typedef struct CclContourTable {
  uint32_t n_components;         /* outer contours; a label in several parts has several */
  uint32_t n_contours;           /* outer contours and holes */
  uint32_t n_points;             /* of all contours together */
  const CclContour *rows;        /* [n_contours]; host memory of the object, valid until its next */
  const CclContourPoint *points; /* [n_points]    run or until it is freed */
} CclContourTable;

/* An opaque object that finds contours in frames of one size. Since: 0.3 */
typedef struct CclContours CclContours;

/* Makes an object that finds contours on the CPU, with one thread. Free it with
 * ccl_contours_free().
 *
 * Address space is reserved for the worst label map, some 100 bytes per pixel; memory is used only
 * as far as frames need it.
 *
 * Returns the object, or NULL with the error filled: CUDACCL_ERROR_ARGUMENT,
 * CUDACCL_ERROR_UNSUPPORTED (the environment variable CCL_CPU_INSTRUCTIONS names instructions that
 * the processor lacks) or CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.3 */
CUDACCL_API
CclContours *ccl_cpu_contours_new (const CclContoursPlan *plan, CclError *error);

/* Finds the contours of a frame's components, without labelling it.
 *
 * options: threshold and invert are used; min_area must be 0 or 1 and max_area 0.
 * table: filled on success.
 *
 * Returns CUDACCL_OK or CUDACCL_ERROR_ARGUMENT (nothing was read or written). Since: 0.3 */
CUDACCL_API
CclStatus ccl_contours_of_frame (CclContours *contours, const CclFrame *frame,
    const CclLabellerOptions *options, CclContourTable *table, CclError *error);

/* Finds the contours of each label of a label map by itself, as if the pixels with that label were
 * the only foreground. Pixels of a label that are not connected are parts, each with an outer
 * contour. All contours of a label have it as their component.
 *
 * The parent of an outer contour is the innermost hole, of any label, in which its first pixel is,
 * as the contour that passes the left side of that pixel's row has it. With 8-connectivity, labels
 * that cross at a corner may be in a hole and outside it.
 *
 * labels: of any origin, with the plan's width and height; 0 is background. Labels may touch.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (nothing was read or written; or there are more than
 * 2³² - 1 points) or, on a GPU, CUDACCL_ERROR_NO_MEMORY. Since: 0.3; labels that touch, and
 * components named by their labels, since 0.4 */
CUDACCL_API
CclStatus ccl_contours_of_labels (
    CclContours *contours, const CclLabels *labels, CclContourTable *table, CclError *error);

/* Frees the object with all its memory, and sets the handle to NULL. Since: 0.3 */
CUDACCL_API
void ccl_contours_free (CclContours **contours);

/* Leaves points of a closed polygon out, by the method of Douglas and Peucker: no point that is
 * left out is farther than the tolerance from the edge that replaces it. The first point stays, and
 * that farthest from it.
 *
 * points: [n], n ≥ 1, with coordinates of at most ±2²⁹. tolerance: pixels, ≥ 0; 0 leaves out points
 * on straight lines only. simplified: [n] filled; may be points.
 *
 * It allocates a bit per point. Returns the number of points that stay, ≥ 1, or 0 if there is no
 * memory or an argument is out of range. Thread safe. Since: 0.3 */
CUDACCL_API
uint32_t ccl_contour_simplify (
    const CclContourPoint *points, uint32_t n, double tolerance, CclContourPoint *simplified);

/* Twice the signed area of a closed polygon: positive for outer contours of components, negative
 * for holes. Coordinates are at most ±2²⁹. Thread safe. Since: 0.3 */
CUDACCL_API
int64_t ccl_contour_area_2 (const CclContourPoint *points, uint32_t n);

/* Makes polygons of contours: simple rings, none of which passes a corner twice, with the area of
 * the contours. Programs that read polygons, such as GEOS, call others invalid.
 *
 * table: contours as cracks of an object with 4-connectivity. With 8-connectivity, polygons whose
 *   pixels touch at corners only would have rings that touch more than once; take the contours of
 *   the label map with 4-connectivity instead, where such a component is several polygons of one
 *   label.
 * rows: [n_points / 4 of the table], filled: the rings, in the order of components, those of a
 *   polygon one behind the other, its outer ring first. parent is the index of a hole's outer ring.
 * points: [n_points of the table], filled; the arrays must not be those of the table.
 * n_rings: filled on success.
 *
 * It allocates some 36 bytes per point of the longest contour. Returns CUDACCL_OK,
 * CUDACCL_ERROR_ARGUMENT or CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_contour_rings (const CclContourTable *table, CclContour *rows,
    CclContourPoint *points, uint32_t *n_rings, CclError *error);

/* The convex hull of points. Since: 0.3 */
typedef struct CclHull {
  uint32_t n_points; /* corners; 1 and 2 for a point and a line */
  double area;       /* exact, unless it is greater than 2⁵² */
  double feret_max;  /* the greatest distance between two corners */
  double feret_min;  /* the least distance of two parallel lines with the hull between them */
} CclHull;

/* Measures the convex hull of the points of an outer contour. With CUDACCL_CONTOUR_CRACKS it is the
 * hull of the component's pixels as squares, so that solidity is the component's area divided by
 * the hull's.
 *
 * points: [n], n ≥ 1, with coordinates of at most ±2²⁹. corners: [n] filled with the n_points
 * corners, counter-clockwise as seen with y pointing downwards, from the leftmost one, the upper
 * one of two; or NULL.
 *
 * It allocates copies of the points. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT or
 * CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.3 */
CUDACCL_API
CclStatus ccl_contour_hull (const CclContourPoint *points, uint32_t n, CclHull *hull,
    CclContourPoint *corners, CclError *error);

/* Measures the convex hull of the pixels of a label, as squares, in a label map of whatever origin:
 * the hull of its contours as cracks.
 *
 * labels: the map, of which the pixels in the bounding box are read. row: of the component; label
 * and box are used, inside the map, with pixels of the label in the first and the last row.
 *
 * It allocates some points for each row of the box. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (an
 * empty box) or CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.3 */
CUDACCL_API
CclStatus ccl_label_hull (
    const CclLabels *labels, const CclComponent *row, CclHull *hull, CclError *error);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_CONTOURS_H */
