// glibc 2.35 gave hypotf, which Swift's overlay of the C library uses, a new symbol version; a program linked there
// would not start on earlier ones. So it has its own, exact except for the last rounding.
#if defined(__linux__)
#include <math.h>

__attribute__((visibility("hidden"))) float hypotf(float x, float y) {
    if (isinf(x) || isinf(y)) return INFINITY;
    return (float)__builtin_sqrt((double)x * x + (double)y * y);
}
#else
typedef int phi_no_glibc;
#endif
