#include <string.h>

// No fused multiply-adds: the same bits on every machine.
#pragma STDC FP_CONTRACT OFF

#include "floats.h"
#include "phi_kernels.h"

// Returns element `column` of a row, a little-endian stream of `bits`-wide integers.
static inline uint32_t element(const uint8_t *row, size_t row_bytes, uint32_t bits, size_t column) {
    size_t at = column * bits;
    uint32_t low = row[at >> 3];
    uint32_t high = (at >> 3) + 1 < row_bytes ? row[(at >> 3) + 1] : 0;
    return ((low | high << 8) >> (at & 7)) & ((1u << bits) - 1);
}

// Packs both halves of a 4-bit group side by side: the most common case, and the same nibbles in another order.
static inline void pack_nibbles(const uint8_t *from, size_t group, size_t r, uint8_t *to) {
    const uint8_t *low = from, *high = from + group / 4;
    uint8_t q[64];
    for (size_t k = 0; k < group / 4; k++) {
        q[2 * k] = (uint8_t)((low[k] & 15) | high[k] << 4);
        q[2 * k + 1] = (uint8_t)(low[k] >> 4 | (high[k] & 0xf0));
    }
    for (size_t j = 0; j < group / 8; j++) memcpy(to + 64 * j + 4 * r, q + 4 * j, 4);
}

// Packs one row's part of a record.
static inline void pack_group(const PhiMatrix *m, const uint8_t *row, size_t row_bytes, uint32_t bits, size_t g,
                              size_t r, uint8_t *to) {
    const size_t group = m->group, quads = group / 4;
    uint8_t q[128];
    if (bits == 4) {
        pack_nibbles(row + g * group / 2, group, r, to);
        return;
    }
    if (bits == 8)
        memcpy(q, row + g * group, group);
    else
        for (size_t c = 0; c < group; c++) q[c] = (uint8_t)element(row, row_bytes, bits, g * group + c);
    if (m->kind == PHI_INT8) {
        for (size_t j = 0; j < quads; j++) memcpy(to + 64 * j + 4 * r, q + 4 * j, 4);
    } else {
        for (size_t j = 0; j < quads / 2; j++)
            for (size_t i = 0; i < 4; i++)
                to[64 * j + 4 * r + i] = (uint8_t)(q[4 * j + i] | q[4 * (j + quads / 2) + i] << 4);
    }
}

// Copies of a few bytes, which must not be calls.
static inline void copy_float(uint8_t *to, const uint8_t *from, size_t size) {
    if (size == 2)
        memcpy(to, from, 2);
    else
        memcpy(to, from, 4);
}

// Packs one row's biases in 16 bits with a step for the row: as precise as float16, unless one is far larger than the
// others.
static void pack_biases(const PhiMatrix *m, const uint8_t *biases, size_t r, uint8_t *block) {
    const size_t groups = m->columns / m->group, f = phi_float_size(m->float_type);
    float most = 0, rest = 0;
    for (size_t g = 0; g < groups; g++) {
        const float bias = phi_load_float(biases + g * f, m->float_type);
        most = __builtin_fabsf(bias) > most ? __builtin_fabsf(bias) : most;
        rest += bias * 0;  // NaN if any is infinite or NaN, which makes the row NaN too
    }
    const float inverse = most > 1e-30f && rest == 0 ? 32767 / most : 0, step = (inverse > 0 ? most / 32767 : 0) + rest;
    memcpy(block + 4 * r, &step, 4);
    for (size_t g = 0; g < groups; g++) {
        const float bias = phi_load_float(biases + g * f, m->float_type);
        // Adding 1.5 * 2^23 rounds to the nearest integer.
        const int16_t q = rest == 0 ? (int16_t)(bias * inverse + 12582912.0f - 12582912.0f) : 0;
        memcpy(block + phi_biases_at(m, g / 2) + 4 * r + g % 2 * 2, &q, 2);
    }
}

void phi_pack(const PhiMatrix *m, const uint8_t *words, uint32_t bits, const uint8_t *scales,
              const uint8_t *biases, uint8_t *out, size_t begin, size_t end) {
    const size_t groups = m->columns / m->group;
    const size_t row_bytes = (size_t)m->columns * bits / 8, f = phi_float_size(m->float_type);
    for (size_t block = begin; block < end; block++) {
        uint8_t *base = out + block * phi_block_bytes(m);
        const size_t first = block * 16, rows = m->rows - first < 16 ? m->rows - first : 16;
        if (rows < 16 || groups % 2) memset(base, 0, phi_block_bytes(m));
        for (size_t g = 0; g < groups; g++)
            for (size_t r = 0; r < rows; r++) {
                const size_t row = first + r;
                pack_group(m, words + row * row_bytes, row_bytes, bits, g, r, base + phi_integers_at(m, g));
                copy_float(base + phi_scales_at(m, g) + r * f, scales + (row * groups + g) * f, f);
            }
        for (size_t r = 0; r < rows; r++) pack_biases(m, biases + (first + r) * groups * f, r, base);
    }
}

void phi_pack_plain(const PhiMatrix *m, const uint8_t *elements, uint8_t *out, size_t begin, size_t end) {
    const size_t f = phi_float_size(m->float_type);
    for (size_t block = begin; block < end; block++) {
        uint8_t *base = out + block * phi_block_bytes(m);
        memset(base, 0, phi_block_bytes(m));
        for (size_t r = 0; r < 16 && block * 16 + r < m->rows; r++) {
            const uint8_t *source = elements + (block * 16 + r) * (size_t)m->columns * f;
            for (size_t c = 0; c < m->columns; c++) copy_float(base + (c * 16 + r) * f, source + c * f, f);
        }
    }
}

void phi_to_float(const uint8_t *from, uint32_t float_type, size_t n, float *out) {
    for (size_t i = 0; i < n; i++) out[i] = phi_load_float(from + i * phi_float_size(float_type), float_type);
}
