#ifndef PHI_FLOATS_H
#define PHI_FLOATS_H

#include <string.h>

#include "phi_kernels.h"

// Reads one float of a type exactly, also denormals, infinities and NaN.
static inline float phi_load_float(const uint8_t *p, uint32_t float_type) {
    uint32_t bits;
    float value;
    if (float_type == PHI_F32) {
        memcpy(&value, p, 4);
        return value;
    }
    uint16_t half;
    memcpy(&half, p, 2);
    if (float_type == PHI_BF16) {
        bits = (uint32_t)half << 16;
        memcpy(&value, &bits, 4);
        return value;
    }
    // f16: exponent and mantissa are moved into place, then a product corrects the exponent's bias.
    bits = (uint32_t)(half & 0x7fff) << 13;
    memcpy(&value, &bits, 4);
    value *= 0x1p112f;
    memcpy(&bits, &value, 4);
    if ((half & 0x7c00) == 0x7c00) bits |= 0x7f800000;
    bits |= (uint32_t)(half & 0x8000) << 16;
    memcpy(&value, &bits, 4);
    return value;
}

// Returns the nearest float16, ties to even; larger magnitudes become the largest. Infinity and NaN become NaN.
static inline uint16_t phi_to_half(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    bits &= 0x7fffffff;
    if (bits >= 0x477ff000) return sign | (bits >= 0x7f800000 ? 0x7e00 : 0x7bff);
    if (bits < 0x38800000) {
        // Denormal: adding 0.5 leaves the mantissa's bits, rounded, at the bottom.
        float small;
        memcpy(&small, &bits, 4);
        small += 0.5f;
        memcpy(&bits, &small, 4);
        return sign | (uint16_t)(bits - 0x3f000000);
    }
    bits += 0xfff + (bits >> 13 & 1);
    return sign | (uint16_t)((bits - 0x38000000) >> 13);
}

// Writes a finite value as the nearest float of a type, ties to even. float16 as in phi_to_half; beyond the largest
// bfloat16 comes infinity.
static inline void phi_store_float(uint8_t *p, uint32_t float_type, float value) {
    if (float_type == PHI_F32) {
        memcpy(p, &value, 4);
        return;
    }
    uint16_t half;
    if (float_type == PHI_BF16) {
        uint32_t bits;
        memcpy(&bits, &value, 4);
        half = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    } else {
        half = phi_to_half(value);
    }
    memcpy(p, &half, 2);
}

#endif
