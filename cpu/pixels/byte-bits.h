/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bits of bytes for processors without an instruction for it. */
#ifndef CUDACCL_CPU_BYTE_BITS_H
#define CUDACCL_CPU_BYTE_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A bit for each of size bytes, which are 0 or 0xff; a multiple of 8, at most 64. */
static inline uint64_t
bits_of_byte_words (const void *bytes, size_t size)
{
  uint64_t bits = 0;
  for (size_t i = 0; i < size / 8; i++) {
    uint64_t word;
    memcpy (&word, (const uint8_t *)bytes + 8 * i, sizeof word);
    bits |= ((word & UINT64_C (0x0101010101010101)) * UINT64_C (0x0102040810204080) >> 56) << 8 * i;
  }
  return bits;
}

#endif /* CUDACCL_CPU_BYTE_BITS_H */
