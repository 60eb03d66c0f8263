#ifndef QUANTIZE_H
#define QUANTIZE_H

#include <stddef.h>
#include <stdint.h>

// Computes MLX's scale and bias for a group of n values and codes 0 ... top, and the bounds of the values.
void phi_affine(const float *values, size_t n, float top, float *scale, float *bias, float *low, float *high);
// Writes codes as one little-endian bit stream; 32 values of any width fill whole bytes.
void phi_pack_codes(const uint8_t *codes, size_t n, uint32_t bits, uint8_t *out);

#endif
