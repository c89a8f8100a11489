/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tiled/ asks of labellers beyond the installed headers. */
#pragma once

#include <cudaccl/labeller.h>

/* Says that only two rows of the label maps of the next runs will be read, so that a labeller need
 * not write the others. NULL: all rows. Those that it leaves out have any content. */
void ccl_labeller_set_label_rows (CclLabeller *labeller, const uint32_t rows[2]);
