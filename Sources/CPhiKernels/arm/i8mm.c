// NEON with the matrix extension: 2 rows times 2 tokens times 8 columns an instruction, weights unsigned.
#if defined(__aarch64__)
#pragma clang attribute push(__attribute__((target("dotprod,i8mm"))), apply_to = function)
#include "../variants.h"
#include "arm.h"

#define HOOK(name) i8mm_##name

// Eight columns of two tokens; the second is zero past the last.
INLINE int8x16_t token_pair(const int8_t *x, size_t group, int i, int count) {
    return vcombine_s8(vld1_s8(x + (size_t)i * group),
                       i + 1 < count ? vld1_s8(x + (size_t)(i + 1) * group) : vdup_n_s8(0));
}

INLINE void HOOK(group_sums)(uint32_t kind, const uint8_t *lines, size_t group, const int8_t *x, int count,
                             int32x4_t sums[][4]) {
    const uint8x16_t nibble = vdupq_n_u8(15);
    // [pair of tokens][pair of rows]: row 0 token 0, row 0 token 1, row 1 token 0, row 1 token 1
    int32x4_t acc[PHI_ARM_TOKENS / 2][8];
    for (int i = 0; i < (count + 1) / 2; i++)
        for (int r = 0; r < 8; r++) acc[i][r] = vdupq_n_s32(0);
    const size_t halves = kind == PHI_INT4 ? 2 : 1, n = group / 4 / halves;
    for (size_t half = 0; half < halves; half++) {
        for (size_t j = 0; j < n; j += 2) {
            const size_t column = half * (group / 2) + 4 * j;
            int8x16_t tokens[PHI_ARM_TOKENS / 2];
            for (int i = 0; i < count; i += 2) tokens[i / 2] = token_pair(x + column, group, i, count);
            for (int r = 0; r < 4; r++) {
                uint8x16_t a = vld1q_u8(lines + 64 * j + 16 * r), b = vld1q_u8(lines + 64 * (j + 1) + 16 * r);
                if (kind == PHI_INT4) {
                    a = half ? vshrq_n_u8(a, 4) : vandq_u8(a, nibble);
                    b = half ? vshrq_n_u8(b, 4) : vandq_u8(b, nibble);
                }
                const uint32x4_t a4 = vreinterpretq_u32_u8(a), b4 = vreinterpretq_u32_u8(b);
                const uint8x16_t first = vreinterpretq_u8_u32(vzip1q_u32(a4, b4));
                const uint8x16_t second = vreinterpretq_u8_u32(vzip2q_u32(a4, b4));
                for (int i = 0; i < (count + 1) / 2; i++) {
                    acc[i][2 * r] = vusmmlaq_s32(acc[i][2 * r], first, tokens[i]);
                    acc[i][2 * r + 1] = vusmmlaq_s32(acc[i][2 * r + 1], second, tokens[i]);
                }
            }
        }
    }
    for (int i = 0; i < count; i++)
        for (int r = 0; r < 4; r++)
            sums[i][r] = i % 2 ? vuzp2q_s32(acc[i / 2][2 * r], acc[i / 2][2 * r + 1])
                               : vuzp1q_s32(acc[i / 2][2 * r], acc[i / 2][2 * r + 1]);
}

PHI_ARM_LINEAR(HOOK)

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

const PhiKernels phi_i8mm_kernels = {.name = "i8mm", .together = 2, .linear = HOOK(linear), PHI_LANES_OPS};
#pragma clang attribute pop
#else
typedef int phi_no_i8mm;
#endif
