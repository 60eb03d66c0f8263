#ifndef PHI_AVX2_H
#define PHI_AVX2_H
#include <immintrin.h>

#include "../lanes.h"

// Number of tokens whose sums fit into registers.
#define TOKENS 5
// Prefetch distance in bytes for weights that are used once: the hardware alone stops at every page.
#define AHEAD 4096
// Otherwise the next block's weights are prefetched, evenly in at most so many passes over this one.
#define FETCHES 8

// Prefetch of the next line, with its stride, and the stride after a group.
typedef struct {
    const uint8_t *at;
    size_t line, group;
} Fetch;

INLINE __m256 load_scales8(const uint8_t *p, uint32_t float_type) {
    switch (float_type) {
    case PHI_F16: return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
    case PHI_BF16:
        return _mm256_castsi256_ps(
            _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16));
    default: return _mm256_loadu_ps((const float *)p);
    }
}

INLINE __m256i quad(const int8_t *p) {
    int32_t bytes;
    memcpy(&bytes, p, 4);
    return _mm256_set1_epi32(bytes);
}
#endif
