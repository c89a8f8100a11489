/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run labeller for AArch64, whose processors all have NEON. */
#include "cpu/measure/measure-scalar.h"
#include "cpu/pixels/pack-neon.h"
#include "runs-scalar.h"

#define extract_bits extract_bits_scalar
#define list_columns list_columns_scalar

/* The bytes of label i in a vector of four. */
#define LABEL(i) 4 * (i), 4 * (i) + 1, 4 * (i) + 2, 4 * (i) + 3
#define LABELS(a, b, c, d)                                                                         \
  {                                                                                                \
    LABEL (a), LABEL (b), LABEL (c), LABEL (d)                                                     \
  }

/* The labels of four columns, by the starts in them: the number of starts up to each column. Runs
 * are at least two columns apart, so no more than two start. */
static const uint8_t label_bytes[16][16] = {
    [0x0] = LABELS (0, 0, 0, 0),
    [0x1] = LABELS (1, 1, 1, 1),
    [0x2] = LABELS (0, 1, 1, 1),
    [0x4] = LABELS (0, 0, 1, 1),
    [0x5] = LABELS (1, 1, 2, 2),
    [0x8] = LABELS (0, 0, 0, 1),
    [0x9] = LABELS (1, 1, 1, 2),
    [0xa] = LABELS (0, 1, 1, 2),
};

static inline void
expand (uint32_t *out, uint32_t n, uint64_t pixels, uint64_t starts, const uint32_t *labels)
{
  static const uint32_t column_bits[4] = {1, 2, 4, 8};
  const uint32x4_t column_bit = vld1q_u32 (column_bits);

  if (n < 64) {
    expand_scalar (out, n, pixels, starts, labels);
    return;
  }
  for (int i = 0; i < 64; i += 4, pixels >>= 4, starts >>= 4) {
    const uint8x16_t candidates = vreinterpretq_u8_u32 (vld1q_u32 (labels));
    const uint8x16_t label = vqtbl1q_u8 (candidates, vld1q_u8 (label_bytes[starts & 15]));
    const uint32x4_t is_foreground = vtstq_u32 (vdupq_n_u32 ((uint32_t)pixels), column_bit);
    vst1q_u32 (out + i, vandq_u32 (vreinterpretq_u32_u8 (label), is_foreground));
    labels += (starts & 1) + (starts >> 1 & 1) + (starts >> 2 & 1) + (starts >> 3 & 1);
  }
}

#define RUN_LABELLER run_labeller_neon
#define RUN_LABELLER_NAME "neon"
#include "runs.h"
