// AVX-512 with VNNI, 48 rows by 4 tokens: one broadcast of activations for three multiplications, and the next rows'
// weights prefetched meanwhile. For processors that multiply twice a cycle, where a load for every multiplication is
// one too many.
#if defined(__x86_64__)
#pragma clang attribute push(                                                                              \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c"))), apply_to = function)
#include "avx512.h"

#define BLOCKS PHI_WIDE_BLOCKS
#define TOKENS 4
// Bytes of one panel's activations, which stay in the second-level cache beside two times three blocks.
#define PANEL_BYTES (1 << 19)
// The most tiles over which the next blocks' weights are prefetched.
#define FETCHES 8

// Integer products of one group, not scaled yet.
typedef struct {
    __m512i sums[TOKENS][BLOCKS];
    __m512 scales[BLOCKS];
    const float *x_scales;
} Products;

// By macros, since the compiler leaves arrays in memory if it unrolls their loops late.
#define EACH_BLOCK(DO, i) DO(i, 0) DO(i, 1) DO(i, 2)
#define EACH(DO)                                                                                           \
    DO##_TOKEN(0)                                                                                          \
    if (count > 1) DO##_TOKEN(1)                                                                           \
    if (count > 2) DO##_TOKEN(2)                                                                           \
    if (count > 3) DO##_TOKEN(3)
// In assembler, to keep the written order.
#define DOT(i, r) __asm__ volatile("vpdpbusd %2, %1, %0" : "+v"(p.sums[i][r]) : "v"(w##r), "v"(x));
#define SCALE(i, r)                                                                                        \
    S[i][r] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(p.sums[i][r]), _mm512_set1_ps(p.x_scales[i])), \
                              p.scales[r], S[i][r]);                                                       \
    __asm__ volatile("" : "+v"(S[i][r]));
#define SCALE_TOKEN(i) { EACH_BLOCK(SCALE, i) }
#define CLEAR(i, r) p.sums[i][r] = _mm512_setzero_si512();
#define LOAD(r) _mm512_loadu_si512(integers + r * block_bytes)
#define LOW(r) const __m512i w##r = _mm512_and_si512(LOAD(r), nibble);
#define HIGH(r) const __m512i w##r = _mm512_and_si512(_mm512_srli_epi16(LOAD(r), 4), nibble);
#define DOT_TOKEN(i)                                                                                       \
    {                                                                                                      \
        const __m512i x = phi_quad512(values + i * group);                                                 \
        EACH_BLOCK(DOT, i)                                                                                 \
    }
#define DOT_HIGH_TOKEN(i)                                                                                  \
    {                                                                                                      \
        const __m512i x = phi_quad512(values + i * group + group / 2);                                     \
        EACH_BLOCK(DOT, i)                                                                                 \
    }
#define FIRST_TOKEN(i)                                                                                     \
    {                                                                                                      \
        EACH_BLOCK(SCALE, i)                                                                               \
        EACH_BLOCK(CLEAR, i)                                                                               \
        DOT_TOKEN(i)                                                                                       \
    }

// Multiplies one group. The group before is scaled token by token between the first products, so that neither waits for
// the other.
INLINE Products multiply_group(const size_t group, const int count, const uint8_t *integers,
                               const size_t block_bytes, const uint8_t *scales, const uint32_t float_type,
                               const int8_t *values, const float *x_scales, Products p,
                               __m512 S[TOKENS][BLOCKS]) {
    const __m512i nibble = _mm512_set1_epi8(15);
    {
        LOW(0) LOW(1) LOW(2)
        EACH(FIRST)
    }
    p.x_scales = x_scales;
    for (size_t j = 0;;) {
        {
            HIGH(0) HIGH(1) HIGH(2)
            EACH(DOT_HIGH)
        }
        if (++j == group / 8) break;
        integers += 64, values += 4;
        LOW(0) LOW(1) LOW(2)
        EACH(DOT)
    }
    p.scales[0] = phi_scales512(scales, float_type);
    p.scales[1] = phi_scales512(scales + block_bytes, float_type);
    p.scales[2] = phi_scales512(scales + 2 * block_bytes, float_type);
    return p;
}

// Three row blocks from `block` on, times `count` tokens from token t on. Prefetches some lines from `ahead` on for
// each pair of groups.
INLINE void tile(const PhiMatrix *w, const size_t group, const PhiActivations *x, size_t t, const int count,
                 const uint8_t *block, const uint8_t *ahead, size_t lines, float *out, size_t stride) {
    const size_t groups = w->columns / group, pairs = phi_pairs(w->columns, group), width = x->tile;
    const size_t record = phi_record_bytes(w), bytes = phi_group_bytes(w), f = phi_float_size(w->float_type);
    const size_t block_bytes = phi_block_bytes(w), start = phi_entry(x, t, groups);
    const uint32_t float_type = w->float_type;
    const int8_t *values = x->values + start * group;
    const float *x_scales = x->scales + start;
    const int16_t *factors = x->sums + phi_entry(x, t, pairs) * 2;
    const float *steps = x->sum_steps + phi_entry(x, t, phi_segments(w->columns, group));
    const uint8_t *base = block + 64, *biases = base + 2 * bytes + 32 * f;
    __m512 S[TOKENS][BLOCKS];
    for (int i = 0; i < count; i++)
        for (int r = 0; r < BLOCKS; r++) S[i][r] = _mm512_setzero_ps();
    for (size_t first = 0; first < pairs; first += PHI_SEGMENT, steps += width) {
        const size_t end = pairs - first < PHI_SEGMENT ? pairs : first + PHI_SEGMENT;
        // Sums begin at zero and never become -0, so adding 0 * 0 changes nothing.
        Products p = {.x_scales = x_scales};
        for (int i = 0; i < count; i++)
            for (int r = 0; r < BLOCKS; r++) p.sums[i][r] = _mm512_setzero_si512();
        for (int r = 0; r < BLOCKS; r++) p.scales[r] = _mm512_setzero_ps();
        for (size_t n = first; n < end; n++, base += record, values += 2 * width * group, x_scales += 2 * width) {
            for (size_t i = 0; i < lines; i++) _mm_prefetch((const char *)ahead + 64 * i, _MM_HINT_T1);
            ahead += 64 * lines;
            const uint8_t *scales = base + bytes, *second = scales + 32 * f;
            p = multiply_group(group, count, base, block_bytes, scales, float_type, values, x_scales, p, S);
            if (2 * n + 1 < groups)
                p = multiply_group(group, count, second, block_bytes, scales + 16 * f, float_type,
                                   values + width * group, x_scales + width, p, S);
        }
        EACH(SCALE)
        __m512i B[TOKENS][BLOCKS];
        for (int i = 0; i < count; i++)
            for (int r = 0; r < BLOCKS; r++) B[i][r] = _mm512_setzero_si512();
        for (size_t n = first; n < end; n++, biases += record, factors += 2 * width) {
            __m512i line[BLOCKS];
            for (int r = 0; r < BLOCKS; r++) line[r] = _mm512_loadu_si512(biases + (size_t)r * block_bytes);
            for (int i = 0; i < count; i++)
                for (int r = 0; r < BLOCKS; r++)
                    B[i][r] = _mm512_dpwssd_epi32(B[i][r], line[r], phi_quad512(factors + 2 * i));
        }
        for (int r = 0; r < BLOCKS; r++) {
            const __m512 step = _mm512_loadu_ps(block + (size_t)r * block_bytes);
            for (int i = 0; i < count; i++)
                S[i][r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(B[i][r]),
                                          _mm512_mul_ps(step, _mm512_set1_ps(steps[i])), S[i][r]);
        }
    }
    for (int i = 0; i < count; i++)
        for (int r = 0; r < BLOCKS; r++)
            _mm512_storeu_ps(out + (t + (size_t)i) * stride + 16 * r,
                             _mm512_mul_ps(S[i][r], _mm512_set1_ps(x->steps[t + (size_t)i])));
}

INLINE void blocks(const PhiMatrix *w, const size_t group, const PhiActivations *x, size_t tokens, float *out,
                   size_t stride, size_t begin, size_t end) {
    const size_t bytes = phi_block_bytes(w), pairs = phi_pairs(w->columns, group);
    size_t panel = PANEL_BYTES / w->columns & ~(size_t)15;
    if (panel < 32) panel = 32;
    for (size_t from = 0; from < tokens; from += panel) {
        const size_t to = tokens - from < panel ? tokens : from + panel;
        const size_t tiles = (to - from + TOKENS - 1) / TOKENS, fetches = tiles < FETCHES ? tiles : FETCHES;
        const size_t lines = (BLOCKS * bytes / 64 + fetches * pairs - 1) / (fetches * pairs);
        for (size_t b = begin; b < end; b += BLOCKS) {
            const uint8_t *block = w->data + b * bytes, *ahead = block + BLOCKS * bytes;
            size_t some = b + 2 * BLOCKS <= phi_matrix_blocks(w) ? lines : 0, number = 0;
            for (size_t t = from, count; t < to; t += count, ahead += 64 * lines * pairs) {
                if (number++ == fetches) some = 0;
                // The last nine tokens are three times three: a single one takes nearly as long as two.
                const size_t left = to - t, rest = (left + TOKENS - 1) / TOKENS;
                count = t < (to & ~(size_t)15) ? TOKENS : (left + rest - 1) / rest;
                switch (count) {
                case 1: tile(w, group, x, t, 1, block, ahead, some, out + b * 16, stride); break;
                case 2: tile(w, group, x, t, 2, block, ahead, some, out + b * 16, stride); break;
                case 3: tile(w, group, x, t, 3, block, ahead, some, out + b * 16, stride); break;
                default: tile(w, group, x, t, 4, block, ahead, some, out + b * 16, stride);
                }
            }
        }
    }
}

size_t phi_avx512_wide(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out, size_t stride,
                       size_t begin, size_t end) {
    end -= (end - begin) % BLOCKS;
    if (w->kind != PHI_INT4) return begin;
    if (w->group == 64)
        blocks(w, 64, x, tokens, out, stride, begin, end);
    else if (w->group == 128)
        blocks(w, 128, x, tokens, out, stride, begin, end);
    else
        return begin;
    return end;
}
#pragma clang attribute pop
#else
typedef int phi_no_avx512_wide;
#endif
