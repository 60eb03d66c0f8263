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
// Sums of 16 rows times some tokens: [token][rows from 4 * r].
typedef int32x4_t PhiArmSums[PHI_ARM_TOKENS][4];

#endif
