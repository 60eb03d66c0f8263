#include <string.h>

#include "floats.h"
#include "phi_kernels.h"

// Element `column` of a row that is a little-endian stream of `bits`-wide integers.
static inline uint32_t element(const uint8_t *row, size_t row_bytes, uint32_t bits, size_t column) {
    size_t at = column * bits;
    uint32_t low = row[at >> 3];
    uint32_t high = (at >> 3) + 1 < row_bytes ? row[(at >> 3) + 1] : 0;
    return ((low | high << 8) >> (at & 7)) & ((1u << bits) - 1);
}

void phi_pack(const PhiMatrix *m, const uint8_t *words, uint32_t bits, const uint8_t *scales,
              const uint8_t *biases, uint8_t *out, size_t begin, size_t end) {
    const size_t group = m->group, groups = m->columns / group, record = phi_record_bytes(m);
    const size_t row_bytes = (size_t)m->columns * bits / 8, f = phi_float_size(m->float_type);
    const size_t integers = record - 32 * f, quads = group / 4;
    uint8_t q[128];
    for (size_t block = begin; block < end; block++) {
        uint8_t *base = out + block * phi_block_bytes(m);
        memset(base, 0, phi_block_bytes(m));
        for (size_t r = 0; r < 16 && block * 16 + r < m->rows; r++) {
            const size_t row = block * 16 + r;
            const uint8_t *source = words + row * row_bytes;
            for (size_t g = 0; g < groups; g++) {
                uint8_t *to = base + g * record;
                for (size_t c = 0; c < group; c++) q[c] = (uint8_t)element(source, row_bytes, bits, g * group + c);
                if (m->kind == PHI_INT8) {
                    for (size_t j = 0; j < quads; j++) memcpy(to + 64 * j + 4 * r, q + 4 * j, 4);
                } else {
                    for (size_t j = 0; j < quads / 2; j++)
                        for (size_t i = 0; i < 4; i++)
                            to[64 * j + 4 * r + i] = (uint8_t)(q[4 * j + i] | q[4 * (j + quads / 2) + i] << 4);
                }
                memcpy(to + integers + r * f, scales + (row * groups + g) * f, f);
                memcpy(to + integers + (16 + r) * f, biases + (row * groups + g) * f, f);
            }
        }
    }
}

void phi_pack_plain(const PhiMatrix *m, const uint8_t *elements, uint8_t *out, size_t begin, size_t end) {
    const size_t f = phi_float_size(m->float_type);
    for (size_t block = begin; block < end; block++) {
        uint8_t *base = out + block * phi_block_bytes(m);
        memset(base, 0, phi_block_bytes(m));
        for (size_t r = 0; r < 16 && block * 16 + r < m->rows; r++) {
            const uint8_t *source = elements + (block * 16 + r) * (size_t)m->columns * f;
            for (size_t c = 0; c < m->columns; c++) memcpy(base + (c * 16 + r) * f, source + c * f, f);
        }
    }
}

void phi_to_float(const uint8_t *from, uint32_t float_type, size_t n, float *out) {
    for (size_t i = 0; i < n; i++) out[i] = phi_load_float(from + i * phi_float_size(float_type), float_type);
}
