// AVX-VNNI, the byte products of processors without AVX-512: 16 rows by up to 5 tokens.
#if defined(__x86_64__)
#ifndef TARGET
#define TARGET "avx2,fma,f16c,avxvnni"
#endif
#pragma clang attribute push(__attribute__((target(TARGET))), apply_to = function)
#include "avx2.h"

#include "../variants.h"

int phi_avxvnni_available(void) { return __builtin_cpu_supports("avxvnni"); }

#define HOOK(name) avxvnni_##name

INLINE void group_sums(const uint32_t kind, const uint8_t *lines, const size_t group, const int8_t *x, const int count,
                       Fetch *fetch, __m256i sums[TOKENS][2]) {
    const int is_int4 = kind == PHI_INT4;
    const __m256i nibble = _mm256_set1_epi8(15);
    PHI_UNROLLED
    for (int t = 0; t < count; t++) sums[t][0] = sums[t][1] = _mm256_setzero_si256();
    for (size_t j = 0; j < (is_int4 ? group / 8 : group / 4); j++, lines += 64, x += 4) {
        const __m256i line[2] = {_mm256_loadu_si256((const __m256i *)lines),
                                 _mm256_loadu_si256((const __m256i *)lines + 1)};
        _mm_prefetch((const char *)fetch->at, _MM_HINT_T0);
        fetch->at += fetch->line;
        PHI_UNROLLED
        for (int high = 0; high < 1 + is_int4; high++) {
            __m256i w[2];
            PHI_UNROLLED
            for (int r = 0; r < 2; r++) {
                const __m256i bytes = high ? _mm256_srli_epi16(line[r], 4) : line[r];
                w[r] = is_int4 ? _mm256_and_si256(bytes, nibble) : bytes;
            }
            PHI_UNROLLED
            for (int t = 0; t < count; t++) {
                const __m256i q = quad(x + (size_t)t * group + (high ? group / 2 : 0));
                PHI_UNROLLED
                for (int r = 0; r < 2; r++) sums[t][r] = _mm256_dpbusd_avx_epi32(sums[t][r], w[r], q);
            }
        }
    }
}

static uint64_t HOOK(probe_products)(size_t rounds) {
    __m256i sums[12], w = _mm256_set1_epi8(3);
    for (int i = 0; i < 12; i++) sums[i] = _mm256_set1_epi32(i);
    for (size_t r = 0; r < rounds; r++)
        for (int i = 0; i < 12; i++) {
            __asm__ volatile("" : "+x"(w));
            sums[i] = _mm256_dpbusd_avx_epi32(sums[i], w, w);
        }
    for (int i = 0; i < 12; i++) __asm__ volatile("" : : "x"(sums[i]));
    return rounds * 12 * 32;
}

// Attention uses the queries' bytes directly.
typedef struct {
    const int8_t *bytes[4];
} Operands;

INLINE void prepare(const void *bytes, size_t n, const int is_signed, size_t q, Operands *to) {
    (void)n, (void)is_signed, to->bytes[q] = bytes;
}

INLINE void add_line(const Operands *x, const int count, size_t i, const __m256i *line, const int is_signed,
                     __m256i sums[4][2]) {
    PHI_UNROLLED
    for (int q = 0; q < count; q++) {
        const __m256i own = quad(x->bytes[q] + 4 * i);
        PHI_UNROLLED
        for (int r = 0; r < 2; r++) {
            const __m256i bytes = _mm256_loadu_si256(line + r);
            sums[q][r] = _mm256_dpbusd_avx_epi32(sums[q][r], is_signed ? own : bytes, is_signed ? bytes : own);
        }
    }
}

#include "avx2_rows.inc"
#include "avx2_heads.inc"
#include "../lanes_ops.inc"

PHI_LINEAR(linear, HOOK(products))

const PhiKernels phi_avxvnni_kernels = {.name = "avxvnni", .together = 2, PHI_NEEDED(32, 8, 2),
                                        .linear = HOOK(linear), PHI_LANES_OPS};
#pragma clang attribute pop
#else
typedef int phi_no_avxvnni;
#endif
