// SHA-256 and SHA-1 as written in FIPS 180-4.
#include "../hashes.h"

static uint32_t left(uint32_t x, int n) { return x << n | x >> (32 - n); }
static uint32_t right(uint32_t x, int n) { return x >> n | x << (32 - n); }
static uint32_t word(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void sha256_blocks(uint32_t *state, const uint8_t *bytes, size_t count) {
    for (; count > 0; count--, bytes += 64) {
        uint32_t w[64];
        for (int t = 0; t < 16; t++) w[t] = word(bytes + 4 * t);
        for (int t = 16; t < 64; t++) {
            const uint32_t x = w[t - 15], y = w[t - 2];
            w[t] = w[t - 16] + w[t - 7] + (right(x, 7) ^ right(x, 18) ^ x >> 3) + (right(y, 17) ^ right(y, 19) ^ y >> 10);
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int t = 0; t < 64; t++) {
            const uint32_t one = h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + ((e & f) ^ (~e & g)) +
                                 phi_sha256_constants[t] + w[t];
            const uint32_t two = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + one;
            d = c, c = b, b = a, a = one + two;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

static void sha1_blocks(uint32_t *state, const uint8_t *bytes, size_t count) {
    for (; count > 0; count--, bytes += 64) {
        uint32_t w[80];
        for (int t = 0; t < 16; t++) w[t] = word(bytes + 4 * t);
        for (int t = 16; t < 80; t++) w[t] = left(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
        for (int t = 0; t < 80; t++) {
            const uint32_t mixed = t < 20   ? ((b & c) ^ (~b & d)) + 0x5a827999
                                   : t < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                                   : t < 60 ? ((b & c) ^ (b & d) ^ (c & d)) + 0x8f1bbcdc
                                            : (b ^ c ^ d) + 0xca62c1d6;
            const uint32_t next = left(a, 5) + mixed + e + w[t];
            e = d, d = c, c = left(b, 30), b = a, a = next;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
    }
}

const PhiHash phi_sha256_reference = {
    .name = "reference", .words = 8, .start = PHI_SHA256_START, .blocks = sha256_blocks};

const PhiHash phi_sha1_reference = {
    .name = "reference",
    .words = 5,
    .start = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0},
    .blocks = sha1_blocks};
