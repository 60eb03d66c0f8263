// AVX2 with FMA and F16C: 16 rows times up to 5 tokens, products of bytes summed in 16 bits.
#if defined(__x86_64__)
#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#include "../lanes.h"
#include "../variants.h"

#define HOOK(name) avx2_##name
#define TOKENS 5
// Weights that are used once are fetched this many bytes ahead: the hardware alone stops at every page.
#define AHEAD 4096
// Else those of the next block are fetched, evenly in so many passes over this one at most.
#define FETCHES 8

// What to fetch with the next line, how far to go then, and how far after a group.
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

INLINE f32x16 HOOK(load_scales)(const uint8_t *p, uint32_t float_type) {
    __m256 halves[2] = {load_scales8(p, float_type), load_scales8(p + 8 * phi_float_size(float_type), float_type)};
    f32x16 v;
    memcpy(&v, halves, 64);
    return v;
}

INLINE __m256i quad(const int8_t *p) {
    int32_t bytes;
    memcpy(&bytes, p, 4);
    return _mm256_set1_epi32(bytes);
}

// Products of nibbles with bytes, summed in pairs in 16 bits, for the first time or added to `sum`. A compiler that saw
// into it would add in another order, and run out of registers.
INLINE void add_products(const int first, __m256i *sum, __m256i w, __m256i q) {
    const __m256i products = _mm256_maddubs_epi16(w, q);
    if (first)
        *sum = products;
    else
        __asm__ volatile("vpaddw %1, %0, %0" : "+x"(*sum) : "x"(products));
}

// Halves `from` ..< `to` of n lines, low nibbles before high ones, times the tokens' bytes, which for high nibbles are
// `apart` further on. Begins the sums: one for each half, or one for both.
INLINE void multiply_lines(const int from, const int to, const int joined, const uint8_t *lines, const size_t n,
                           const size_t group, const int8_t *x, size_t apart, const int count, Fetch *fetch,
                           __m256i sums[2][TOKENS][2]) {
    const __m256i nibble = _mm256_set1_epi8(15);
    PHI_UNROLLED
    for (size_t k = 0; k < n; k++, lines += 64, x += 4) {
        __m256i w[2][2];
        PHI_UNROLLED
        for (int r = 0; r < 2; r++) {
            const __m256i line = _mm256_loadu_si256((const __m256i *)lines + r);
            PHI_UNROLLED
            for (int h = from; h < to; h++)
                w[h][r] = _mm256_and_si256(h ? _mm256_srli_epi16(line, 4) : line, nibble);
        }
        if (from == 0) {
            _mm_prefetch((const char *)fetch->at, _MM_HINT_T0);
            fetch->at += fetch->line;
        }
        PHI_UNROLLED
        for (int h = from; h < to; h++)
            PHI_UNROLLED
            for (int t = 0; t < count; t++) {
                const __m256i q = quad(x + (size_t)t * group + (h ? apart : 0));
                PHI_UNROLLED
                for (int r = 0; r < 2; r++)
                    add_products(k == 0 && !(joined && h), &sums[joined ? 0 : h][t][r], w[h][r], q);
            }
    }
}

// The exact integer products of a group, 16 rows times `count` tokens. 15 * 127 * 2 * 8 < 2^15, so eight products of a
// nibble fit into 16 bits.
INLINE void group_sums(const uint32_t kind, const uint8_t *lines, const size_t group, const int8_t *x, const int count,
                       Fetch *fetch, __m256i sums[TOKENS][2]) {
    const int is_int4 = kind == PHI_INT4, joined = is_int4 && group == 32;
    const size_t n = is_int4 ? group / 8 : group / 4, some = joined ? 4 : 8, apart = is_int4 ? group / 2 : 0;
    // Both halves at once, where registers suffice: memory is read evenly then.
    const int halves = count <= 2 ? 2 : 1;
    for (size_t j = 0; j < n; j += some, lines += 64 * some, x += 4 * some) {
        __m256i part[2][TOKENS][2];
        PHI_UNROLLED
        for (int h = 0; h < 2; h++) {
            if (h % halves == 0) multiply_lines(h, h + halves, joined, lines, some, group, x, apart, count, fetch, part);
            if (joined && h == 0) continue;
            const __m256i factor = _mm256_set1_epi16(h && !is_int4 ? 16 : 1);
            PHI_UNROLLED
            for (int t = 0; t < count; t++)
                PHI_UNROLLED
                for (int r = 0; r < 2; r++) {
                    const __m256i sum = _mm256_madd_epi16(part[joined ? 0 : h][t][r], factor);
                    sums[t][r] = j == 0 && (joined || h == 0) ? sum : _mm256_add_epi32(sums[t][r], sum);
                }
        }
    }
}

// One block of 16 rows and `count` tokens from token t of the activations.
INLINE void block_tokens(const PhiMatrix *w, const uint32_t kind, const size_t group, const PhiActivations *x, size_t t,
                         const int count, const uint8_t *block, Fetch fetch, float *out, size_t stride) {
    const size_t groups = w->columns / group, pairs = phi_pairs(w->columns, group), tile = x->tile;
    const size_t record = phi_record_bytes(w), bytes = phi_group_bytes(w), f = phi_float_size(w->float_type);
    const uint32_t float_type = w->float_type;
    const int8_t *values = x->values + phi_entry(x, t, groups) * group;
    const float *scales = x->scales + phi_entry(x, t, groups);
    const int16_t *factors = x->sums + phi_entry(x, t, pairs) * 2;
    const float *steps = x->sum_steps + phi_entry(x, t, phi_segments(w->columns, group));
    const uint8_t *base = block + 64, *biases = base + 2 * bytes + 32 * f;
    __m256 S[TOKENS][2];
    __m256i sums[TOKENS][2];
    for (int i = 0; i < count; i++) S[i][0] = S[i][1] = _mm256_setzero_ps();
    for (size_t first = 0; first < pairs; first += PHI_SEGMENT, steps += tile) {
        const size_t end = pairs - first < PHI_SEGMENT ? pairs : first + PHI_SEGMENT;
        for (size_t g = 2 * first; g < 2 * end && g < groups; g++, values += tile * group, scales += tile) {
            group_sums(kind, base + g % 2 * (bytes + 32 * f), group, values, count, &fetch, sums);
            fetch.at += fetch.group;
            const uint8_t *own = base + bytes + g % 2 * 16 * f;
            const __m256 scale[2] = {load_scales8(own, float_type), load_scales8(own + 8 * f, float_type)};
            PHI_UNROLLED
            for (int i = 0; i < count; i++) {
                const __m256 factor = _mm256_broadcast_ss(scales + i);
                for (int r = 0; r < 2; r++)
                    S[i][r] = _mm256_fmadd_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(sums[i][r]), factor), scale[r], S[i][r]);
            }
            if (g % 2) base += record;
        }
        PHI_UNROLLED
        for (int i = 0; i < count; i++) sums[i][0] = sums[i][1] = _mm256_setzero_si256();
        for (size_t p = first; p < end; p++, biases += record, factors += 2 * tile) {
            const __m256i *line = (const __m256i *)biases;
            const __m256i bias[2] = {_mm256_loadu_si256(line), _mm256_loadu_si256(line + 1)};
            PHI_UNROLLED
            for (int i = 0; i < count; i++) {
                const __m256i factor = quad((const int8_t *)(factors + 2 * i));
                for (int r = 0; r < 2; r++)
                    sums[i][r] = _mm256_add_epi32(sums[i][r], _mm256_madd_epi16(bias[r], factor));
            }
        }
        for (int i = 0; i < count; i++)
            for (int r = 0; r < 2; r++) {
                const __m256 step = _mm256_loadu_ps((const float *)block + r * 8);
                S[i][r] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[i][r]),
                                          _mm256_mul_ps(step, _mm256_broadcast_ss(steps + i)), S[i][r]);
            }
    }
    for (int i = 0; i < count; i++)
        for (int r = 0; r < 2; r++)
            _mm256_storeu_ps(out + (t + (size_t)i) * stride + r * 8,
                             _mm256_mul_ps(S[i][r], _mm256_broadcast_ss(x->steps + t + i)));
}

INLINE void all_tokens(const PhiMatrix *w, uint32_t kind, size_t group, const PhiActivations *x, size_t tokens,
                       float *out, size_t stride, size_t begin, size_t end) {
    const size_t bytes = phi_block_bytes(w), lines = phi_group_bytes(w) / 32 * phi_pairs(w->columns, group);
    const size_t passes = tokens / 16 * 4 + (tokens % 16 + TOKENS - 1) / TOKENS;
    const size_t fetches = passes < FETCHES ? passes : FETCHES;
    for (size_t b = begin; b < end; b++) {
        const uint8_t *block = w->data + b * bytes;
        for (size_t t = 0, pass = 0, count; t < tokens; t += count, pass++) {
            // A tile of activations is taken in passes as alike as can be.
            const size_t left = tokens - t < 16 - t % 16 ? tokens - t : 16 - t % 16;
            const size_t rest = (left + TOKENS - 1) / TOKENS;
            count = (left + rest - 1) / rest;
            Fetch fetch = {block, 0, 0};
            if (passes == 1)
                fetch = (Fetch){block + AHEAD, 64, 64};
            else if (pass < fetches)
                fetch = (Fetch){block + bytes + pass * (bytes / fetches), bytes / lines / fetches, 0};
            switch (count) {
#define CASE(n) \
    case n: block_tokens(w, kind, group, x, t, n, block, fetch, out + b * 16, stride); break;
                CASE(1) CASE(2) CASE(3) CASE(4) CASE(5)
#undef CASE
            }
        }
    }
}

static void HOOK(products)(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out, size_t stride,
                         size_t begin, size_t end) {
    switch (w->kind == PHI_INT4 ? w->group : 0) {
#define CASE(kind, group) all_tokens(w, kind, group, x, tokens, out, stride, begin, end); break;
    case 32: CASE(PHI_INT4, 32)
    case 64: CASE(PHI_INT4, 64)
    case 128: CASE(PHI_INT4, 128)
    default: CASE(PHI_INT8, w->group)
#undef CASE
    }
}

static uint64_t HOOK(probe_products)(size_t rounds) {
    __m256i sums[8], w = _mm256_set1_epi8(3), one = _mm256_set1_epi16(1);
    for (int i = 0; i < 8; i++) sums[i] = _mm256_set1_epi8((char)i);
    for (size_t r = 0; r < rounds; r++)
        for (int i = 0; i < 8; i++) {
            __asm__ volatile("" : "+x"(w));
            sums[i] = _mm256_add_epi16(sums[i], _mm256_maddubs_epi16(w, one));
        }
    for (int i = 0; i < 8; i++) __asm__ volatile("" : : "x"(sums[i]));
    return rounds * 8 * 32;
}

#include "avx2_heads.inc"
#include "../lanes_ops.inc"

PHI_LINEAR(linear, HOOK(products))

// Eight products are added in 16 bits, two such sums in 32: 33 instructions for 512 multiply-adds.
const PhiKernels phi_avx2_kernels = {.name = "avx2", .together = 2, PHI_NEEDED(512 / 33.0, 8, 2),
                                     .linear = HOOK(linear), PHI_LANES_OPS};
#pragma clang attribute pop
#else
typedef int phi_no_avx2;
#endif
