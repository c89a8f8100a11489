/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties as rows of a table: each row describes a property and names the field of a struct that
 * holds its value. Elements guard that struct with their object lock. */
#pragma once

#include <gst/gst.h>

/* The kinds of properties, and the types of their fields. */
typedef enum {
  GST_CCL_KIND_BOOLEAN, /* gboolean */
  GST_CCL_KIND_UINT,    /* guint */
  GST_CCL_KIND_INT,     /* gint */
  GST_CCL_KIND_DOUBLE,  /* gdouble */
  GST_CCL_KIND_ENUM,    /* gint, or an enumeration of that size */
  GST_CCL_KIND_FLAGS,   /* guint */
  GST_CCL_KIND_STRING,  /* gchar *, owned; NULL: not set */
  GST_CCL_KIND_STATS,   /* a GstStructure without a field, read-only */
} GstCclPropertyKind;

/* GStreamer reads -1 for a number without a sign as 2³² − 1: a maximum below 2³¹ has it refused. */
typedef struct {
  GstCclPropertyKind kind;
  gsize offset; /* of the field, bytes */
  const gchar *name, *nick, *blurb;
  gdouble minimum, maximum; /* of numbers */
  GType (*get_type) (void); /* of GST_CCL_KIND_ENUM and GST_CCL_KIND_FLAGS */
  GParamFlags flags;        /* in addition to those of its kind; one of the macros below */
  guint classes;            /* bits of the classes that have it, where several share a table */
  guint marks;              /* bits that the table's owner gives a meaning */
} GstCclProperty;

/* When a property may change. A controllable one may follow a GstControlSource. */
#define GST_CCL_CHANGES_IN_READY GST_PARAM_MUTABLE_READY
#define GST_CCL_CHANGES_IN_PLAYING GST_PARAM_MUTABLE_PLAYING
#define GST_CCL_CONTROLLABLE ((GParamFlags)(GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE))
#define GST_CCL_ALL_CLASSES G_MAXUINT

/* Installs the rows that a class has; for class_init. The property of row i has the number i + 1.
 * initial: a struct that holds the defaults. */
void gst_ccl_properties_install (GObjectClass *object_class, const GstCclProperty *rows, guint n,
    guint class_bit, gconstpointer initial);

/* Sets the field of a row. */
void gst_ccl_property_set (const GstCclProperty *row, gpointer fields, const GValue *value);

/* Gets the field of a row. FALSE for GST_CCL_KIND_STATS, which has none. */
gboolean gst_ccl_property_get (const GstCclProperty *row, gconstpointer fields, GValue *value);

/* Frees all strings. */
void gst_ccl_properties_clear (const GstCclProperty *rows, guint n, gpointer fields);

/* Defines a function that registers an enumeration when it is first called. Applications store the
 * numbers of values, so each one is explicit and must never change. */
#define GST_CCL_DEFINE_ENUM_TYPE(function, type_name, values)                                      \
  static GType function (void)                                                                     \
  {                                                                                                \
    static GType type = 0;                                                                         \
                                                                                                   \
    if (g_once_init_enter (&type))                                                                 \
      g_once_init_leave (&type, g_enum_register_static (type_name, values));                       \
    return type;                                                                                   \
  }
