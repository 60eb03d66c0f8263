#include <string.h>

// No fused multiply-adds: the same bits on every machine.
#pragma STDC FP_CONTRACT OFF

#include "floats.h"
#include "phi_kernels.h"
#include "quantize.h"

enum { LANES = 8, MOST = 128 };

// Sums are made in lanes, which are vectorized, and then in order.
static inline float total(const float *lanes) {
    float sum = lanes[0];
    for (size_t k = 1; k < LANES; k++) sum += lanes[k];
    return sum;
}

typedef struct {
    const float *values, *weights;
    size_t n;
    float top;
    uint32_t float_type;
    // Sum of the weights, and the values' weighted mean.
    float weight, mean;
} Group;

typedef struct {
    float scale, bias, error;
} Fit;

static inline float stored(float value, uint32_t float_type) {
    uint8_t bytes[4];
    phi_store_float(bytes, float_type, value);
    return phi_load_float(bytes, float_type);
}

// Computes the nearest codes to the values with a scale and a bias, as floats.
static inline void nearest_codes(const Group *g, float scale, float bias, float *codes) {
    const float inverse = scale != 0 ? 1 / scale : 0;
    for (size_t i = 0; i < g->n; i++) {
        float code = (g->values[i] - bias) * inverse;
        code = code > 0 ? code : 0;
        code = code < g->top ? code : g->top;
        codes[i] = code + 8388608.0f - 8388608.0f;
    }
}

// Rounds a scale and a bias to their stored form, computes the codes, and keeps both if the error is smaller.
static inline void consider(const Group *g, float scale, float bias, float *codes, Fit *best) {
    scale = stored(scale, g->float_type);
    bias = stored(bias, g->float_type);
    nearest_codes(g, scale, bias, codes);
    float lanes[LANES] = {0};
    for (size_t i = 0; i < g->n; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            const float error = g->values[i + k] - (scale * codes[i + k] + bias);
            lanes[k] += g->weights[i + k] * (error * error);
        }
    const float error = total(lanes);
    if (error < best->error) *best = (Fit){scale, bias, error};
}

// Computes the scale and bias of least weighted squared error for these codes. Returns 0 if all codes are equal.
static inline int least_squares(const Group *g, const float *codes, float *scale, float *bias) {
    float lanes[LANES] = {0};
    for (size_t i = 0; i < g->n; i += LANES)
        for (size_t k = 0; k < LANES; k++) lanes[k] += g->weights[i + k] * codes[i + k];
    const float mean = total(lanes) / g->weight;
    float squares[LANES] = {0}, products[LANES] = {0};
    for (size_t i = 0; i < g->n; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            const float from_mean = codes[i + k] - mean, weighted = g->weights[i + k] * from_mean;
            squares[k] += weighted * from_mean;
            products[k] += weighted * (g->values[i + k] - g->mean);
        }
    const float square = total(squares);
    if (!(square > 0)) return 0;
    *scale = total(products) / square;
    *bias = g->mean - *scale * mean;
    return 1;
}

// Tries a scale and a bias, and twice the least-squares fit of the resulting codes.
static void refine(const Group *g, float scale, float bias, Fit *best) {
    float codes[MOST];
    consider(g, scale, bias, codes, best);
    for (int round = 0; round < 2 && least_squares(g, codes, &scale, &bias); round++)
        consider(g, scale, bias, codes, best);
}

static Fit fit(const Group *g) {
    Fit best = {0, 0, __builtin_inff()};
    float scale, bias, low, high;
    phi_affine(g->values, g->n, g->top, &scale, &bias, &low, &high);
    // Stays if no other is better, even with an infinite error.
    best.scale = stored(scale, g->float_type);
    best.bias = stored(bias, g->float_type);
    refine(g, scale, bias, &best);
    // The whole range, and narrower ones: cutting off extremes may pay.
    const float middle = low / 2 + high / 2;
    for (int tenths = 10; tenths >= 8; tenths--) {
        const float part = (float)tenths / 10;
        const float from = middle + (low - middle) * part, to = middle + (high - middle) * part;
        refine(g, (to - from) / g->top, from, &best);
    }
    return best;
}

void phi_quantize_weighted(const float *values, const float *weights, size_t n, uint32_t group, uint32_t bits,
                           uint32_t float_type, uint8_t *words, uint8_t *scales, uint8_t *biases) {
    const size_t size = phi_float_size(float_type);
    for (size_t at = 0; at < n / group; at++) {
        Group g = {.values = values + at * group, .weights = weights + at * group, .n = group,
                   .top = (float)((1u << bits) - 1), .float_type = float_type};
        float lanes[LANES] = {0}, products[LANES] = {0};
        for (size_t i = 0; i < g.n; i += LANES)
            for (size_t k = 0; k < LANES; k++) {
                lanes[k] += g.weights[i + k];
                products[k] += g.weights[i + k] * g.values[i + k];
            }
        g.weight = total(lanes);
        g.mean = total(products) / g.weight;
        const Fit found = fit(&g);
        float codes[MOST];
        uint8_t bytes[MOST];
        nearest_codes(&g, found.scale, found.bias, codes);
        for (size_t i = 0; i < g.n; i++) bytes[i] = (uint8_t)(int32_t)codes[i];
        phi_pack_codes(bytes, group, bits, words + at * group * bits / 8);
        phi_store_float(scales + at * size, float_type, found.scale);
        phi_store_float(biases + at * size, float_type, found.bias);
    }
}
