/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <cudaccl/labeller.h>

/* Refuses an output that is a file that is read, another output, or a folder: by device and inode,
 * whatever the links between their names. inputs: files, or folders whose files are read. Outputs
 * need not exist. NULL is allowed in both lists. */
bool check_output_names (char *const *inputs, uint32_t n_inputs, const char *const *outputs,
    uint32_t n_outputs, CclError *error);
