/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <cudaccl/tiled.h>

#include "phases.h"
#include "label/output/processes.h"

/* Prints time, memory and messages of a run, over all ranks, to standard error as a line of JSON;
 * of the phases, the mean of the ranks. Collective. */
void statistics_print (
    const Processes *processes, const Phases *phases, const CclTiledResult *result);
