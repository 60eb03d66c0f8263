#include <string.h>

#include "hashes.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

// Whether the processor has SHA-256's instructions.
static int has_instructions(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 19 & 1)) return 0;  // SSE4.1
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 29 & 1;
#elif defined(__aarch64__) && defined(__linux__)
    return getauxval(AT_HWCAP) >> 6 & 1;
#elif defined(__aarch64__) && defined(__APPLE__)
    int value = 0;
    size_t size = sizeof value;
    return sysctlbyname("hw.optional.arm.FEAT_SHA256", &value, &size, 0, 0) == 0 && value;
#else
    return 0;
#endif
}

size_t phi_sha256_count(void) { return has_instructions() ? 2 : 1; }

const PhiHash *phi_sha256_at(size_t index) {
    const size_t count = phi_sha256_count();
    if (index >= count) return 0;
#if defined(__x86_64__) || defined(__aarch64__)
    if (index + 1 < count) return &phi_sha256_instructions;
#endif
    return &phi_sha256_reference;
}

const PhiHash *phi_sha1(void) { return &phi_sha1_reference; }

void phi_hash_begin(PhiHashing *hashing, const PhiHash *hash) {
    memset(hashing, 0, sizeof *hashing);
    memcpy(hashing->state, hash->start, sizeof hashing->state);
}

void phi_hash_add(PhiHashing *hashing, const PhiHash *hash, const uint8_t *bytes, size_t count) {
    if (count == 0) return;
    const size_t held = hashing->length % 64;
    hashing->length += count;
    if (held > 0) {
        const size_t taken = count < 64 - held ? count : 64 - held;
        memcpy(hashing->rest + held, bytes, taken);
        if (held + taken < 64) return;
        hash->blocks(hashing->state, hashing->rest, 1);
        bytes += taken, count -= taken;
    }
    if (count >= 64) hash->blocks(hashing->state, bytes, count / 64);
    memcpy(hashing->rest, bytes + count / 64 * 64, count % 64);
}

void phi_hash_end(PhiHashing *hashing, const PhiHash *hash, uint8_t *out) {
    // Padding: a one bit, zeros, and the length in bits in the block's last 8 bytes.
    const uint64_t bits = hashing->length * 8;
    uint8_t last[128] = {0};
    const size_t held = hashing->length % 64, size = held < 56 ? 64 : 128;
    memcpy(last, hashing->rest, held);
    last[held] = 0x80;
    for (size_t i = 0; i < 8; i++) last[size - 1 - i] = (uint8_t)(bits >> 8 * i);
    hash->blocks(hashing->state, last, size / 64);
    for (size_t i = 0; i < 4 * hash->words; i++) out[i] = (uint8_t)(hashing->state[i / 4] >> (24 - i % 4 * 8));
}
