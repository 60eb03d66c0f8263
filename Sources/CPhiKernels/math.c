#include <string.h>

#include "phi_kernels.h"

#pragma STDC FP_CONTRACT OFF

// exp: x = n ln2 + r with ln2 in two parts, then the Taylor series in r (|r| < 0.35, 14 terms).
double phi_exp(double x) {
    if (x != x) return x;
    if (x > 709.0) return __builtin_huge_val();
    if (x < -708.0) return 0.0;
    double n = (double)(long long)(x * 0x1.71547652b82fep+0 + (x < 0 ? -0.5 : 0.5));
    double r = (x - n * 0x1.62e42fef00000p-1) - n * 0x1.473de6af278ecp-34;
    double sum = 1.0;
    for (int k = 14; k >= 1; k--) sum = 1.0 + sum * r / (double)k;
    uint64_t bits = (uint64_t)((int64_t)n + 1023) << 52;
    double power;
    memcpy(&power, &bits, 8);
    return sum * power;
}

// log: x = 2^e m with m in [sqrt(1/2), sqrt 2), log m = 2 atanh((m - 1) / (m + 1)) by its series.
double phi_log(double x) {
    if (!(x > 0)) return x == 0 ? -__builtin_huge_val() : __builtin_nan("");
    if (x > 0x1.fffffffffffffp+1023) return x;
    int e = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        e = -54;
    }
    uint64_t bits;
    memcpy(&bits, &x, 8);
    e += (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
    double m;
    memcpy(&m, &bits, 8);
    if (m > 0x1.6a09e667f3bcdp+0) {
        m *= 0.5;
        e += 1;
    }
    double s = (m - 1.0) / (m + 1.0), s2 = s * s, sum = 0.0;
    for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + 1.0 / (double)k;
    return (double)e * 0x1.62e42fef00000p-1 + (2.0 * s * sum + (double)e * 0x1.473de6af278ecp-34);
}

// cos and sin: x = k pi/2 + r with pi/2 in three parts of 33 bits or more (Cody and Waite: k times
// the first two is exact for k < 2^20), then Taylor series in r (|r| < 0.79).
void phi_cos_sin(double x, double *cosine, double *sine) {
    double k = (double)(long long)(x * 0x1.45f306dc9c883p-1 + (x < 0 ? -0.5 : 0.5));
    double r = ((x - k * 0x1.921fb54400000p+0) - k * 0x1.0b4611a600000p-34) - k * 0x1.3198a2e037073p-69;
    double r2 = r * r, c = 1.0, s = 1.0;
    for (int i = 18; i >= 2; i -= 2) {
        c = 1.0 - c * r2 / (double)(i * (i - 1));
        s = 1.0 - s * r2 / (double)(i * (i + 1));
    }
    s *= r;
    switch ((long long)k & 3) {
    case 0: *cosine = c, *sine = s; break;
    case 1: *cosine = -s, *sine = c; break;
    case 2: *cosine = -c, *sine = -s; break;
    default: *cosine = s, *sine = -c; break;
    }
}
