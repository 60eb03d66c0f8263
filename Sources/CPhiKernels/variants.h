#ifndef PHI_VARIANTS_H
#define PHI_VARIANTS_H
#include "phi_kernels.h"

extern const PhiKernels phi_reference_kernels;
#if defined(__x86_64__)
extern const PhiKernels phi_avx2_kernels, phi_avxvnni_kernels, phi_avx512_kernels, phi_avx512_shifting_kernels,
    phi_amx_kernels;
// Call only if the processor has AVX2.
int phi_avxvnni_available(void);
// AMX's tiles are state that a process must request from Linux.
int phi_amx_available(void);
#elif defined(__aarch64__)
extern const PhiKernels phi_dotprod_kernels, phi_i8mm_kernels;
#endif
#endif
