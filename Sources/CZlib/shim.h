// The system's zlib.
#include <zlib.h>

#if defined(__linux__)
// Calls missing in Swift's module of the C library.
#include <sys/xattr.h>
#endif
