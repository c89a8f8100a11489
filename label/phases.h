/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time that a rank spends in each phase of its work. A rank is always in exactly one phase, so
 * the times add up to the whole. */
#pragma once

#include <cudaccl/tiled.h>

#include <time.h>

typedef enum Phase {
  PHASE_OPEN,     /* inputs and outputs are opened */
  PHASE_DEVICE,   /* the GPU is opened: the driver creates a context */
  PHASE_READ,     /* pixels are read and converted; with filters, the mask is made */
  PHASE_LABEL,    /* tiles are labelled and their components numbered */
  PHASE_EXCHANGE, /* the rank sends to others, or waits for them */
  PHASE_MAP,      /* the label map is written */
  PHASE_TABLE,    /* the component table is written */
  PHASE_CLOSE,    /* outputs are completed; ranks wait for each other */
  N_PHASES
} Phase;

typedef struct Phases {
  Phase phase; /* the present one */
  struct timespec since;
  double seconds[N_PHASES]; /* of the phases that have ended */
  const CclTiledPeers *peers;
} Phases;

/* The name of a phase in the statistics. */
const char *phase_name (Phase phase);

/* Begins with PHASE_OPEN. */
void phases_init (Phases *phases);

/* Ends the present phase and begins another one. Returns the one that has ended. */
Phase phases_enter (Phases *phases, Phase phase);

/* The time since phases_init(), in seconds. */
double phases_total (const Phases *phases);

/* The same messages, with PHASE_EXCHANGE while one is sent or received. Both arguments must outlive
 * the result. */
CclTiledPeers phases_watch_peers (Phases *phases, const CclTiledPeers *peers);
