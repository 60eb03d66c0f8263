// NEON with the matrix extension: 2 rows by 2 tokens by 8 columns an instruction, weights unsigned.
#if defined(__aarch64__)
#pragma clang attribute push(__attribute__((target("dotprod,i8mm"))), apply_to = function)
#include "../variants.h"
#include "arm.h"

#define HOOK(name) i8mm_##name

INLINE void HOOK(group_sums)(const uint32_t kind, const uint8_t *lines, const size_t group, const int8_t *x,
                             const int count, PhiArmSums sums) {
    const uint8x16_t nibble = vdupq_n_u8(15);
    // [pair of tokens][pair of rows]: row 0 token 0, row 0 token 1, row 1 token 0, row 1 token 1
    int32x4_t acc[PHI_ARM_TOKENS / 2][8];
    PHI_UNROLLED
    for (int i = 0; i < (count + 1) / 2; i++)
        for (int r = 0; r < 8; r++) acc[i][r] = vdupq_n_s32(0);
    const int halves = kind == PHI_INT4 ? 2 : 1;
    const size_t n = group / 4 / (size_t)halves;
    for (size_t j = 0; j < n; j += 4) {
        // Eight columns of each pair of tokens, and the next eight; the second token is zero past the last.
        int8x16_t tokens[2][PHI_ARM_TOKENS / 2][2];
        PHI_UNROLLED
        for (int half = 0; half < halves; half++)
            PHI_UNROLLED
            for (int i = 0; i < count; i += 2) {
                const int8_t *from = x + (size_t)i * group + (size_t)half * (group / 2) + 4 * j;
                const int64x2_t a = vreinterpretq_s64_s8(vld1q_s8(from));
                const int64x2_t b = i + 1 < count ? vreinterpretq_s64_s8(vld1q_s8(from + group)) : vdupq_n_s64(0);
                tokens[half][i / 2][0] = vreinterpretq_s8_s64(vzip1q_s64(a, b));
                tokens[half][i / 2][1] = vreinterpretq_s8_s64(vzip2q_s64(a, b));
            }
        PHI_UNROLLED
        for (int k = 0; k < 8; k++) {
            const uint8_t *at = lines + 64 * (j + (size_t)(k / 4 * 2)) + k % 4 * 16;
            const uint32x4_t a = vreinterpretq_u32_u8(vld1q_u8(at)), b = vreinterpretq_u32_u8(vld1q_u8(at + 64));
            const uint8x16_t rows[2] = {vreinterpretq_u8_u32(vzip1q_u32(a, b)), vreinterpretq_u8_u32(vzip2q_u32(a, b))};
            PHI_UNROLLED
            for (int half = 0; half < halves; half++)
                PHI_UNROLLED
                for (int r = 0; r < 2; r++) {
                    const uint8x16_t weights =
                        kind == PHI_INT8 ? rows[r] : half ? vshrq_n_u8(rows[r], 4) : vandq_u8(rows[r], nibble);
                    PHI_UNROLLED
                    for (int i = 0; i < (count + 1) / 2; i++) {
                        int32x4_t *sum = &acc[i][k % 4 * 2 + r];
                        *sum = vusmmlaq_s32(*sum, weights, tokens[half][i][k / 4]);
                    }
                }
        }
    }
    PHI_UNROLLED
    for (int i = 0; i < count; i++)
        for (int r = 0; r < 4; r++)
            sums[i][r] = i % 2 ? vuzp2q_s32(acc[i / 2][2 * r], acc[i / 2][2 * r + 1])
                               : vuzp1q_s32(acc[i / 2][2 * r], acc[i / 2][2 * r + 1]);
}

#include "products.inc"

INLINE void HOOK(dots)(const int8_t *query, const uint8_t *keys, size_t dims, int32_t *out) {
    const int32x4_t zero = vdupq_n_s32(0);
    int32x4_t sums[4] = {zero, zero, zero, zero};
    for (size_t d = 0; d < dims; d += 4, keys += 64)
        for (int i = 0; i < 4; i++) sums[i] = vusdotq_s32(sums[i], vld1q_u8(keys + 16 * i), phi_quad4(query + d));
    for (int i = 0; i < 4; i++) vst1q_s32(out + 4 * i, sums[i]);
}

INLINE void HOOK(weighted)(const uint8_t *weights, const int8_t *values, size_t part, size_t parts, int32_t *out) {
    const int32x4_t zero = vdupq_n_s32(0);
    int32x4_t sums[4] = {zero, zero, zero, zero};
    for (size_t p = 0; p < parts; p++)
        for (size_t j = 0; j < 4; j++) {
            const uint8x16_t w = vreinterpretq_u8_s8(phi_quad4(weights + p * 16 + j * 4));
            for (size_t i = 0; i < 4; i++)
                sums[i] = vusdotq_s32(sums[i], w, vld1q_s8(values + p * part + j * 64 + i * 16));
        }
    for (int i = 0; i < 4; i++) vst1q_s32(out + 4 * i, sums[i]);
}

INLINE f32x16 HOOK(load_scales)(const uint8_t *p, uint32_t float_type) { return phi_scales16(p, float_type); }
static uint64_t HOOK(probe_products)(size_t rounds) {
    int32x4_t sums[16];
    int8x16_t w = vdupq_n_s8(3);
    for (int i = 0; i < 16; i++) sums[i] = vdupq_n_s32(i);
    for (size_t r = 0; r < rounds; r++)
        for (int i = 0; i < 16; i++) {
            __asm__ volatile("" : "+w"(w));
            sums[i] = vmmlaq_s32(sums[i], w, w);
        }
    for (int i = 0; i < 16; i++) __asm__ volatile("" : : "w"(sums[i]));
    return rounds * 16 * 32;
}

#include "../one_query.inc"
#include "../lanes_ops.inc"

PHI_LINEAR(linear, HOOK(products))

const PhiKernels phi_i8mm_kernels = {.name = "i8mm", .together = 2, PHI_NEEDED(32, 4, 2),
                                     .linear = HOOK(linear), PHI_LANES_OPS};
#pragma clang attribute pop
#else
typedef int phi_no_i8mm;
#endif
