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

// The KV cache is fetched this many bytes ahead: it is read from one end to the other.
#define PHI_KV_AHEAD 8192
#define PHI_KV_HINT _MM_HINT_T1

INLINE __m512i phi_quad512(const void *p) {
    int32_t bytes;
    memcpy(&bytes, p, 4);
    return _mm512_set1_epi32(bytes);
}

INLINE void phi_dots512(const int8_t *const *queries, const int count, const uint8_t *keys, size_t positions,
                        size_t dims, int32_t (*out)[64]) {
    // Two lines of 16 positions at a time: enough independent sums, also for a single query.
    const char *ahead = (const char *)keys + PHI_KV_AHEAD;
    for (size_t p = 0; p < positions; p += 32) {
        __m512i sums[4][2][2];
        for (int q = 0; q < count; q++)
            for (int i = 0; i < 4; i++) sums[q][i / 2][i % 2] = _mm512_setzero_si512();
        for (size_t d = 0; d < dims; d += 8) {
            for (size_t i = 0; i < 2; i++) {
                const size_t at = p * dims + i * dims * 16 + d * 16;
                const __m512i first = _mm512_loadu_si512(keys + at), second = _mm512_loadu_si512(keys + at + 64);
                _mm_prefetch(ahead, PHI_KV_HINT);
                _mm_prefetch(ahead + 64, PHI_KV_HINT);
                ahead += 128;
                for (int q = 0; q < count; q++) {
                    sums[q][i][0] = _mm512_dpbusd_epi32(sums[q][i][0], first, phi_quad512(queries[q] + d));
                    sums[q][i][1] = _mm512_dpbusd_epi32(sums[q][i][1], second, phi_quad512(queries[q] + d + 4));
                }
            }
        }
        for (int q = 0; q < count; q++)
            for (size_t i = 0; i < 2; i++)
                _mm512_storeu_si512(out[q] + p + 16 * i, _mm512_add_epi32(sums[q][i][0], sums[q][i][1]));
    }
}

INLINE void phi_key_dots512(const int8_t *const *queries, int count, const uint8_t *keys, size_t positions,
                            size_t dims, int32_t (*out)[64]) {
    switch (count) {
    case 1: phi_dots512(queries, 1, keys, positions, dims, out); break;
    case 2: phi_dots512(queries, 2, keys, positions, dims, out); break;
    case 3: phi_dots512(queries, 3, keys, positions, dims, out); break;
    default: phi_dots512(queries, 4, keys, positions, dims, out);
    }
}

INLINE void phi_weighted512(const uint8_t (*weights)[64], const int count, const int8_t *values,
                            size_t positions, size_t dims, const float *scales, float *const *to) {
    const char *ahead = (const char *)values + PHI_KV_AHEAD;
    for (size_t d = 0; d < dims; d += 32) {
        const int two = d + 16 < dims;
        __m512i a[4], b[4];
        for (int q = 0; q < count; q++) a[q] = b[q] = _mm512_setzero_si512();
        for (size_t p = 0; p < positions; p += 4) {
            const size_t at = p * dims + d * 4;
            const __m512i first = _mm512_loadu_si512(values + at);
            _mm_prefetch(ahead, PHI_KV_HINT);
            ahead += 64;
            for (int q = 0; q < count; q++) a[q] = _mm512_dpbusd_epi32(a[q], phi_quad512(weights[q] + p), first);
            if (two) {
                const __m512i second = _mm512_loadu_si512(values + at + 64);
                _mm_prefetch(ahead, PHI_KV_HINT);
                ahead += 64;
                for (int q = 0; q < count; q++) b[q] = _mm512_dpbusd_epi32(b[q], phi_quad512(weights[q] + p), second);
            }
        }
        for (int q = 0; q < count; q++) {
            const __m512 scale = _mm512_set1_ps(scales[q]);
            float *sum = to[q] + d;
            _mm512_storeu_ps(sum, _mm512_fmadd_ps(_mm512_cvtepi32_ps(a[q]), scale, _mm512_loadu_ps(sum)));
            if (two) {
                sum += 16;
                _mm512_storeu_ps(sum, _mm512_fmadd_ps(_mm512_cvtepi32_ps(b[q]), scale, _mm512_loadu_ps(sum)));
            }
        }
    }
}

INLINE void phi_weighted_values512(const uint8_t (*weights)[64], int count, const int8_t *values,
                                   size_t positions, size_t dims, const float *scales,
                                   float *const *to) {
    switch (count) {
    case 1: phi_weighted512(weights, 1, values, positions, dims, scales, to); break;
    case 2: phi_weighted512(weights, 2, values, positions, dims, scales, to); break;
    case 3: phi_weighted512(weights, 3, values, positions, dims, scales, to); break;
    default: phi_weighted512(weights, 4, values, positions, dims, scales, to);
    }
}

void phi_avx512_linear(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out, size_t stride,
                       size_t begin, size_t end);
#endif
