/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row of the component table, and the track that a component belongs to. */
#ifndef __GST_CCL_COMPONENT_H__
#define __GST_CCL_COMPONENT_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_COMPONENT (gst_ccl_component_get_type ())
#define GST_TYPE_CCL_TRACK_INFO (gst_ccl_track_info_get_type ())
#define GST_TYPE_CCL_TRACK_STATE (gst_ccl_track_state_get_type ())

typedef struct _GstCclComponent GstCclComponent;
typedef struct _GstCclTrackInfo GstCclTrackInfo;

/**
 * GstCclTrackState:
 * @GST_CCL_TRACK_STATE_TENTATIVE: the track is too young to be reported as certain
 * @GST_CCL_TRACK_STATE_CONFIRMED: the track was seen often enough
 * @GST_CCL_TRACK_STATE_STATIC: a confirmed track that has not moved for a while
 * @GST_CCL_TRACK_STATE_LOST: a confirmed track that is not visible now; the box is a prediction
 *
 * The state of the track that a component belongs to.
 *
 * Since: 0.2
 */
typedef enum {
  GST_CCL_TRACK_STATE_TENTATIVE = 1,
  GST_CCL_TRACK_STATE_CONFIRMED = 2,
  GST_CCL_TRACK_STATE_STATIC = 3,
  GST_CCL_TRACK_STATE_LOST = 4,
} GstCclTrackState;

/**
 * GstCclComponent:
 * @label: 1…N in raster order of the components' first pixels; the value of the component's
 *   pixels in the label map
 * @area: number of pixels in the frame that was labelled; scaling and cropping the video do not
 *   change it
 * @x: left edge of the bounding box, pixels
 * @y: upper edge of the bounding box, pixels
 * @width: width of the bounding box, pixels, at least 1
 * @height: height of the bounding box, pixels, at least 1
 * @centroid_x: mean x of the component's pixels; pixel centres are at integer coordinates. Where
 *   the video was cropped, it is still the mean of all pixels and can lie outside the frame
 * @centroid_y: mean y of the component's pixels
 *
 * One connected component. gst_ccl_meta_get_track() has its track.
 *
 * The structure keeps its fields and its size in all versions of the library: every labelled frame
 * writes one for each component, so room that is not used would cost time. Further properties of
 * components come as rows of their own, as those of tracks do.
 *
 * Since: 0.2
 */
struct _GstCclComponent {
  guint32 label;
  guint32 area;
  guint32 x;
  guint32 y;
  guint32 width;
  guint32 height;
  gdouble centroid_x;
  gdouble centroid_y;
};

/**
 * GstCclTrackInfo:
 * @id: identity of the track, unique in the life of the tracking element
 * @parent_id: the track that this track split from; 0 when there is none
 * @velocity_x: pixels to the right per frame
 * @velocity_y: pixels downwards per frame
 * @age: frames since the track began
 * @state: state of the track
 * @first_id: where in the metadata's identities those of this component begin, see
 *   gst_ccl_meta_get_ids()
 * @n_ids: how many tracks are in this component: more than one after tracks merged
 * @position_x: position on the ground in metres, see gst_ccl_track_info_get_position(). Since: 0.3
 * @position_y: its other coordinate. Since: 0.3
 * @position_deviation: standard deviation of the position in metres, in the direction in which it
 * is least certain; 0 when position and speed are not known. Since: 0.3
 * @speed_deviation: standard deviation of the speed in km/h. Since: 0.3
 * @ground_velocity_x: metres per second in the direction of @position_x. Since: 0.3
 * @ground_velocity_y: metres per second in the direction of @position_y. Since: 0.3
 *
 * The track that a row of the component table belongs to. The structure keeps its size in all
 * versions of the library; applications set fields that they do not know to zero.
 *
 * Since: 0.2
 */
struct _GstCclTrackInfo {
  guint64 id;
  guint64 parent_id;
  gfloat velocity_x;
  gfloat velocity_y;
  guint32 age;
  GstCclTrackState state;
  guint32 first_id;
  guint32 n_ids;
  gdouble position_x;
  gdouble position_y;
  gfloat position_deviation;
  gfloat speed_deviation;
  gfloat ground_velocity_x;
  gfloat ground_velocity_y;
};

GST_CCL_API
GType gst_ccl_component_get_type (void);

GST_CCL_API
GType gst_ccl_track_info_get_type (void);

GST_CCL_API
GType gst_ccl_track_state_get_type (void);

GST_CCL_API
GstCclComponent *gst_ccl_component_copy (const GstCclComponent *component);

GST_CCL_API
void gst_ccl_component_free (GstCclComponent *component);

GST_CCL_API
GstCclTrackInfo *gst_ccl_track_info_copy (const GstCclTrackInfo *track);

GST_CCL_API
void gst_ccl_track_info_free (GstCclTrackInfo *track);

GST_CCL_API
gboolean gst_ccl_track_info_get_position (
    const GstCclTrackInfo *track, gdouble *x, gdouble *y, gdouble *deviation);

GST_CCL_API
gboolean gst_ccl_track_info_get_speed (
    const GstCclTrackInfo *track, gdouble *speed, gdouble *deviation);

G_END_DECLS

#endif /* __GST_CCL_COMPONENT_H__ */
