// AVX2 with FMA and F16C: 16 rows by up to 5 tokens, products of bytes summed in 16 bits.
#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#include "avx2.h"

#include "../variants.h"

#define HOOK(name) avx2_##name

// Sums products of nibbles and bytes in pairs in 16 bits, and adds them to `sum` unless first. Opaque to the compiler,
// which would add in another order and run out of registers.
INLINE void add_products(const int first, __m256i *sum, __m256i w, __m256i q) {
    const __m256i products = _mm256_maddubs_epi16(w, q);
    if (first)
        *sum = products;
    else
        __asm__ volatile("vpaddw %1, %0, %0" : "+x"(*sum) : "x"(products));
}

// Multiplies halves `from` ..< `to` of n lines, low nibbles before high ones, with the tokens' bytes, which for high
// nibbles are `apart` further on. Starts one sum for each half, or one for both.
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

// Exact integer products of a group, 16 rows by `count` tokens. 15 * 127 * 2 * 8 < 2^15, so eight products of a nibble
// fit into 16 bits.
INLINE void group_sums(const uint32_t kind, const uint8_t *lines, const size_t group, const int8_t *x, const int count,
                       Fetch *fetch, __m256i sums[TOKENS][2]) {
    const int is_int4 = kind == PHI_INT4, joined = is_int4 && group == 32;
    const size_t n = is_int4 ? group / 8 : group / 4, some = joined ? 4 : 8, apart = is_int4 ? group / 2 : 0;
    // Both halves at once if there are enough registers, as memory is then read evenly.
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

// Attention multiplies bytes as 16-bit integers, first those at even places, then those at odd ones. Each query's bytes
// are split once for all blocks.
typedef struct {
    int32_t even[4][PHI_KV_MAX_DIMS / 4], odd[4][PHI_KV_MAX_DIMS / 4];
} Operands;

INLINE void prepare(const void *bytes, size_t n, const int is_signed, size_t q, Operands *to) {
    for (size_t i = 0; i < n; i += 16) {
        const __m128i all = _mm_loadu_si128((const __m128i *)((const char *)bytes + i)), up = _mm_slli_epi16(all, 8);
        _mm_storeu_si128((__m128i *)(to->even[q] + i / 4), is_signed ? _mm_srai_epi16(up, 8) : _mm_srli_epi16(up, 8));
        _mm_storeu_si128((__m128i *)(to->odd[q] + i / 4), is_signed ? _mm_srai_epi16(all, 8) : _mm_srli_epi16(all, 8));
    }
}

INLINE void add_line(const Operands *x, const int count, size_t i, const __m256i *line, const int is_signed,
                     __m256i sums[4][2]) {
    __m256i even[2], odd[2];
    PHI_UNROLLED
    for (int r = 0; r < 2; r++) {
        const __m256i bytes = _mm256_loadu_si256(line + r);
        even[r] = is_signed ? _mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8)
                            : _mm256_and_si256(bytes, _mm256_set1_epi16(255));
        odd[r] = is_signed ? _mm256_srai_epi16(bytes, 8) : _mm256_srli_epi16(bytes, 8);
    }
    PHI_UNROLLED
    for (int q = 0; q < count; q++) {
        const __m256i e = _mm256_set1_epi32(x->even[q][i]), o = _mm256_set1_epi32(x->odd[q][i]);
        PHI_UNROLLED
        for (int r = 0; r < 2; r++) {
            sums[q][r] = _mm256_add_epi32(sums[q][r], _mm256_madd_epi16(even[r], e));
            sums[q][r] = _mm256_add_epi32(sums[q][r], _mm256_madd_epi16(odd[r], o));
        }
    }
}

#include "avx2_rows.inc"
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
