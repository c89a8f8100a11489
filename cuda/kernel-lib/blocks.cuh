/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks of 2×2 pixels. All foreground pixels of a block belong to one component when corners
 * connect, so a block is labelled as if it were a pixel.
 *
 * A block X is connected to a neighbour through the pixels around it. Counting those of the 4×4
 * square that has X in its middle in raster order, 0 to 15, X holds 5, 6, 9 and 10; the block P
 * to its upper left shows pixel 0, Q above it 1 and 2, R to its upper right 3, S to its left 4
 * and 8 (TPDS 2020, figures 2 and 7).
 */
#pragma once

/* The information byte (TPDS 2020, table 1): bits 0 to 3 are the foreground pixels of the block
 * in raster order; bits 4 to 7 the neighbours it is connected to. */
#define BLOCK_PIXELS 0x0fu
#define BLOCK_P 0x10u
#define BLOCK_Q 0x20u
#define BLOCK_R 0x40u
#define BLOCK_S 0x80u
