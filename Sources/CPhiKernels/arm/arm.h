#ifndef PHI_ARM_H
#define PHI_ARM_H
#include <arm_neon.h>

#include "../lanes.h"

// Four scales or biases as floats.
INLINE float32x4_t phi_scales4(const uint8_t *p, uint32_t float_type) {
    switch (float_type) {
    case PHI_F16: return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p)));
    case PHI_BF16: return vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(p)), 16));
    default: return vreinterpretq_f32_u8(vld1q_u8(p));
    }
}

INLINE f32x16 phi_scales16(const uint8_t *p, uint32_t float_type) {
    float v[16];
    for (size_t i = 0; i < 16; i += 4) vst1q_f32(v + i, phi_scales4(p + i * phi_float_size(float_type), float_type));
    return load16(v);
}

// Four bytes in each lane.
INLINE int8x16_t phi_quad4(const void *p) {
    int32_t bytes;
    memcpy(&bytes, p, 4);
    return vreinterpretq_s8_s32(vdupq_n_s32(bytes));
}

#define PHI_ARM_TOKENS 4

// One block of 16 rows and `count` tokens from token t, given group_sums(kind, lines, group, x, count,
// sums[token][4]) for the exact integer products of a group.
#define PHI_ARM_LINEAR(HOOK)                                                                               \
    INLINE void HOOK(tile)(const PhiMatrix *w, uint32_t kind, size_t group, const PhiActivations *x,       \
                           size_t t, int count, const uint8_t *block, float *out, size_t stride) {         \
        const size_t groups = w->columns / group, f = phi_float_size(w->float_type);                       \
        const int16_t *factors = x->sums + phi_entry(x, t, phi_pairs(w->columns, group)) * 2;              \
        const float *steps = x->sum_steps + phi_entry(x, t, phi_segments(w->columns, group));              \
        float32x4_t S[PHI_ARM_TOKENS][4];                                                                  \
        int32x4_t B[PHI_ARM_TOKENS][4];                                                                    \
        for (int i = 0; i < count; i++)                                                                    \
            for (int r = 0; r < 4; r++) S[i][r] = vdupq_n_f32(0), B[i][r] = vdupq_n_s32(0);                \
        for (size_t g = 0; g < groups; g++) {                                                              \
            const int last = g + 1 == groups;                                                              \
            const size_t at = phi_entry(x, t, groups) + g * x->tile;                                       \
            int32x4_t sums[PHI_ARM_TOKENS][4];                                                             \
            HOOK(group_sums)(kind, block + phi_integers_at(w, g), group, x->values + at * group, count,    \
                             sums);                                                                        \
            const uint8_t *scales = block + phi_scales_at(w, g);                                           \
            for (size_t r = 0; r < 4; r++) {                                                               \
                const float32x4_t scale = phi_scales4(scales + 4 * r * f, w->float_type);                  \
                for (int i = 0; i < count; i++) {                                                          \
                    const float32x4_t product = vcvtq_f32_s32(sums[i][r]);                                 \
                    S[i][r] = vfmaq_f32(S[i][r], vmulq_n_f32(product, x->scales[at + i]), scale);          \
                }                                                                                          \
            }                                                                                              \
            if (g % 2 == 0 && !last) continue;                                                             \
            for (size_t r = 0; r < 4; r++) {                                                               \
                const int16_t *line = (const int16_t *)(block + phi_biases_at(w, g / 2) + 16 * r);         \
                const int16x4x2_t biases = vld2_s16(line);                                                 \
                for (int i = 0; i < count; i++) {                                                          \
                    B[i][r] = vmlal_n_s16(B[i][r], biases.val[0], factors[2 * i]);                         \
                    B[i][r] = vmlal_n_s16(B[i][r], biases.val[1], factors[2 * i + 1]);                     \
                }                                                                                          \
            }                                                                                              \
            factors += 2 * x->tile;                                                                        \
            if ((g + 1) % (2 * PHI_SEGMENT) && !last) continue;                                            \
            for (size_t r = 0; r < 4; r++) {                                                               \
                const float32x4_t step = vld1q_f32((const float *)block + 4 * r);                          \
                for (int i = 0; i < count; i++) {                                                          \
                    const float32x4_t factor = vmulq_n_f32(step, steps[i]);                                \
                    S[i][r] = vfmaq_f32(S[i][r], vcvtq_f32_s32(B[i][r]), factor);                          \
                    B[i][r] = vdupq_n_s32(0);                                                              \
                }                                                                                          \
            }                                                                                              \
            steps += x->tile;                                                                              \
        }                                                                                                  \
        for (int i = 0; i < count; i++)                                                                    \
            for (int r = 0; r < 4; r++)                                                                    \
                vst1q_f32(out + (t + (size_t)i) * stride + 4 * r, vmulq_n_f32(S[i][r], x->steps[t + i]));  \
    }                                                                                                      \
    static void HOOK(products)(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out,     \
                               size_t stride, size_t begin, size_t end) {                                  \
        for (size_t b = begin; b < end; b++) {                                                             \
            const uint8_t *block = w->data + b * phi_block_bytes(w);                                       \
            size_t t = 0;                                                                                  \
            for (; t + 4 <= tokens; t += 4)                                                                \
                HOOK(tile)(w, w->kind, w->group, x, t, 4, block, out + b * 16, stride);                    \
            switch (tokens - t) {                                                                          \
            case 3: HOOK(tile)(w, w->kind, w->group, x, t, 3, block, out + b * 16, stride); break;         \
            case 2: HOOK(tile)(w, w->kind, w->group, x, t, 2, block, out + b * 16, stride); break;         \
            case 1: HOOK(tile)(w, w->kind, w->group, x, t, 1, block, out + b * 16, stride); break;         \
            }                                                                                              \
        }                                                                                                  \
    }

#endif
