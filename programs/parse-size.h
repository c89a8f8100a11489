/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the programs have in common. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The units that parse_size() takes, for messages. */
#define SIZE_UNITS "K, M, G, T (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024)"

/* Parses a number of bytes such as 4096, 1.5G or 2GiB, in any locale. K, M, G and T, with or
 * without a B, are powers of 1000; Ki, Mi, Gi and Ti, with or without a B, are powers of 1024.
 * Capitals do not matter. Fractions of a byte are rounded. Returns false for other text, and for
 * 2^60 bytes and more. */
bool parse_size (const char *text, uint64_t *bytes);
