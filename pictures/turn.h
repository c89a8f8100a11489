/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "picture.h"

/* The picture as it is to be seen, by its orientation: itself, or one in a temporary file of as
 * many bytes as the samples have. Takes the picture, also if it fails. name: of its file. */
Picture *picture_turn (Picture *picture, const char *name, CclError *error);
