/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines about changes of the scene: what a camera shows after one. */
#pragma once

#include <glib.h>

#define WATCH_SCENE_USUAL "usual"

/* The scene after a change of a kind, of ccl's and cudaccl's messages `scene-change`: "moved",
 * "infrared", "covered" and "blinded" last; after all others, and NULL, it is WATCH_SCENE_USUAL. A
 * static string. */
const gchar *watch_scene_after (const gchar *kind);
