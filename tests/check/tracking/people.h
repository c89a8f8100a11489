/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two drawn people in different clothes who meet. */
#pragma once

#include "tests/check/shared/frames.h"

#define PEOPLE_WIDTH 320
#define PEOPLE_HEIGHT 120
#define PEOPLE_RATE 25
#define PEOPLE_EMPTY 60 /* frames before they come */
#define PEOPLE_MEET 50  /* frames later they are one component */
#define PEOPLE_END 110  /* frames later they are apart again */

/* Where a person's left edge is, so many frames after they came. They walk towards each other,
 * stand together, and walk on or turn: the picture of their union is the same. */
static inline guint
place_of_person (guint person, guint frame, gboolean turn)
{
  const guint way = 2 * MIN (frame, PEOPLE_MEET - 2) +
                    (frame > 70 && !turn ? 2 * (frame - 70) : 0) -
                    (frame > 70 && turn ? 2 * (frame - 70) : 0);
  return person == 0 ? 60 + way : 260 - way;
}

/* Fills a rectangle with luma, u and v, in the layout of info. */
static inline void
fill_box (const GstVideoInfo *info, guint8 *data, guint left, guint top, guint width, guint height,
    const guint8 colour[3])
{
  const GstVideoFormatInfo *format = info->finfo;

  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++) {
    const guint plane = GST_VIDEO_FORMAT_INFO_PLANE (format, i);
    const guint sub_x = GST_VIDEO_FORMAT_INFO_W_SUB (format, i);
    const guint sub_y = GST_VIDEO_FORMAT_INFO_H_SUB (format, i);
    guint8 *first = data + GST_VIDEO_INFO_PLANE_OFFSET (info, plane) +
                    (gsize)GST_VIDEO_FORMAT_INFO_POFFSET (format, i);

    for (guint y = top >> sub_y; y < (top + height) >> sub_y; y++)
      for (guint x = left >> sub_x; x < (left + width) >> sub_x; x++)
        first[y * (gsize)GST_VIDEO_INFO_PLANE_STRIDE (info, plane) +
              x * (gsize)GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i)] = colour[i];
  }
}

/* Draws a frame of 8 bits. */
static inline void
draw_people (const GstVideoInfo *info, guint8 *data, guint frame, gboolean turn)
{
  static const guint8 ground[] = {100, 128, 128};
  static const guint8 clothes[2][3][3] = {{{50, 128, 128}, {160, 100, 190}, {60, 120, 130}},
      {{190, 110, 140}, {50, 180, 105}, {170, 128, 128}}};
  static const guint tops[] = {52, 60, 80, 100};

  fill_box (info, data, 0, 0, PEOPLE_WIDTH, PEOPLE_HEIGHT, ground);
  for (guint person = 0; frame >= PEOPLE_EMPTY && person < 2; person++)
    for (guint part = 0; part < 3; part++)
      fill_box (info, data, place_of_person (person, frame - PEOPLE_EMPTY, turn), tops[part], 16,
          tops[part + 1] - tops[part], clothes[person][part]);
}

/* The identity of the track in the middle of a person, or 0. */
static inline guint64
id_of_person (GstBuffer *buffer, guint place)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  guint64 id = 0;

  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);

    if (c->x <= place + 8 && c->x + c->width > place + 8)
      id = gst_ccl_meta_get_track (meta, i)->id;
  }
  return id;
}

/* Pushes the frames that new_frame makes, and tells whether both people have the same identities
 * before and after. */
static inline gboolean
people_keep_identities (GstHarness *h, GstBuffer *(*new_frame) (gpointer, guint, gboolean),
    gpointer data, gboolean turn)
{
  guint64 before[2] = {0}, after[2] = {0};

  for (guint i = 0; i < PEOPLE_EMPTY + PEOPLE_END; i++) {
    GstBuffer *frame = new_frame (data, i, turn), *out;

    GST_BUFFER_PTS (frame) = i * (GST_SECOND / PEOPLE_RATE);
    out = gst_harness_push_and_pull (h, frame);
    for (guint person = 0; person < 2 && i >= PEOPLE_EMPTY; person++) {
      const guint64 id = id_of_person (out, place_of_person (person, i - PEOPLE_EMPTY, turn));

      if (i == PEOPLE_EMPTY + PEOPLE_MEET - 15)
        before[person] = id;
      after[person] = id;
    }
    gst_buffer_unref (out);
  }
  fail_unless (before[0] && before[1] && before[0] != before[1]);
  return before[0] == after[0] && before[1] == after[1];
}
