// Hashes the same bytes by every variant of SHA-256 that this machine has, whole and in pieces, and prints a digest of
// each one's hashes: all must be equal, on this machine and on any other.
//   hashes           the digests, and SHA-1's
//   exit status 1    two variants differ
#include <stdio.h>
#include <string.h>

#include "phi_hash.h"

static uint64_t state;
static uint32_t next_random(void) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 32);
}

static uint64_t digest_of(const PhiHash *hash) {
    static uint8_t bytes[1500];
    uint64_t digest = 0;
    state = 1;
    for (size_t length = 0; length < sizeof bytes; length += length < 300 ? 1 : 67) {
        for (size_t i = 0; i < length; i++) bytes[i] = (uint8_t)next_random();
        PhiHashing hashing;
        phi_hash_begin(&hashing, hash);
        for (size_t at = 0; at < length;) {
            size_t count = next_random() % 200;
            if (count > length - at) count = length - at;
            phi_hash_add(&hashing, hash, bytes + at, count);
            at += count;
        }
        uint8_t out[32] = {0};
        phi_hash_end(&hashing, hash, out);
        for (size_t i = 0; i < sizeof out; i++) digest = (digest ^ out[i]) * 1099511628211ull;
    }
    return digest;
}

int main(void) {
    const size_t count = phi_sha256_count();
    const uint64_t right = digest_of(phi_sha256_at(count - 1));
    int status = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t digest = digest_of(phi_sha256_at(i));
        printf("%s %016llx\n", phi_sha256_at(i)->name, (unsigned long long)digest);
        if (digest != right) status = 1;
    }
    printf("sha1 %016llx\n", (unsigned long long)digest_of(phi_sha1()));
    return status;
}
