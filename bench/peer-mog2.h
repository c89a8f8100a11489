/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OpenCV's MOG2, noise filters and labelling with statistics on the CPU. */
#ifndef BENCH_PEER_MOG2_H
#define BENCH_PEER_MOG2_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PeerMog2 PeerMog2;

/* Luma frames without padding, one thread, no shadows. denoise: a CclDenoise. */
PeerMog2 *peer_mog2_new (uint32_t width, uint32_t height, int denoise);
void peer_mog2_free (PeerMog2 *peer);

/* "OpenCV 4.6.0" */
const char *peer_mog2_version (void);

/* The three steps; each works on the result of the one before. */
void peer_mog2_model (PeerMog2 *peer, const uint8_t *pixels);
void peer_mog2_denoise (PeerMog2 *peer);
uint32_t peer_mog2_label (PeerMog2 *peer); /* returns the number of components */

#ifdef __cplusplus
}
#endif

#endif /* BENCH_PEER_MOG2_H */
