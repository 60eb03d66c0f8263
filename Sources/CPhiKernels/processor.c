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
    // Zen 4 multiplies once a cycle and shifts beside it. Zen 5 multiplies twice, by the units that convert and
    // shift; so do Intel's. Zen 4's hardware fetches the KV cache better than instructions do, Zen 5's worse.
    PhiWays ways = {0, 0};
    if (p.vendor == PHI_AMD) ways.shifts = p.family < 0x1a, ways.fetches_heads = p.family >= 0x1a;
    return ways;
}
