#include "phi_processor.h"
#include "variants.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
static int has(const char *name) {
    int value = 0;
    size_t size = sizeof value;
    return sysctlbyname(name, &value, &size, 0, 0) == 0 && value;
}
#endif

// Fills `list` with the variants that this CPU can run, best first.
static size_t variants(const PhiKernels **list) {
    size_t n = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const int avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vnni");
    if (avx512 && phi_amx_available()) list[n++] = &phi_amx_kernels;
    const int shifting = phi_ways(phi_this_processor()).shifts;
    if (avx512 && shifting) list[n++] = &phi_avx512_shifting_kernels;
    if (avx512) list[n++] = &phi_avx512_kernels;
    if (avx512 && !shifting) list[n++] = &phi_avx512_shifting_kernels;
    if (avx2 && phi_avxvnni_available()) list[n++] = &phi_avxvnni_kernels;
    if (avx2) list[n++] = &phi_avx2_kernels;
#elif defined(__aarch64__) && defined(__linux__)
    if (getauxval(AT_HWCAP2) & (1ul << 13)) list[n++] = &phi_i8mm_kernels;
    if (getauxval(AT_HWCAP) & (1ul << 20)) list[n++] = &phi_dotprod_kernels;
#elif defined(__aarch64__) && defined(__APPLE__)
    if (has("hw.optional.arm.FEAT_I8MM")) list[n++] = &phi_i8mm_kernels;
    if (has("hw.optional.arm.FEAT_DotProd")) list[n++] = &phi_dotprod_kernels;
#endif
    list[n++] = &phi_reference_kernels;
    return n;
}

size_t phi_kernels_count(void) {
    const PhiKernels *list[8];
    return variants(list);
}

const PhiKernels *phi_kernels_at(size_t index) {
    const PhiKernels *list[8];
    return index < variants(list) ? list[index] : 0;
}
