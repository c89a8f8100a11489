/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run labeller for x86-64 processors with AVX2 and BMI2. */
#include "cpu/measure/measure-avx2.h"
#include "cpu/pixels/pack-avx2.h"
#include "runs-scalar.h"

static inline uint64_t
extract_bits (uint64_t word, uint64_t mask)
{
  return _pext_u64 (word, mask);
}

static inline void
list_columns (uint32_t *out, uint64_t word, uint32_t first)
{
  /* Eight at a time, some too many, so that the end of the loop is seldom mispredicted. */
  while (word) {
    for (int i = 0; i < 8; i++) {
      *out++ = first + (uint32_t)_tzcnt_u64 (word);
      word = _blsr_u64 (word);
    }
  }
}

static inline void
expand (uint32_t *out, uint32_t n, uint64_t pixels, uint64_t starts, const uint32_t *labels)
{
  const __m256i column_bits = _mm256_setr_epi32 (1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i columns_up_to = _mm256_setr_epi32 (1, 3, 7, 15, 31, 63, 127, 255);
  const __m256i nibble = _mm256_set1_epi32 (15);
  const __m256i bits_of_nibble = _mm256_setr_epi8 (0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
      0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);

  if (n < 64) {
    expand_scalar (out, n, pixels, starts, labels);
    return;
  }
  for (int i = 0; i < 64; i += 8, pixels >>= 8, starts >>= 8) {
    /* The index of the label of each of eight columns, by counting starts. */
    const __m256i before = _mm256_and_si256 (_mm256_set1_epi32 ((int)starts), columns_up_to);
    const __m256i index =
        _mm256_add_epi32 (_mm256_shuffle_epi8 (bits_of_nibble, _mm256_and_si256 (before, nibble)),
            _mm256_shuffle_epi8 (bits_of_nibble, _mm256_srli_epi32 (before, 4)));
    const __m256i candidates = _mm256_loadu_si256 ((const __m256i *)labels);
    const __m256i label = _mm256_permutevar8x32_epi32 (candidates, index);
    const __m256i is_background = _mm256_cmpeq_epi32 (
        _mm256_and_si256 (_mm256_set1_epi32 ((int)pixels), column_bits), _mm256_setzero_si256 ());
    _mm256_storeu_si256 ((__m256i *)(out + i), _mm256_andnot_si256 (is_background, label));
    labels += __builtin_popcount (starts & 0xff);
  }
}

#define HAS_STREAMING_STORES true

static inline void
stream_row (uint32_t *out, const uint32_t *labels, uint32_t n)
{
  uint32_t i = 0;

  for (; i < n && (uintptr_t)(out + i) % 64; i++)
    out[i] = labels[i];
  for (; i + 16 <= n; i += 16) {
    const __m256i *line = (const __m256i *)(labels + i);
    _mm256_stream_si256 ((__m256i *)(out + i), _mm256_loadu_si256 (line));
    _mm256_stream_si256 ((__m256i *)(out + i + 8), _mm256_loadu_si256 (line + 1));
  }
  for (; i < n; i++)
    out[i] = labels[i];
}

static inline void
end_streaming (void)
{
  _mm_sfence ();
}

#define RUN_LABELLER run_labeller_avx2
#define RUN_LABELLER_NAME "avx2"
#include "runs.h"
