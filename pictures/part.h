/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "open.h"

/* The page and the channel of a picture that the options choose: the picture itself if they choose
 * none. Takes the picture, which may be NULL, also if it fails. name: of its file. */
Picture *picture_part (
    Picture *whole, const PictureOptions *options, const char *name, CclError *error);
