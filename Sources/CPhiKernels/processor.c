#if defined(__linux__)
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "phi_processor.h"

#if defined(__x86_64__)
#include <cpuid.h>

PhiProcessor phi_this_processor(void) {
    PhiProcessor p = {PHI_OTHER, 0};
    unsigned a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d)) return p;
    // "Auth" of AuthenticAMD, "Genu" of GenuineIntel.
    p.vendor = b == 0x68747541 ? PHI_AMD : b == 0x756e6547 ? PHI_INTEL : PHI_OTHER;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return p;
    const unsigned family = a >> 8 & 15;
    p.family = family == 15 ? family + (a >> 20 & 255) : family;
    return p;
}
#else
PhiProcessor phi_this_processor(void) { return (PhiProcessor){PHI_OTHER, 0}; }
#endif

PhiWays phi_ways(PhiProcessor p) {
    // Zen 4 multiplies once a cycle, with shifts in parallel. Zen 5 and Intel's multiply twice, on the units that
    // convert and shift. Zen 4's hardware prefetches the KV cache better than instructions do, Zen 5's worse.
    // Intel's is reckoned to be like that of weights: too late alone, and the first level has too few places.
    PhiWays ways = {0, p.vendor == PHI_INTEL ? 2 : 0, p.vendor == PHI_INTEL};
    if (p.vendor == PHI_AMD) ways.shifts = p.family < 0x1a, ways.fetches_heads = p.family >= 0x1a;
    return ways;
}

int32_t phi_fetches_row(void) {
    // cpuid traps in virtual machines, so it is called once.
    static int32_t known = -1;
    int32_t fetches = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (fetches < 0) __atomic_store_n(&known, fetches = phi_ways(phi_this_processor()).fetches_row, __ATOMIC_RELAXED);
    return fetches;
}

#if defined(__linux__)
int32_t phi_begin_instructions(void) {
    struct perf_event_attr event = {
        .type = PERF_TYPE_HARDWARE, .size = sizeof event, .config = PERF_COUNT_HW_INSTRUCTIONS,
        .exclude_kernel = 1, .exclude_hv = 1,
    };
    return (int32_t)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int64_t phi_end_instructions(int32_t count) {
    int64_t instructions;
    if (count < 0) return -1;
    const int is_read = read(count, &instructions, sizeof instructions) == sizeof instructions;
    close(count);
    return is_read && instructions > 0 ? instructions : -1;
}
#else
int32_t phi_begin_instructions(void) { return -1; }
int64_t phi_end_instructions(int32_t count) { return (void)count, -1; }
#endif
