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

INLINE __m512i phi_quad512(const void *p) {
    int32_t bytes;
    memcpy(&bytes, p, 4);
    return _mm512_set1_epi32(bytes);
}

INLINE void phi_key_dots512(const int8_t *query, const uint8_t *keys, size_t dims, int32_t *out) {
    __m512i sums[4];
    for (int i = 0; i < 4; i++) sums[i] = _mm512_setzero_si512();
    for (size_t d = 0; d < dims; d += 4) {
        const __m512i q = phi_quad512(query + d);
        for (size_t i = 0; i < 4; i++)
            sums[i] = _mm512_dpbusd_epi32(sums[i], _mm512_loadu_si512(keys + i * dims * 16 + d * 16), q);
    }
    for (int i = 0; i < 4; i++) _mm512_storeu_si512(out + 16 * i, sums[i]);
}

INLINE void phi_weighted_values512(const uint8_t *weights, const int8_t *values, size_t dims, float scale,
                                   float *accumulator) {
    const __m512 factor = _mm512_set1_ps(scale);
    for (size_t d = 0; d < dims; d += 32) {
        const int two = d + 16 < dims;
        __m512i a = _mm512_setzero_si512(), b = a;
        for (size_t p = 0; p < 64; p += 4) {
            const __m512i w = phi_quad512(weights + p);
            a = _mm512_dpbusd_epi32(a, w, _mm512_loadu_si512(values + p * dims + d * 4));
            if (two) b = _mm512_dpbusd_epi32(b, w, _mm512_loadu_si512(values + p * dims + d * 4 + 64));
        }
        float *to = accumulator + d;
        _mm512_storeu_ps(to, _mm512_fmadd_ps(_mm512_cvtepi32_ps(a), factor, _mm512_loadu_ps(to)));
        if (two) {
            to += 16;
            _mm512_storeu_ps(to, _mm512_fmadd_ps(_mm512_cvtepi32_ps(b), factor, _mm512_loadu_ps(to)));
        }
    }
}

void phi_avx512_linear(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out, size_t stride,
                       size_t begin, size_t end);
#endif
