#ifndef PHI_AVX512_H
#define PHI_AVX512_H
#include <immintrin.h>

#include "../lanes.h"

// 16 scales or biases as floats.
INLINE __m512 phi_scales512(const uint8_t *p, uint32_t float_type) {
    switch (float_type) {
    case PHI_F16: return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
    case PHI_BF16:
        return _mm512_castsi512_ps(
            _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)), 16));
    default: return _mm512_loadu_ps(p);
    }
}

// Prefetches the KV cache, which is read contiguously in four streams, into the first-level cache if it is `near`, or
// the second.
INLINE void phi_fetch_kv(const void *line, ptrdiff_t ahead, const int near) {
    if (near)
        _mm_prefetch((const char *)line + ahead, _MM_HINT_T0);
    else
        _mm_prefetch((const char *)line + ahead, _MM_HINT_T1);
}

// Calls DO with constants for `count` and for whether lines are fetched near; 1 KB ahead where no head is fetched.
#define PHI_EACH_COUNT(DO)                                                                                 \
    if (!cache->fetches_heads) ahead = 1024;                                                               \
    switch (count + (cache->fetches_heads == 1 ? 4 : 0)) {                                                 \
    case 1: DO(1, 0); break;                                                                               \
    case 2: DO(2, 0); break;                                                                               \
    case 3: DO(3, 0); break;                                                                               \
    case 4: DO(4, 0); break;                                                                               \
    case 5: DO(1, 1); break;                                                                               \
    case 6: DO(2, 1); break;                                                                               \
    case 7: DO(3, 1); break;                                                                               \
    default: DO(4, 1);                                                                                     \
    }

INLINE __m512i phi_quad512(const void *p) {
    int32_t bytes;
    memcpy(&bytes, p, 4);
    return _mm512_set1_epi32(bytes);
}

INLINE void phi_store_lanes512(const int8_t *bytes, uint8_t *to) {
    const __m512i spread = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)bytes));
    _mm512_mask_storeu_epi8(to, 0x1111111111111111, spread);
}

INLINE void phi_dots512(const int8_t *const *queries, const int count, const PhiKVHead *cache, const uint8_t *keys,
                        size_t positions, ptrdiff_t ahead, const int near, int32_t (*out)[64]) {
    const size_t part = cache->part_bytes, dims = cache->dims;
    const __m512i zero = _mm512_setzero_si512();
    for (size_t p = 0; p < positions; p += 16, keys += part) {
        // Four sums a query, so that they are independent.
        __m512i sums[4][4];
        for (int q = 0; q < count; q++) sums[q][0] = sums[q][1] = sums[q][2] = sums[q][3] = zero;
        for (size_t d = 0; d < dims; d += 16)
            for (size_t i = 0; i < 4; i++) {
                const uint8_t *line = keys + d * 16 + i * 64;
                const __m512i k = _mm512_loadu_si512(line);
                phi_fetch_kv(line, ahead, near);
                for (int q = 0; q < count; q++)
                    sums[q][i] = _mm512_dpbusd_epi32(sums[q][i], k, phi_quad512(queries[q] + d + 4 * i));
            }
        for (int q = 0; q < count; q++)
            _mm512_storeu_si512(out[q] + p, _mm512_add_epi32(_mm512_add_epi32(sums[q][0], sums[q][1]),
                                                             _mm512_add_epi32(sums[q][2], sums[q][3])));
    }
}

INLINE void phi_key_dots512(const int8_t *const *queries, int count, const PhiKVHead *cache, const uint8_t *keys,
                            size_t positions, ptrdiff_t ahead, int32_t (*out)[64]) {
#define DOTS(n, near) phi_dots512(queries, n, cache, keys, positions, ahead, near, out)
    PHI_EACH_COUNT(DOTS)
#undef DOTS
}

INLINE void phi_weighted512(const uint8_t (*weights)[64], const int count, const PhiKVHead *cache,
                            const int8_t *values, size_t positions, ptrdiff_t ahead, const int near,
                            const float *scales, float *const *to) {
    const size_t part = cache->part_bytes, dims = cache->dims;
    for (size_t d = 0; d < dims; d += 16, values += 256) {
        __m512i sums[4][2];
        for (int q = 0; q < count; q++) sums[q][0] = sums[q][1] = _mm512_setzero_si512();
        const int8_t *line = values;
        for (size_t p = 0; p < positions; p += 16, line += part)
            for (size_t i = 0; i < 4; i++) {
                const __m512i v = _mm512_loadu_si512(line + i * 64);
                phi_fetch_kv(line + i * 64, ahead, near);
                for (int q = 0; q < count; q++)
                    sums[q][i % 2] = _mm512_dpbusd_epi32(sums[q][i % 2], phi_quad512(weights[q] + p + 4 * i), v);
            }
        for (int q = 0; q < count; q++) {
            const __m512 sum = _mm512_cvtepi32_ps(_mm512_add_epi32(sums[q][0], sums[q][1]));
            _mm512_storeu_ps(to[q] + d, _mm512_fmadd_ps(sum, _mm512_set1_ps(scales[q]), _mm512_loadu_ps(to[q] + d)));
        }
    }
}

INLINE void phi_weighted_values512(const uint8_t (*weights)[64], int count, const PhiKVHead *cache,
                                   const int8_t *values, size_t positions, ptrdiff_t ahead, const float *scales,
                                   float *const *to) {
#define WEIGHTED(n, near) phi_weighted512(weights, n, cache, values, positions, ahead, near, scales, to)
    PHI_EACH_COUNT(WEIGHTED)
#undef WEIGHTED
}

void phi_avx512_products(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out, size_t stride,
                       size_t begin, size_t end);
#define PHI_WIDE_BLOCKS 3
// Processes blocks of 4-bit matrices in groups of 64 or 128 by threes. Returns the first block left.
size_t phi_avx512_wide(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out, size_t stride,
                       size_t begin, size_t end);
#endif
