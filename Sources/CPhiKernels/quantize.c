#include <string.h>

// No fused multiply-adds: the same bits on every machine.
#pragma STDC FP_CONTRACT OFF

#include "floats.h"
#include "phi_kernels.h"
#include "quantize.h"

// Rounds a value of 0 or more to the nearest integer, ties to even: from 2^23 on all are integers.
static inline float nearest(float value) {
    return value < 8388608.0f ? value + 8388608.0f - 8388608.0f : value;
}

// Finds the minimum and maximum of n values, n a multiple of 8: in eight lanes, which are vectorized.
static inline void bounds(const float *values, size_t n, float *least, float *greatest) {
    float low[8], high[8];
    memcpy(low, values, sizeof low);
    memcpy(high, values, sizeof high);
    for (size_t i = 8; i < n; i += 8)
        for (size_t k = 0; k < 8; k++) {
            const float value = values[i + k];
            low[k] = value < low[k] ? value : low[k];
            high[k] = value > high[k] ? value : high[k];
        }
    for (size_t k = 1; k < 8; k++) {
        low[0] = low[k] < low[0] ? low[k] : low[0];
        high[0] = high[k] > high[0] ? high[k] : high[0];
    }
    *least = low[0];
    *greatest = high[0];
}

void phi_affine(const float *values, size_t n, float top, float *scale_out, float *bias_out, float *low_out,
                float *high_out) {
    float low, high;
    bounds(values, n, &low, &high);
    float scale = (high - low) / top;
    if (!(scale > 1e-7f)) scale = 1e-7f;
    // The bound farther from zero becomes a multiple of the scale, and so does zero.
    const int is_low = __builtin_fabsf(low) > __builtin_fabsf(high);
    if (!is_low) scale = -scale;
    const float edge = is_low ? low : high, ratio = edge / scale;
    const float steps = __builtin_copysignf(nearest(__builtin_fabsf(ratio)), ratio);
    float bias = 0;
    if (steps != 0) {
        scale = edge / steps;
        bias = edge;
    }
    *scale_out = scale;
    *bias_out = bias;
    *low_out = low;
    *high_out = high;
}

static void quantize_group(const float *values, size_t n, uint32_t bits, float *scale_out, float *bias_out,
                           uint8_t *codes) {
    const float top = (float)((1u << bits) - 1);
    float scale, bias, low, high;
    phi_affine(values, n, top, &scale, &bias, &low, &high);
    for (size_t i = 0; i < n; i++) {
        float code = (values[i] - bias) / scale;
        code = code > 0 ? code : 0;
        code = code < top ? code : top;
        codes[i] = (uint8_t)(int32_t)(code + 8388608.0f - 8388608.0f);
    }
    *scale_out = scale;
    *bias_out = bias;
}

void phi_pack_codes(const uint8_t *codes, size_t n, uint32_t bits, uint8_t *out) {
    if (bits == 4) {
        for (size_t i = 0; i < n / 2; i++) out[i] = (uint8_t)(codes[2 * i] | codes[2 * i + 1] << 4);
        return;
    }
    uint32_t stream = 0, filled = 0;
    for (size_t i = 0; i < n; i++) {
        stream |= (uint32_t)codes[i] << filled;
        for (filled += bits; filled >= 8; filled -= 8) {
            *out++ = (uint8_t)stream;
            stream >>= 8;
        }
    }
}

void phi_quantize(const float *values, size_t n, uint32_t group, uint32_t bits, uint32_t float_type, uint8_t *words,
                  uint8_t *scales, uint8_t *biases) {
    const size_t size = phi_float_size(float_type);
    uint8_t codes[128];
    for (size_t g = 0; g < n / group; g++) {
        float scale, bias;
        quantize_group(values + g * group, group, bits, &scale, &bias, codes);
        phi_pack_codes(codes, group, bits, words + g * group * bits / 8);
        phi_store_float(scales + g * size, float_type, scale);
        phi_store_float(biases + g * size, float_type, bias);
    }
}

void phi_round(float *values, uint32_t float_type, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint8_t rounded[4];
        phi_store_float(rounded, float_type, values[i]);
        values[i] = phi_load_float(rounded, float_type);
    }
}

void phi_from_float(const float *from, uint32_t float_type, size_t n, uint8_t *out) {
    for (size_t i = 0; i < n; i++) phi_store_float(out + i * phi_float_size(float_type), float_type, from[i]);
}

void phi_gather_outliers(const PhiActivations *x, size_t tokens) {
    const PhiOutlier *own = x->outliers;
    for (size_t t = 0; t < tokens; t += 16) {
        PhiSharedOutliers *to = x->shared + t / 16;
        uint32_t count = 0, rows = 0, n = 0;
        for (uint32_t i = 0; i < 16 && t + i < tokens; i++, own += PHI_OUTLIERS) {
            const uint32_t before = n;
            for (size_t k = 0; k < PHI_OUTLIERS && own[k].column < x->columns; k++, n++) {
                uint32_t place = 0;
                while (place < count && to->columns[place] != own[k].column) place++;
                if (place == count) to->columns[count++] = own[k].column;
                to->places[n] = (uint8_t)place;
                to->values[n] = own[k].value;
            }
            if (n == before) continue;
            to->row[rows] = i;
            to->ends[rows++] = n;
        }
        to->count = count;
        to->rows = rows;
    }
}
