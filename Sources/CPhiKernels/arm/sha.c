// SHA-256 by the processor's instructions, four rounds each.
#if defined(__aarch64__)
#pragma clang attribute push(__attribute__((target("sha2"))), apply_to = function)
#include <arm_neon.h>

#include "../hashes.h"

static void blocks(uint32_t *state, const uint8_t *bytes, size_t count) {
    uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
    for (; count > 0; count--, bytes += 64) {
        const uint32x4_t first = abcd, second = efgh;
        uint32x4_t w[4];
        for (int i = 0; i < 4; i++) w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(bytes + 16 * i)));
#pragma clang loop unroll(full)
        for (int i = 0; i < 16; i++) {
            const uint32x4_t now = w[i % 4], before = abcd;
            const uint32x4_t added = vaddq_u32(now, vld1q_u32(phi_sha256_constants + 4 * i));
            abcd = vsha256hq_u32(abcd, efgh, added);
            efgh = vsha256h2q_u32(efgh, before, added);
            // Word i + 16 replaces word i.
            if (i < 12)
                w[i % 4] = vsha256su1q_u32(vsha256su0q_u32(now, w[(i + 1) % 4]), w[(i + 2) % 4], w[(i + 3) % 4]);
        }
        abcd = vaddq_u32(abcd, first);
        efgh = vaddq_u32(efgh, second);
    }
    vst1q_u32(state, abcd);
    vst1q_u32(state + 4, efgh);
}

const PhiHash phi_sha256_instructions = {.name = "sha2", .words = 8, .start = PHI_SHA256_START, .blocks = blocks};
#pragma clang attribute pop
#else
typedef int phi_no_sha2;
#endif
