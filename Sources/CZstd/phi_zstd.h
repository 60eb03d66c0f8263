/// Declarations of our own for libzstd: no header of it is needed to compile, and the library is loaded on first use.
/// The numbers are part of its stable interface.
#ifndef PHI_ZSTD_H
#define PHI_ZSTD_H

#include <stddef.h>

enum PhiZstdParameter { PHI_ZSTD_CHECKSUM = 201 };
enum PhiZstdDirective { PHI_ZSTD_CONTINUE = 0, PHI_ZSTD_END = 2 };

typedef struct {
    const void *bytes;
    size_t size, position;
} PhiZstdInput;

typedef struct {
    void *bytes;
    size_t size, position;
} PhiZstdOutput;

#endif
