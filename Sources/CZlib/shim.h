// The system's zlib.
#include <zlib.h>

#if defined(__linux__)
// Calls that Swift's module of the C library leaves out.
#include <sys/xattr.h>
#endif
