/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether what the program will write has a place. Nothing is made. */
#pragma once

#include "config.h"

/* The folder of pictures and clips, the state file and the files of outputs. FALSE and a message of
 * one line if one of them cannot be made or written. */
gboolean watch_places_check (const WatchConfig *config, GError **error);
