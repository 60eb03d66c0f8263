#include <string.h>

#include "phi_kernels.h"

// Finds elements whose exponent bits are all set: infinities and NaN. In pieces, so that the inner loop has no exit and
// is vectorized.
#define PHI_FIND_NOT_FINITE(type, exponent)                              \
    for (size_t begin = 0; begin < n; begin += 1024) {                   \
        const size_t end = n - begin < 1024 ? n : begin + 1024;          \
        type found = 0;                                                  \
        for (size_t i = begin; i < end; i++) {                           \
            type bits;                                                   \
            memcpy(&bits, from + i * sizeof bits, sizeof bits);          \
            found |= (type)((bits & (exponent)) == (exponent));          \
        }                                                                \
        if (!found) continue;                                            \
        for (size_t i = begin; i < end; i++) {                           \
            type bits;                                                   \
            memcpy(&bits, from + i * sizeof bits, sizeof bits);          \
            if ((bits & (exponent)) == (exponent)) return i;             \
        }                                                                \
    }                                                                    \
    return n

size_t phi_find_not_finite(const uint8_t *from, uint32_t float_type, size_t n) {
    switch (float_type) {
    case PHI_F32: PHI_FIND_NOT_FINITE(uint32_t, 0x7f800000u);
    case PHI_BF16: PHI_FIND_NOT_FINITE(uint16_t, 0x7f80u);
    default: PHI_FIND_NOT_FINITE(uint16_t, 0x7c00u);
    }
}
