// SHA-256 by the processor's instructions, two rounds each.
#if defined(__x86_64__)
#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("sha,sse4.1"))), apply_to = function)
#include "../hashes.h"

static void blocks(uint32_t *state, const uint8_t *bytes, size_t count) {
    const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    // The instructions take the state as f e b a and h g d c, lowest word first.
    const __m128i abcd = _mm_loadu_si128((const __m128i *)state);
    const __m128i efgh = _mm_loadu_si128((const __m128i *)(state + 4));
    __m128i feba = _mm_shuffle_epi32(_mm_unpacklo_epi64(abcd, efgh), 0x1b);
    __m128i hgdc = _mm_shuffle_epi32(_mm_unpackhi_epi64(abcd, efgh), 0x1b);
    for (; count > 0; count--, bytes += 64) {
        const __m128i first = feba, second = hgdc;
        __m128i w[4];
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + 16 * i)), big_endian);
#pragma clang loop unroll(full)
        for (int i = 0; i < 16; i++) {
            const __m128i now = w[i % 4];
            const __m128i added = _mm_add_epi32(now, _mm_loadu_si128((const __m128i *)(phi_sha256_constants + 4 * i)));
            // Each returns the new first half; the old one is the new second half.
            hgdc = _mm_sha256rnds2_epu32(hgdc, feba, added);
            feba = _mm_sha256rnds2_epu32(feba, hgdc, _mm_shuffle_epi32(added, 0x0e));
            // Word i + 16 replaces word i.
            const __m128i last = w[(i + 3) % 4], seventh = _mm_alignr_epi8(last, w[(i + 2) % 4], 4);
            if (i < 12)
                w[i % 4] = _mm_sha256msg2_epu32(
                    _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) % 4]), seventh), last);
        }
        feba = _mm_add_epi32(feba, first);
        hgdc = _mm_add_epi32(hgdc, second);
    }
    const __m128i abef = _mm_shuffle_epi32(feba, 0x1b), cdgh = _mm_shuffle_epi32(hgdc, 0x1b);
    _mm_storeu_si128((__m128i *)state, _mm_unpacklo_epi64(abef, cdgh));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_unpackhi_epi64(abef, cdgh));
}

const PhiHash phi_sha256_instructions = {.name = "sha-ni", .words = 8, .start = PHI_SHA256_START, .blocks = blocks};
#pragma clang attribute pop
#else
typedef int phi_no_sha_ni;
#endif
