// NEON with the dot product extension (signed bytes): 4 rows by 4 columns an instruction.
#if defined(__aarch64__)
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#include "../variants.h"
#include "arm.h"

#define HOOK(name) dotprod_##name

// Adds the products of low or high nibbles of a group's lines and the tokens' bytes to the sums.
INLINE void add_nibbles(const int high, const uint8_t *lines, const size_t n, const size_t group, const int8_t *x,
                        const int count, PhiArmSums sums) {
    const uint8x16_t nibble = vdupq_n_u8(15);
    for (size_t j = 0; j < n; j += 4) {
        int32x4_t quads[PHI_ARM_TOKENS];
        PHI_UNROLLED
        for (int i = 0; i < count; i++) quads[i] = vreinterpretq_s32_s8(vld1q_s8(x + (size_t)i * group + 4 * j));
        PHI_UNROLLED
        for (int k = 0; k < 16; k++, lines += 16) {
            const uint8x16_t line = vld1q_u8(lines);
            const int8x16_t w = vreinterpretq_s8_u8(high ? vshrq_n_u8(line, 4) : vandq_u8(line, nibble));
            PHI_UNROLLED
            for (int i = 0; i < count; i++)
                sums[i][k % 4] =
                    vdotq_s32(sums[i][k % 4], w, vreinterpretq_s8_s32(vdupq_n_s32(quads[i][k / 4])));
        }
    }
}

// Bytes are multiplied as two nibbles, as the instruction takes only signed ones.
INLINE void HOOK(group_sums)(const uint32_t kind, const uint8_t *lines, const size_t group, const int8_t *x,
                             const int count, PhiArmSums sums) {
    const size_t n = kind == PHI_INT4 ? group / 8 : group / 4;
    PHI_UNROLLED
    for (int i = 0; i < count; i++)
        for (int r = 0; r < 4; r++) sums[i][r] = vdupq_n_s32(0);
    add_nibbles(1, lines, n, group, kind == PHI_INT4 ? x + group / 2 : x, count, sums);
    PHI_UNROLLED
    for (int i = 0; kind == PHI_INT8 && i < count; i++)
        for (int r = 0; r < 4; r++) sums[i][r] = vshlq_n_s32(sums[i][r], 4);
    add_nibbles(0, lines, n, group, x, count, sums);
}

#include "products.inc"

INLINE void HOOK(dots)(const int8_t *query, const uint8_t *keys, size_t dims, int32_t *out) {
    const uint8x16_t middle = vdupq_n_u8(128);
    int32x4_t total = vdupq_n_s32(0);
    for (size_t d = 0; d < dims; d += 16) total = vdotq_s32(total, vld1q_s8(query + d), vdupq_n_s8(1));
    // Keys are made signed by subtracting 128, which is added back here.
    const int32x4_t back = vdupq_n_s32(128 * vaddvq_s32(total));
    int32x4_t sums[4] = {back, back, back, back};
    for (size_t d = 0; d < dims; d += 4, keys += 64)
        for (int i = 0; i < 4; i++)
            sums[i] = vdotq_s32(sums[i], vreinterpretq_s8_u8(veorq_u8(vld1q_u8(keys + 16 * i), middle)),
                                phi_quad4(query + d));
    for (int i = 0; i < 4; i++) vst1q_s32(out + 4 * i, sums[i]);
}

INLINE void HOOK(weighted)(const uint8_t *weights, const int8_t *values, size_t part, size_t parts, int32_t *out) {
    // Weights are made signed by subtracting 128, which is corrected at the end.
    const int32x4_t zero = vdupq_n_s32(0);
    int32x4_t sums[4] = {zero, zero, zero, zero}, plain[4] = {zero, zero, zero, zero};
    for (size_t p = 0; p < parts; p++)
        for (size_t j = 0; j < 4; j++) {
            const int8x16_t w = veorq_s8(phi_quad4(weights + p * 16 + j * 4), vdupq_n_s8(-128));
            for (size_t i = 0; i < 4; i++) {
                const int8x16_t v = vld1q_s8(values + p * part + j * 64 + i * 16);
                sums[i] = vdotq_s32(sums[i], v, w);
                plain[i] = vdotq_s32(plain[i], v, vdupq_n_s8(1));
            }
        }
    for (int i = 0; i < 4; i++) vst1q_s32(out + 4 * i, vaddq_s32(sums[i], vshlq_n_s32(plain[i], 7)));
}

INLINE f32x16 HOOK(load_scales)(const uint8_t *p, uint32_t float_type) { return phi_scales16(p, float_type); }
static uint64_t HOOK(probe_products)(size_t rounds) {
    int32x4_t sums[16];
    int8x16_t w = vdupq_n_s8(3);
    for (int i = 0; i < 16; i++) sums[i] = vdupq_n_s32(i);
    for (size_t r = 0; r < rounds; r++)
        for (int i = 0; i < 16; i++) {
            __asm__ volatile("" : "+w"(w));
            sums[i] = vdotq_s32(sums[i], w, w);
        }
    for (int i = 0; i < 16; i++) __asm__ volatile("" : : "w"(sums[i]));
    return rounds * 16 * 16;
}

#include "../one_query.inc"
#include "../lanes_ops.inc"

PHI_LINEAR(linear, HOOK(products))

const PhiKernels phi_dotprod_kernels = {.name = "dotprod", .together = 2, PHI_NEEDED(16, 4, 2),
                                        .linear = HOOK(linear), PHI_LANES_OPS};
#pragma clang attribute pop
#else
typedef int phi_no_dotprod;
#endif
