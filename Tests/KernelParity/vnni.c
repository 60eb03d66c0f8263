// The AVX-VNNI kernels with their products of bytes done in C, for processors that lack it: takes the place of
// x86/avxvnni.c when the parity program is compiled for such a one.
#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

// Unsigned bytes of a by signed bytes of b, four at a time, added to 32-bit integers.
__attribute__((target("avx2"))) static __m256i add_products_of_bytes(__m256i sums, __m256i a, __m256i b) {
    int32_t to[8];
    uint8_t x[32];
    int8_t y[32];
    memcpy(to, &sums, 32), memcpy(x, &a, 32), memcpy(y, &b, 32);
    for (int i = 0; i < 32; i++) to[i / 4] += x[i] * y[i];
    memcpy(&sums, to, 32);
    return sums;
}

// The compiler finds other uses for the instructions.
#define TARGET "avx2,fma,f16c"
#undef _mm256_dpbusd_avx_epi32
#define _mm256_dpbusd_avx_epi32 add_products_of_bytes
#define phi_avxvnni_available processor_has_vnni
#include "../../Sources/CPhiKernels/x86/avxvnni.c"
#undef phi_avxvnni_available

int phi_avxvnni_available(void) { return 1; }
#endif
