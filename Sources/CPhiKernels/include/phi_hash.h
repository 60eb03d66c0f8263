#ifndef PHI_HASH_H
#define PHI_HASH_H

#include <stddef.h>
#include <stdint.h>

// The hashes of FIPS 180-4 that contents are known by: SHA-256, and SHA-1, which git names files by. Both take blocks of
// 64 bytes. Every variant gives the same bits.

typedef struct {
    const char *name;
    size_t words;       // of the state, and so of the hash: 8 or 5
    uint32_t start[8];  // the state before the first block
    void (*blocks)(uint32_t *state, const uint8_t *bytes, size_t count);
} PhiHash;

// A hash under way: the state after whole blocks, and what has come since.
typedef struct {
    uint32_t state[8];
    uint64_t length;
    uint8_t rest[64];
} PhiHashing;

// SHA-256's variants this machine can run, best first; the last is always the reference.
size_t phi_sha256_count(void);
const PhiHash *phi_sha256_at(size_t index);
const PhiHash *phi_sha1(void);

void phi_hash_begin(PhiHashing *hashing, const PhiHash *hash);
void phi_hash_add(PhiHashing *hashing, const PhiHash *hash, const uint8_t *bytes, size_t count);
// Writes 4 bytes for each word of the state. Nothing can be added after it.
void phi_hash_end(PhiHashing *hashing, const PhiHash *hash, uint8_t *out);

#endif
