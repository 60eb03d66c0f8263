#ifndef PHI_HASH_H
#define PHI_HASH_H

#include <stddef.h>
#include <stdint.h>

// Hashes of FIPS 180-4: SHA-256, and SHA-1, by which git names files. Both take blocks of 64 bytes. Every variant gives
// the same bits.

typedef struct {
    const char *name;
    size_t words;       // of the state, and so of the hash: 8 or 5
    uint32_t start[8];  // the state before the first block
    void (*blocks)(uint32_t *state, const uint8_t *bytes, size_t count);
} PhiHash;

// State of a hash: the state after whole blocks, and the bytes since.
typedef struct {
    uint32_t state[8];
    uint64_t length;
    uint8_t rest[64];
} PhiHashing;

// Variants of SHA-256 that this machine can run, best first; the last is always the reference.
size_t phi_sha256_count(void);
const PhiHash *phi_sha256_at(size_t index);
const PhiHash *phi_sha1(void);

void phi_hash_begin(PhiHashing *hashing, const PhiHash *hash);
void phi_hash_add(PhiHashing *hashing, const PhiHash *hash, const uint8_t *bytes, size_t count);
// Writes 4 bytes for each word of the state. Nothing can be added afterwards.
void phi_hash_end(PhiHashing *hashing, const PhiHash *hash, uint8_t *out);

#endif
