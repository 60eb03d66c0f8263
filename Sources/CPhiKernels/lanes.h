// Vectors of 16 lanes in clang's portable vector types. One source is compiled for each instruction set: every
// operation is exactly rounded, so all give the same bits.
#ifndef PHI_LANES_H
#define PHI_LANES_H

#include <string.h>

#include "floats.h"
#include "phi_kernels.h"

#pragma STDC FP_CONTRACT OFF

#define INLINE static inline __attribute__((always_inline))
// Put before a loop over an array in registers: a loop unrolled late leaves it in memory.
#define PHI_UNROLLED _Pragma("clang loop unroll(full)")

typedef float f32x16 __attribute__((vector_size(64)));
typedef int32_t i32x16 __attribute__((vector_size(64)));
typedef int8_t i8x16 __attribute__((vector_size(16)));
typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef int8_t i8x64 __attribute__((vector_size(64)));
typedef uint32_t u32x16 __attribute__((vector_size(64)));

INLINE f32x16 load16(const float *p) {
    f32x16 v;
    memcpy(&v, p, 64);
    return v;
}
INLINE void store16(float *p, f32x16 v) { memcpy(p, &v, 64); }
// Loads the first n lanes, the others zero.
INLINE f32x16 load_some(const float *p, size_t n) {
    f32x16 v = {0};
    memcpy(&v, p, n * 4);
    return v;
}
INLINE f32x16 all(float x) { return (f32x16){} + x; }
// Without an addition, which takes time and turns -0 into 0.
INLINE f32x16 same16(float x) { return (f32x16){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }
INLINE f32x16 fma16(f32x16 a, f32x16 b, f32x16 c) { return __builtin_elementwise_fma(a, b, c); }
INLINE f32x16 choose(i32x16 mask, f32x16 a, f32x16 b) {
    return (f32x16)(((i32x16)a & mask) | ((i32x16)b & ~mask));
}
INLINE f32x16 max16(f32x16 a, f32x16 b) { return choose(a > b, a, b); }
INLINE f32x16 abs16(f32x16 a) { return (f32x16)((i32x16)a & 0x7fffffff); }
// Returns the larger of two magnitudes (without sign), NaN if one of them is: as integers they have the same order,
// with NaN above all.
INLINE f32x16 larger16(f32x16 a, f32x16 b) {
    const i32x16 x = (i32x16)a, y = (i32x16)b, mask = x > y;
    return (f32x16)((x & mask) | (y & ~mask));
}
INLINE float larger(float a, float b) {
    int32_t x, y;
    memcpy(&x, &a, 4), memcpy(&y, &b, 4);
    return x > y ? a : b;
}

// Adds 16 lanes in a tree: halves onto halves.
#define PHI_ROTATED(v, a, b, c, d, e, f, g, h) \
    __builtin_shufflevector(v, v, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h)
INLINE float sum_lanes(f32x16 v) {
    v += PHI_ROTATED(v, 8, 9, 10, 11, 12, 13, 14, 15);
    v += PHI_ROTATED(v, 4, 5, 6, 7, 4, 5, 6, 7);
    v += PHI_ROTATED(v, 2, 3, 2, 3, 2, 3, 2, 3);
    return v[0] + v[1];
}
INLINE float max_lanes(f32x16 v) {
    v = max16(v, PHI_ROTATED(v, 8, 9, 10, 11, 12, 13, 14, 15));
    v = max16(v, PHI_ROTATED(v, 4, 5, 6, 7, 4, 5, 6, 7));
    v = max16(v, PHI_ROTATED(v, 2, 3, 2, 3, 2, 3, 2, 3));
    return v[0] > v[1] ? v[0] : v[1];
}
// Returns the largest of 16 magnitudes, NaN if one of them is.
INLINE float largest_lane(f32x16 v) {
    v = larger16(v, PHI_ROTATED(v, 8, 9, 10, 11, 12, 13, 14, 15));
    v = larger16(v, PHI_ROTATED(v, 4, 5, 6, 7, 4, 5, 6, 7));
    v = larger16(v, PHI_ROTATED(v, 2, 3, 2, 3, 2, 3, 2, 3));
    return larger(v[0], v[1]);
}

// Runs one stage of a Walsh-Hadamard transform over lanes `distance` apart, for distance 1, 2, 4, 8: each pair becomes
// its sum and difference.
#define PHI_BUTTERFLY(v, distance)                                                                         \
    (__builtin_shufflevector(v, v, 0 ^ distance, 1 ^ distance, 2 ^ distance, 3 ^ distance, 4 ^ distance,   \
                             5 ^ distance, 6 ^ distance, 7 ^ distance, 8 ^ distance, 9 ^ distance,         \
                             10 ^ distance, 11 ^ distance, 12 ^ distance, 13 ^ distance, 14 ^ distance,    \
                             15 ^ distance) +                                                              \
     (f32x16)((i32x16)v ^ (((PHI_LANE_NUMBERS & distance) != 0) & INT32_MIN)))
#define PHI_LANE_NUMBERS ((i32x16){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})

// Rounds to the nearest integers, ties to even, for |x| < 2^22: adding 1.5 * 2^23 leaves them in the low bits.
INLINE i32x16 round16(f32x16 x) { return (i32x16)(x + 12582912.0f) - 0x4b400000; }

// exp in float32, within 2 ulp, of numbers up to 88, or NaN; zero below -87.3. x = n ln2 + r, Taylor series of degree 7
// in r (|r| < 0.35), scaled by 2^n.
INLINE f32x16 exp_below16(f32x16 x) {
    // n is in the low bits, as in round16.
    const f32x16 shifted = x * 0x1.715476p+0f + 12582912.0f, n = shifted - 12582912.0f;
    f32x16 r = fma16(n, all(-0x1.62e000p-1f), x);
    r = fma16(n, all(-0x1.0bfbe8p-15f), r);
    f32x16 p = all(1.0f / 5040);
    p = fma16(p, r, all(1.0f / 720));
    p = fma16(p, r, all(1.0f / 120));
    p = fma16(p, r, all(1.0f / 24));
    p = fma16(p, r, all(1.0f / 6));
    p = fma16(p, r, all(0.5f));
    p = fma16(p, r, all(1.0f));
    p = fma16(p, r, all(1.0f));
    const f32x16 power = (f32x16)(((i32x16)shifted << 23) + (127 << 23));
    return choose(x < -87.3f, all(0.0f), p * power);
}
// exp of any number, clamped above 88.
INLINE f32x16 exp16(f32x16 x) { return exp_below16(choose(x > 88.0f, all(88.0f), x)); }

#endif
