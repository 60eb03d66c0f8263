// AVX-512 with VNNI: 16 rows times up to 16 tokens, weights unpacked in registers, activations
// broadcast from memory.
#if defined(__x86_64__)
#pragma clang attribute push(                                                                              \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c"))), apply_to = function)
#include "avx512.h"

#include "../variants.h"

#define HOOK(name) avx512_##name
// Fetches weights ahead of their use: the hardware alone stops at every page. A single row waits for nothing
// else, and gets most from memory by way of the second-level cache.
INLINE void fetch_ahead(const uint8_t *p, const int count) {
    if (count == 1)
        _mm_prefetch((const char *)p + 1024, _MM_HINT_T1);
    else
        _mm_prefetch((const char *)p + 4096, _MM_HINT_T0);
}

// S[i] += scale * x.scale * the integer product of one group with token i.
INLINE void add_group(const uint32_t kind, const size_t group, const uint8_t *integers, const uint8_t *own_scales,
                      const uint32_t float_type, const int8_t *values, const float *scales, const int count,
                      const int prefetch, __m512 *S) {
    const __m512i nibble = _mm512_set1_epi8(15);
    __m512i sums[8];
    for (int i = 0; i < count; i++) sums[i] = _mm512_setzero_si512();
    for (size_t j = 0; j < (kind == PHI_INT4 ? group / 8 : group / 4); j++) {
        const __m512i line = _mm512_loadu_si512(integers + 64 * j);
        if (prefetch) fetch_ahead(integers + 64 * j, count);
        const int8_t *x = values + 4 * j;
        if (kind == PHI_INT8) {
            for (int i = 0; i < count; i++)
                sums[i] = _mm512_dpbusd_epi32(sums[i], line, phi_quad512(x + (size_t)i * group));
            continue;
        }
        const __m512i low = _mm512_and_si512(line, nibble);
        const __m512i high = _mm512_and_si512(_mm512_srli_epi16(line, 4), nibble);
        for (int i = 0; i < count; i++)
            sums[i] = _mm512_dpbusd_epi32(sums[i], low, phi_quad512(x + (size_t)i * group));
        for (int i = 0; i < count; i++)
            sums[i] = _mm512_dpbusd_epi32(sums[i], high, phi_quad512(x + (size_t)i * group + group / 2));
    }
    const __m512 scale = phi_scales512(own_scales, float_type);
    for (int i = 0; i < count; i++)
        S[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[i]), _mm512_mul_ps(scale, _mm512_set1_ps(scales[i])), S[i]);
}

INLINE void tile(const PhiMatrix *w, const uint32_t kind, const size_t group, const PhiActivations *x,
                 size_t t, const int count, const int prefetch, const uint8_t *block, float *out,
                 size_t stride) {
    const size_t groups = w->columns / group, pairs = phi_pairs(w->columns, group);
    const size_t record = phi_record_bytes(w), bytes = phi_group_bytes(w), f = phi_float_size(w->float_type);
    const size_t start = t / 16 * groups * 16 + t % 16;
    __m512 S[8];
    __m512i B[8];
    for (int i = 0; i < count; i++) S[i] = _mm512_setzero_ps(), B[i] = _mm512_setzero_si512();
    const int8_t *values = x->values + start * group;
    const float *scales = x->scales + start;
    const int16_t *factors = x->sums + (t / 16 * pairs * 16 + t % 16) * 2;
    const float *steps = x->sum_steps + t / 16 * phi_segments(w->columns, group) * 16 + t % 16;
    const uint8_t *base = block + 64;
    for (size_t p = 0; p < pairs; p++, base += record, values += 32 * group, scales += 32, factors += 32) {
        const uint8_t *floats = base + bytes, *second = floats + 32 * f;
        add_group(kind, group, base, floats, w->float_type, values, scales, count, prefetch, S);
        if (prefetch)
            for (size_t i = 0; i < 32 * f; i += 64) fetch_ahead(floats + i, count);
        if (2 * p + 1 < groups)
            add_group(kind, group, second, floats + 16 * f, w->float_type, values + 16 * group, scales + 16, count,
                      prefetch, S);
        if (prefetch) fetch_ahead(second + bytes, count);
        const __m512i biases = _mm512_loadu_si512(second + bytes);
        for (int i = 0; i < count; i++) B[i] = _mm512_dpwssd_epi32(B[i], biases, phi_quad512(factors + 2 * i));
        if ((p + 1) % PHI_SEGMENT && p + 1 < pairs) continue;
        const __m512 step = _mm512_loadu_ps(block);
        for (int i = 0; i < count; i++) {
            S[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(B[i]), _mm512_mul_ps(step, _mm512_set1_ps(steps[i])), S[i]);
            B[i] = _mm512_setzero_si512();
        }
        steps += 16;
    }
    for (int i = 0; i < count; i++) _mm512_storeu_ps(out + (t + (size_t)i) * stride, S[i]);
}

INLINE void blocks(const PhiMatrix *w, const uint32_t kind, const size_t group, const PhiActivations *x,
                   size_t tokens, float *out, size_t stride, size_t begin, size_t end) {
    for (size_t b = begin; b < end; b++) {
        const uint8_t *block = w->data + b * phi_block_bytes(w);
        float *to = out + b * 16;
        size_t t = 0;
        for (; t + 8 <= tokens; t += 8) tile(w, kind, group, x, t, 8, t == 0, block, to, stride);
        switch (tokens - t) {
#define CASE(n) \
    case n: tile(w, kind, group, x, t, n, t == 0, block, to, stride); break;
            CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
#undef CASE
        }
    }
}

void phi_avx512_linear(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out, size_t stride,
                       size_t begin, size_t end) {
#define CASE(kind_, group_)                                                                                \
    if (w->kind == kind_ && w->group == group_) blocks(w, kind_, group_, x, tokens, out, stride, begin, end);
    CASE(PHI_INT4, 32) CASE(PHI_INT4, 64) CASE(PHI_INT4, 128)
    CASE(PHI_INT8, 32) CASE(PHI_INT8, 64) CASE(PHI_INT8, 128)
#undef CASE
}

INLINE f32x16 HOOK(load_scales)(const uint8_t *p, uint32_t float_type) {
    return (f32x16)phi_scales512(p, float_type);
}
#define avx512_key_dots phi_key_dots512
#define avx512_weighted_values phi_weighted_values512
static uint64_t HOOK(probe_products)(size_t rounds) {
    __m512i sums[16], w = _mm512_set1_epi8(3);
    for (int i = 0; i < 16; i++) sums[i] = _mm512_set1_epi32(i);
    for (size_t r = 0; r < rounds; r++)
        for (int i = 0; i < 16; i++) {
            __asm__ volatile("" : "+v"(w));
            sums[i] = _mm512_dpbusd_epi32(sums[i], w, w);
        }
    for (int i = 0; i < 16; i++) __asm__ volatile("" : : "v"(sums[i]));
    return rounds * 16 * 64;
}

#include "../lanes_ops.inc"

const PhiKernels phi_avx512_kernels = {.name = "avx512", .linear = phi_avx512_linear, PHI_LANES_OPS};
#pragma clang attribute pop
#else
typedef int phi_no_avx512;
#endif
