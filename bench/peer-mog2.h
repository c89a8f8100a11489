/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What OpenCV does with a camera's frame on the CPU: MOG2, a filter, labelling with statistics. */
#ifndef BENCH_PEER_MOG2_H
#define BENCH_PEER_MOG2_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PeerMog2 PeerMog2;

/* For luma frames without padding, on one thread, without shadows. denoise: as CclDenoise. */
PeerMog2 *peer_mog2_new (uint32_t width, uint32_t height, int denoise);
void peer_mog2_free (PeerMog2 *peer);

/* "OpenCV 4.6.0" */
const char *peer_mog2_version (void);

/* The three steps, each of which works on what the one before left. */
void peer_mog2_model (PeerMog2 *peer, const uint8_t *pixels);
void peer_mog2_denoise (PeerMog2 *peer);
uint32_t peer_mog2_label (PeerMog2 *peer); /* returns the number of components */

#ifdef __cplusplus
}
#endif

#endif /* BENCH_PEER_MOG2_H */
