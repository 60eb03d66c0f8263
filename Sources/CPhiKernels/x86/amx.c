// AMX: tiles of 16 tokens by 16 rows by 64 columns, one instruction for 16,384 products. The weights of two row blocks
// and 8 groups are unpacked to bytes in the first-level cache; each tile of sums is scaled and added with AVX-512 while
// the next is multiplied.
#if defined(__x86_64__)
#pragma clang attribute push(                                                                              \
    __attribute__((                                                                                        \
        target("amx-tile,amx-int8,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c"))),         \
    apply_to = function)
#include "avx512.h"

#include "../variants.h"

#if defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

int phi_amx_available(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    if (!(d >> 24 & 1) || !(d >> 25 & 1)) return 0;
    // Requests the tile registers from Linux (ARCH_REQ_XCOMP_PERM, XTILEDATA).
    return syscall(SYS_arch_prctl, 0x1023, 18) == 0;
}
#else
int phi_amx_available(void) { return 0; }
#endif

#define HOOK(name) amx_##name
// Number of groups before the float sums return to memory.
#define CHUNK 8
// Bytes of one panel's activations, which stay in the second-level cache.
#define PANEL_BYTES (1 << 20)
#define PANEL_TOKENS 256
// With fewer tokens tiles are mostly empty, and AVX-512 is faster.
#define FEWEST_TOKENS 12

struct tile_config {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

// 0 to 3: sums. 4, 5: activations [16 tokens][width]. 6, 7: weights [width/4][16 rows * 4].
static void configure(size_t width) {
    struct tile_config c;
    memset(&c, 0, sizeof c);
    c.palette = 1;
    for (int i = 0; i < 8; i++) {
        c.rows[i] = i >= 6 ? (uint8_t)(width / 4) : 16;
        c.row_bytes[i] = i == 4 || i == 5 ? (uint16_t)width : 64;
    }
    _tile_loadconfig(&c);
}

// Unpacks one group of a row block to bytes: group/4 lines of 64.
INLINE void unpack(const uint8_t *record, size_t group, uint8_t *to) {
    const __m512i nibble = _mm512_set1_epi8(15);
    for (size_t j = 0; j < group / 8; j++) {
        const __m512i line = _mm512_loadu_si512(record + 64 * j);
        _mm512_store_si512(to + 64 * j, _mm512_and_si512(line, nibble));
        _mm512_store_si512(to + 64 * j + group * 8, _mm512_and_si512(_mm512_srli_epi16(line, 4), nibble));
    }
}

// Computes the integer sums of one group: 16 tokens by 16 rows.
#define MULTIPLY(tile, values, lines, to)                                                                  \
    do {                                                                                                   \
        _tile_zero(tile);                                                                                  \
        _tile_loadd(4, values, group);                                                                     \
        _tile_loadd(6, lines, 64);                                                                         \
        _tile_dpbsud(tile, 4, 6);                                                                          \
        if (group == 128) {                                                                                \
            _tile_loadd(5, (values) + 64, group);                                                          \
            _tile_loadd(7, (lines) + 1024, 64);                                                            \
            _tile_dpbsud(tile, 5, 7);                                                                      \
        }                                                                                                  \
        _tile_stored(tile, to, 64);                                                                        \
    } while (0)

// acc[token] += scale * (x[token] * the integer sums of the token with one group).
INLINE void scale_sums(const int32_t *sums, __m512 scale, const float *x, __m512 acc[16]) {
    PHI_UNROLLED
    for (int i = 0; i < 16; i++)
        acc[i] = _mm512_fmadd_ps(
            _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sums + 16 * i)), _mm512_set1_ps(x[i])), scale, acc[i]);
}

// S[token][16] += the scaled sums of groups first ..< first + count, for one tile of tokens and one row block, whose
// 4-bit integers are in `unpacked`; `width` tokens are adjacent, `first` is even. Prefetches from `ahead` as many bytes
// as the groups' records have.
INLINE void accumulate(const PhiMatrix *w, const uint8_t *block, const uint8_t *unpacked, const size_t group,
                       const int8_t *values, const float *x_scales, size_t width, size_t first, size_t count,
                       const uint8_t *ahead, float *S) {
    _Alignas(64) int32_t sums[2][256];
    __m512 acc[16];
    const size_t record = phi_record_bytes(w), scales = phi_scales_at(w, 0), f = phi_float_size(w->float_type);
    const uint32_t float_type = w->float_type;
    const size_t second = phi_integers_at(w, 1) - phi_integers_at(w, 0), step = group * width;
    block += first / 2 * record;
    // Integers of a pair's first group, the stride to the next pair, and the distance to the pair's second group.
    const uint8_t *lines = unpacked ? unpacked : block + phi_integers_at(w, 0);
    const size_t lines_step = unpacked ? 2 * 128 * 16 : record, to_second = unpacked ? 128 * 16 : second;
    PHI_UNROLLED
    for (int i = 0; i < 16; i++) acc[i] = _mm512_load_ps(S + 16 * i);
    MULTIPLY(0, values, lines, sums[0]);
    for (size_t g = 0; g < count; g += 2, block += record, lines += lines_step, x_scales += 2 * width) {
        // Multiply the next group while this one's sums are scaled.
        if (g + 1 < count) MULTIPLY(1, values + step, lines + to_second, sums[1]);
        if (ahead)
            for (const uint8_t *end = ahead + record; ahead < end; ahead += 64)
                _mm_prefetch((const char *)ahead, _MM_HINT_T0);
        scale_sums(sums[0], phi_scales512(block + scales, float_type), x_scales, acc);
        if (g + 1 == count) break;
        values += 2 * step;
        if (g + 2 < count) MULTIPLY(0, values, lines + lines_step, sums[0]);
        scale_sums(sums[1], phi_scales512(block + scales + 16 * f, float_type), x_scales + width, acc);
    }
    PHI_UNROLLED
    for (int i = 0; i < 16; i++) _mm512_store_ps(S + 16 * i, acc[i]);
}

// S[token][16] += the biases of a segment, for tile `tile` of the activations.
INLINE void add_biases(const PhiMatrix *w, const uint8_t *block, const PhiActivations *x, size_t tile,
                       size_t segment, float *S) {
    const size_t pairs = phi_pairs(w->columns, w->group), segments = phi_segments(w->columns, w->group);
    const size_t from = segment * PHI_SEGMENT, to = from + PHI_SEGMENT < pairs ? from + PHI_SEGMENT : pairs;
    __m512i B[16];
    for (int i = 0; i < 16; i++) B[i] = _mm512_setzero_si512();
    for (size_t p = from; p < to; p++) {
        const __m512i biases = _mm512_loadu_si512(block + phi_biases_at(w, p));
        const int16_t *factors = x->sums + (tile * pairs + p) * 2 * x->tile;
        for (int i = 0; i < 16; i++) B[i] = _mm512_dpwssd_epi32(B[i], biases, phi_quad512(factors + 2 * i));
    }
    const __m512 step = _mm512_loadu_ps(block);
    const float *steps = x->sum_steps + (tile * segments + segment) * x->tile;
    for (int i = 0; i < 16; i++)
        _mm512_store_ps(S + 16 * i,
                        _mm512_fmadd_ps(_mm512_cvtepi32_ps(B[i]), _mm512_mul_ps(step, _mm512_set1_ps(steps[i])),
                                        _mm512_load_ps(S + 16 * i)));
}

INLINE void panel(const PhiMatrix *w, const uint32_t kind, const size_t group, const PhiActivations *x,
                  size_t from, size_t tokens, float *out, size_t stride, size_t begin, size_t end) {
    _Alignas(64) uint8_t unpacked[2][CHUNK][128 * 16];
    _Alignas(64) float S[2][PANEL_TOKENS / 16][256];
    const size_t groups = w->columns / group, bytes = phi_block_bytes(w);
    const size_t tiles = (tokens + 15) / 16, first = from / 16;
    for (size_t b = begin; b < end; b += 2) {
        const size_t pair = end - b < 2 ? 1 : 2;
        memset(S[0], 0, tiles * sizeof S[0][0]);
        memset(S[1], 0, tiles * sizeof S[1][0]);
        for (size_t g = 0; g < groups; g += CHUNK) {
            const size_t count = groups - g < CHUNK ? groups - g : CHUNK;
            if (kind == PHI_INT4)
                for (size_t p = 0; p < pair; p++)
                    for (size_t i = 0; i < count; i++)
                        unpack(w->data + (b + p) * bytes + phi_integers_at(w, g + i), group, unpacked[p][i]);
            const int last = g + count >= groups, segment_ends = last || (g + count) % (2 * PHI_SEGMENT) == 0;
            for (size_t t = 0; t < tiles; t++) {
                const size_t at = ((first + t) * groups + g) * x->tile;
                for (size_t p = 0; p < pair; p++) {
                    const uint8_t *block = w->data + (b + p) * bytes;
                    // Meanwhile memory loads the next chunk of this block, or the next pair's first.
                    const uint8_t *next = last ? block + 2 * bytes : block + phi_integers_at(w, g + CHUNK);
                    accumulate(w, block, kind == PHI_INT4 ? unpacked[p][0] : 0, group, x->values + at * group,
                               x->scales + at, x->tile, g, count, t == 0 ? next : 0, S[p][t]);
                    if (segment_ends) add_biases(w, block, x, first + t, g / (2 * PHI_SEGMENT), S[p][t]);
                }
            }
        }
        for (size_t t = 0; t < tiles; t++)
            for (size_t p = 0; p < pair; p++)
                for (size_t i = 0; i < 16 && t * 16 + i < tokens; i++)
                    _mm512_storeu_ps(out + (from + t * 16 + i) * stride + (b + p) * 16,
                                     _mm512_mul_ps(_mm512_load_ps(S[p][t] + 16 * i),
                                                   _mm512_set1_ps(x->steps[from + t * 16 + i])));
    }
}

static void HOOK(products)(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out, size_t stride,
                         size_t begin, size_t end) {
    if (tokens < FEWEST_TOKENS) {
        phi_avx512_products(w, x, tokens, out, stride, begin, end);
        return;
    }
    size_t most = PANEL_BYTES / w->columns & ~(size_t)15;
    if (most < 32) most = 32;
    if (most > PANEL_TOKENS) most = PANEL_TOKENS;
    configure(w->group < 64 ? w->group : 64);
    for (size_t from = 0; from < tokens; from += most) {
        const size_t some = tokens - from < most ? tokens - from : most;
#define CASE(kind_, group_)                                                                                \
    if (w->kind == kind_ && w->group == group_) panel(w, kind_, group_, x, from, some, out, stride, begin, end);
        CASE(PHI_INT4, 32) CASE(PHI_INT4, 64) CASE(PHI_INT4, 128)
        CASE(PHI_INT8, 32) CASE(PHI_INT8, 64) CASE(PHI_INT8, 128)
#undef CASE
    }
    _tile_release();
}

INLINE f32x16 HOOK(load_scales)(const uint8_t *p, uint32_t float_type) {
    return (f32x16)phi_scales512(p, float_type);
}
#define amx_store_lanes phi_store_lanes512
#define amx_key_dots phi_key_dots512
#define amx_weighted_values phi_weighted_values512
static uint64_t HOOK(probe_products)(size_t rounds) {
    _Alignas(64) uint8_t ones[1024];
    memset(ones, 1, sizeof ones);
    configure(64);
    _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3);
    _tile_loadd(4, ones, 64), _tile_loadd(6, ones, 64);
    for (size_t r = 0; r < rounds; r++) {
        _tile_dpbsud(0, 4, 6), _tile_dpbsud(1, 4, 6), _tile_dpbsud(2, 4, 6), _tile_dpbsud(3, 4, 6);
        __asm__ volatile("");
    }
    _tile_release();
    return rounds * 4 * 16384;
}

#include "../lanes_ops.inc"

PHI_LINEAR(linear, HOOK(products))

const PhiKernels phi_amx_kernels = {.name = "amx", .together = 2, PHI_NEEDED(16384, 16, 1),
                                    .linear = HOOK(linear), PHI_LANES_OPS};
#pragma clang attribute pop
#else
typedef int phi_no_amx;
#endif
