// The specification: plain C, one rounding at each written operation. Every variant gives the same bits.
#include "../lanes.h"
#include "../variants.h"

#define HOOK(name) reference_##name

INLINE void HOOK(dots)(const int8_t *query, const uint8_t *keys, size_t dims, int32_t *out) {
    for (size_t p = 0; p < 16; p++) {
        out[p] = 0;
        for (size_t d = 0; d < dims; d++) out[p] += (int32_t)query[d] * (int32_t)keys[d / 4 * 64 + p * 4 + d % 4];
    }
}

INLINE void HOOK(weighted)(const uint8_t *weights, const int8_t *values, size_t part, size_t parts, int32_t *out) {
    for (size_t d = 0; d < 16; d++) {
        out[d] = 0;
        for (size_t p = 0; p < parts * 16; p++)
            out[d] += (int32_t)weights[p] * (int32_t)values[p / 16 * part + p % 16 / 4 * 64 + d * 4 + p % 4];
    }
}

INLINE f32x16 HOOK(load_scales)(const uint8_t *p, uint32_t float_type) {
    f32x16 v;
    for (int i = 0; i < 16; i++) v[i] = phi_load_float(p + i * phi_float_size(float_type), float_type);
    return v;
}

static void HOOK(products)(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out, size_t stride,
                         size_t begin, size_t end) {
    const size_t group = w->group, groups = w->columns / group, pairs = phi_pairs(w->columns, group);
    const size_t f = phi_float_size(w->float_type), half = group / 2, segments = phi_segments(w->columns, group);
    for (size_t number = begin; number < end; number++) {
        const uint8_t *block = w->data + number * phi_block_bytes(w);
        for (size_t t = 0; t < tokens; t++) {
            for (size_t r = 0; r < 16; r++) {
                float S = 0, step;
                uint32_t biases = 0;  // wraps around if there were no numbers to begin with
                memcpy(&step, block + 4 * r, 4);
                for (size_t g = 0; g < groups; g++) {
                    const uint8_t *base = block + phi_integers_at(w, g);
                    const size_t at = phi_entry(x, t, groups) + g * x->tile;
                    const int8_t *values = x->values + at * group;
                    int32_t sum = 0;
                    for (size_t c = 0; c < group; c++) {
                        int32_t q;
                        if (w->kind == PHI_INT8)
                            q = base[c / 4 * 64 + r * 4 + c % 4];
                        else if (c < half)
                            q = base[c / 4 * 64 + r * 4 + c % 4] & 15;
                        else
                            q = base[(c - half) / 4 * 64 + r * 4 + c % 4] >> 4;
                        sum += q * (int32_t)values[c];
                    }
                    const float scale = phi_load_float(block + phi_scales_at(w, g) + r * f, w->float_type);
                    S = __builtin_fmaf((float)sum * x->scales[at], scale, S);
                    int16_t bias;
                    memcpy(&bias, block + phi_biases_at(w, g / 2) + 4 * r + g % 2 * 2, 2);
                    const int16_t factor = x->sums[(phi_entry(x, t, pairs) + g / 2 * x->tile) * 2 + g % 2];
                    biases += (uint32_t)((int32_t)bias * factor);
                    if ((g + 1) % (2 * PHI_SEGMENT) == 0 || g + 1 == groups) {
                        const size_t segment = phi_entry(x, t, segments) + g / (2 * PHI_SEGMENT) * x->tile;
                        S = __builtin_fmaf((float)(int32_t)biases, step * x->sum_steps[segment], S);
                        biases = 0;
                    }
                }
                out[t * stride + number * 16 + r] = S * x->steps[t];
            }
        }
    }
}

static uint64_t HOOK(probe_products)(size_t rounds) {
    int32_t sum = 0;
    for (size_t i = 0; i < rounds; i++) {
        sum += (int32_t)(i & 15) * (int32_t)(i & 127);
        __asm__ volatile("" : "+r"(sum));
    }
    return rounds;
}

#include "../one_query.inc"
#include "../lanes_ops.inc"

PHI_LINEAR(linear, HOOK(products))

const PhiKernels phi_reference_kernels = {.name = "reference", .together = 2, .linear = HOOK(linear), PHI_LANES_OPS};
