// AVX-512 with VNNI: 16 rows by up to 16 tokens, weights unpacked in registers, activations broadcast from memory.
#if defined(__x86_64__)
#pragma clang attribute push(                                                                              \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c"))), apply_to = function)
#include "avx512.h"
#include "phi_processor.h"

#include "../variants.h"

#define HOOK(name) avx512_##name
// Bytes of one panel's activations, which stay in the second-level cache while the blocks of weights pass by.
#define PANEL_BYTES (1 << 19)
// Number of tokens from which three row blocks are processed together.
#define WIDE_TOKENS 6
// Number of tokens from which sums are scaled by shifts.
#define SHIFTED_TOKENS 8

// Prefetch of weights: for several rows into the first-level cache; for a single row, which is read evenly, into the
// second if that is faster than the hardware alone (`fetches_row`).
enum { ALONE = 0, FIRST = 1, SECOND = 2 };
INLINE void fetch_ahead(const uint8_t *p, const int how) {
    if (how == FIRST) _mm_prefetch((const char *)p + 4096, _MM_HINT_T0);
    if (how == SECOND) _mm_prefetch((const char *)p + 4096, _MM_HINT_T1);
}

// S[i] += scale * (x.scale * the integer product of one group with token i).
INLINE void add_group(const uint32_t kind, const size_t group, const uint8_t *integers, const uint8_t *own_scales,
                      const uint32_t float_type, const int8_t *values, const float *scales, const int count,
                      const int prefetch, __m512 *S) {
    const __m512i nibble = _mm512_set1_epi8(15);
    __m512i sums[8];
    for (int i = 0; i < count; i++) sums[i] = _mm512_setzero_si512();
    for (size_t j = 0; j < (kind == PHI_INT4 ? group / 8 : group / 4); j++) {
        const __m512i line = _mm512_loadu_si512(integers + 64 * j);
        fetch_ahead(integers + 64 * j, prefetch);
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
        S[i] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[i]), _mm512_set1_ps(scales[i])), scale, S[i]);
}

INLINE void tile(const PhiMatrix *w, const uint32_t kind, const size_t group, const PhiActivations *x,
                 size_t t, const int count, const int prefetch, const uint8_t *block, float *out,
                 size_t stride) {
    const size_t groups = w->columns / group, pairs = phi_pairs(w->columns, group);
    const size_t record = phi_record_bytes(w), bytes = phi_group_bytes(w), f = phi_float_size(w->float_type);
    const size_t start = phi_entry(x, t, groups), width = x->tile;
    __m512 S[8];
    __m512i B[8];
    for (int i = 0; i < count; i++) S[i] = _mm512_setzero_ps(), B[i] = _mm512_setzero_si512();
    const int8_t *values = x->values + start * group;
    const float *scales = x->scales + start;
    const int16_t *factors = x->sums + phi_entry(x, t, pairs) * 2;
    const float *steps = x->sum_steps + phi_entry(x, t, phi_segments(w->columns, group));
    const uint8_t *base = block + 64;
    for (size_t p = 0; p < pairs; p++, base += record) {
        const uint8_t *floats = base + bytes, *second = floats + 32 * f;
        add_group(kind, group, base, floats, w->float_type, values, scales, count, prefetch, S);
        for (size_t i = 0; prefetch && i < 32 * f; i += 64) fetch_ahead(floats + i, prefetch);
        if (2 * p + 1 < groups)
            add_group(kind, group, second, floats + 16 * f, w->float_type, values + width * group, scales + width,
                      count, prefetch, S);
        fetch_ahead(second + bytes, prefetch);
        const __m512i biases = _mm512_loadu_si512(second + bytes);
        for (int i = 0; i < count; i++) B[i] = _mm512_dpwssd_epi32(B[i], biases, phi_quad512(factors + 2 * i));
        values += 2 * width * group, scales += 2 * width, factors += 2 * width;
        if ((p + 1) % PHI_SEGMENT && p + 1 < pairs) continue;
        const __m512 step = _mm512_loadu_ps(block);
        for (int i = 0; i < count; i++) {
            S[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(B[i]), _mm512_mul_ps(step, _mm512_set1_ps(steps[i])), S[i]);
            B[i] = _mm512_setzero_si512();
        }
        steps += width;
    }
    for (int i = 0; i < count; i++)
        _mm512_storeu_ps(out + (t + (size_t)i) * stride, _mm512_mul_ps(S[i], _mm512_set1_ps(x->steps[t + (size_t)i])));
}

#define EACH_TOKEN(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
// In assembler, to keep the written order.
#define DOT(sum, weights, values)                                                                          \
    __asm__ volatile("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(weights), "m"(*(const int8_t(*)[4])(values)))

// Eight tokens' products with the last group, the group's scale and the address of the tokens'.
typedef struct {
    __m512i sums[8];
    __m512 scale;
    const uint32_t *shifts;
} Group;

// Multiplies one group while the one before it is scaled. Prefetches the same group of the next row block, `ahead`
// bytes away, whose first tile would wait for memory.
INLINE Group shift_group(const size_t group, const size_t width, const uint8_t *integers, const size_t ahead,
                         __m512 scale, const int8_t *values, const uint32_t *shifts, Group before, __m512 *S) {
    const __m512i nibble = _mm512_set1_epi8(15);
    Group g = {.scale = scale, .shifts = shifts};
#define CLEAR(i) g.sums[i] = _mm512_setzero_si512();
#define LOW(i) DOT(g.sums[i], low, values + i * group);
#define HIGH(i) DOT(g.sums[i], high, values + i * group + group / 2);
#define FETCH(i)                                                                                           \
    _mm_prefetch((const char *)first + 32 * group + i * group, _MM_HINT_T0);                               \
    _mm_prefetch((const char *)integers + ahead, _MM_HINT_T1);
#define EIGHTH(i)                                                                                          \
    for (size_t j = i * lines / 8; j < (i + 1) * lines / 8; j++, integers += 64, values += 4) {            \
        const __m512i line = _mm512_loadu_si512(integers);                                                 \
        const __m512i low = _mm512_and_si512(line, nibble);                                                \
        const __m512i high = _mm512_and_si512(_mm512_srli_epi16(line, 4), nibble);                         \
        FETCH(i)                                                                                           \
        LOW(0) LOW(1) LOW(2) LOW(3) LOW(4) LOW(5) LOW(6) LOW(7)                                            \
        HIGH(0) HIGH(1) HIGH(2) HIGH(3) HIGH(4) HIGH(5) HIGH(6) HIGH(7)                                    \
    }                                                                                                      \
    SCALE(i)
#define SCALE(i)                                                                                           \
    {                                                                                                      \
        const __m512i a = _mm512_sllv_epi32(before.sums[i], phi_quad512(before.shifts + i));               \
        const __m512i b = _mm512_sllv_epi32(before.sums[i], phi_quad512(before.shifts + width + i));          \
        const __m512i c = _mm512_sllv_epi32(before.sums[i], phi_quad512(before.shifts + 2 * width + i));          \
        const __m512i sum = _mm512_sub_epi32(_mm512_add_epi32(a, b), c);                                   \
        S[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), before.scale, S[i]);                               \
        __asm__ volatile("" : "+v"(S[i]));                                                                 \
    }
    const int8_t *first = values;
    const size_t lines = group / 8;
    EACH_TOKEN(CLEAR)
    EACH_TOKEN(EIGHTH)
#undef EIGHTH
#undef HIGH
#undef LOW
#undef CLEAR
    return g;
}

// Like `tile` for 8 tokens, `width` in a tile, of a 4-bit matrix, on a processor that shifts and adds in parallel with
// multiplications. A block that no earlier tokens loaded was prefetched with the one before it.
INLINE void shifting_tile(const PhiMatrix *w, const size_t group, const size_t width, const PhiActivations *x,
                          size_t t, const uint8_t *block, float *out, size_t stride) {
    const size_t groups = w->columns / group, pairs = phi_pairs(w->columns, group);
    const size_t record = phi_record_bytes(w), bytes = phi_group_bytes(w), f = phi_float_size(w->float_type);
    const uint32_t float_type = w->float_type;
    const size_t ahead = phi_block_bytes(w);
    const int8_t *values = x->values + phi_entry(x, t, groups) * group;
    const uint32_t *shifts = x->shifts + phi_entry(x, t, 3 * groups);
    const int16_t *factors = x->sums + phi_entry(x, t, pairs) * 2;
    const float *steps = x->sum_steps + phi_entry(x, t, phi_segments(w->columns, group));
    const uint8_t *base = block + 64, *biases = base + 2 * bytes + 32 * f;
    __m512 S[8];
    for (int i = 0; i < 8; i++) S[i] = _mm512_setzero_ps();
    for (size_t first = 0; first < pairs; first += PHI_SEGMENT, steps += width) {
        const size_t end = pairs - first < PHI_SEGMENT ? pairs : first + PHI_SEGMENT;
        Group before = {.shifts = shifts};
        for (size_t p = first; p < end; p++, base += record, values += 2 * width * group, shifts += 6 * width) {
            const uint8_t *floats = base + bytes, *second = floats + 32 * f;
            if (width < 16) {
                _mm_prefetch((const char *)floats + ahead, _MM_HINT_T1);
                _mm_prefetch((const char *)second + bytes + ahead, _MM_HINT_T1);
            }
            before = shift_group(group, width, base, ahead, phi_scales512(floats, float_type), values, shifts,
                                 before, S);
            if (2 * p + 1 < groups)
                before = shift_group(group, width, second, ahead, phi_scales512(floats + 16 * f, float_type),
                                     values + width * group, shifts + 3 * width, before, S);
        }
        EACH_TOKEN(SCALE)
#undef SCALE
        __m512i B[8];
        for (int i = 0; i < 8; i++) B[i] = _mm512_setzero_si512();
        for (size_t p = first; p < end; p++, biases += record, factors += 2 * width) {
            const __m512i line = _mm512_loadu_si512(biases);
            for (int i = 0; i < 8; i++) B[i] = _mm512_dpwssd_epi32(B[i], line, phi_quad512(factors + 2 * i));
        }
        const __m512 step = _mm512_loadu_ps(block);
        for (int i = 0; i < 8; i++)
            S[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(B[i]), _mm512_mul_ps(step, _mm512_set1_ps(steps[i])), S[i]);
    }
    for (size_t i = 0; i < 8; i++)
        _mm512_storeu_ps(out + (t + i) * stride, _mm512_mul_ps(S[i], _mm512_set1_ps(x->steps[t + i])));
}

INLINE void blocks(const PhiMatrix *w, const uint32_t kind, const size_t group, const int shifting,
                   const PhiActivations *x, size_t tokens, float *out, size_t stride, size_t begin, size_t end) {
    const int fetches_row = phi_fetches_row();
    size_t panel = PANEL_BYTES / w->columns & ~(size_t)15;
    if (panel < 64) panel = 64;
    for (size_t from = 0; from < tokens; from += panel) {
        const size_t to = tokens - from < panel ? tokens : from + panel;
        for (size_t b = begin; b < end; b++) {
            const uint8_t *block = w->data + b * phi_block_bytes(w);
            float *rows = out + b * 16;
            size_t t = from;
            for (; t + 8 <= to; t += 8)
                if (shifting && t > 0)
                    shifting_tile(w, group, 16, x, t, block, rows, stride);
                else if (shifting && x->tile < 16)
                    shifting_tile(w, group, x->tile, x, t, block, rows, stride);
                else
                    tile(w, kind, group, x, t, 8, t == 0, block, rows, stride);
            switch (to - t) {
            case 1:
                if (t == 0 && fetches_row)
                    tile(w, kind, group, x, t, 1, SECOND, block, rows, stride);
                else
                    tile(w, kind, group, x, t, 1, ALONE, block, rows, stride);
                break;
#define CASE(n) \
    case n: tile(w, kind, group, x, t, n, t == 0, block, rows, stride); break;
                CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
#undef CASE
            }
        }
    }
}

#define CASE(kind_, group_, shifting)                                                                      \
    if (w->kind == kind_ && w->group == group_)                                                            \
        blocks(w, kind_, group_, shifting, x, tokens, out, stride, begin, end);
void phi_avx512_products(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out, size_t stride,
                       size_t begin, size_t end) {
    if (tokens >= WIDE_TOKENS) begin = phi_avx512_wide(w, x, tokens, out, stride, begin, end);
    CASE(PHI_INT4, 32, 0) CASE(PHI_INT4, 64, 0) CASE(PHI_INT4, 128, 0)
    CASE(PHI_INT8, 32, 0) CASE(PHI_INT8, 64, 0) CASE(PHI_INT8, 128, 0)
}

static void HOOK(shifting_products)(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out,
                                  size_t stride, size_t begin, size_t end) {
    if (tokens < SHIFTED_TOKENS || w->kind != PHI_INT4) {
        phi_avx512_products(w, x, tokens, out, stride, begin, end);
        return;
    }
    CASE(PHI_INT4, 32, 1) CASE(PHI_INT4, 64, 1) CASE(PHI_INT4, 128, 1)
}
#undef CASE

INLINE f32x16 HOOK(load_scales)(const uint8_t *p, uint32_t float_type) {
    return (f32x16)phi_scales512(p, float_type);
}
#define avx512_store_lanes phi_store_lanes512
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

PHI_LINEAR(linear, phi_avx512_products)
PHI_LINEAR(shifting_linear, HOOK(shifting_products))

const PhiKernels phi_avx512_kernels = {
    .name = "avx512", .together = PHI_WIDE_BLOCKS, PHI_NEEDED(64, 16, 1), .linear = HOOK(linear), PHI_LANES_OPS};
const PhiKernels phi_avx512_shifting_kernels = {
    .name = "avx512-shifting", .together = PHI_WIDE_BLOCKS, PHI_NEEDED(64, 16, 1), .linear = HOOK(shifting_linear), PHI_LANES_OPS};
#pragma clang attribute pop
#else
typedef int phi_no_avx512;
#endif
