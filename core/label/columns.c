/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <cudaccl/columns.h>
#include <cudaccl/labeller.h>
#include <cudaccl/tiled.h>
#include <cudaccl/volume.h>

/* The structs have the listed columns and nothing else. */
#define FIELD_32(field, key) uint32_t field;
#define FIELD_64(field, key) uint64_t field;
#define FIELD_REAL(field, key) double field;
#define ASSERT_FRAME(field, key)                                                                   \
  _Static_assert(offsetof (FrameColumns, field) == offsetof (CclComponent, field), #field);
#define ASSERT_TILED(field, key)                                                                   \
  _Static_assert(offsetof (TiledColumns, field) == offsetof (CclTiledComponent, field), #field);

typedef struct FrameColumns {
  CUDACCL_COLUMNS (FIELD_32, FIELD_REAL, CUDACCL_NO_COLUMN, CUDACCL_NO_COLUMN)
} FrameColumns;

typedef struct VolumeColumns {
  CUDACCL_COLUMNS (FIELD_32, FIELD_REAL, FIELD_32, FIELD_REAL)
} VolumeColumns;

typedef struct TiledColumns {
  CUDACCL_COLUMNS (FIELD_64, FIELD_REAL, FIELD_64, FIELD_REAL)
} TiledColumns;

CUDACCL_COLUMNS (ASSERT_FRAME, ASSERT_FRAME, CUDACCL_NO_COLUMN, CUDACCL_NO_COLUMN)
CUDACCL_COLUMNS (ASSERT_TILED, ASSERT_TILED, ASSERT_TILED, ASSERT_TILED)
_Static_assert(sizeof (FrameColumns) == sizeof (CclComponent), "CclComponent");
_Static_assert(sizeof (VolumeColumns) == sizeof (CclVolumeComponent), "CclVolumeComponent");
_Static_assert(sizeof (TiledColumns) == sizeof (CclTiledComponent), "CclTiledComponent");
