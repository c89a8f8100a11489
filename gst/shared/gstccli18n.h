/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages in the user's language: _() translates a text, N_() marks one that is translated later.
 * Texts of gst_ccl_error_set() are marked by that function's name. */
#pragma once

#define GETTEXT_PACKAGE "gst-ccl-1.0" /* as in po/meson.build */

#include <glib/gi18n-lib.h>
