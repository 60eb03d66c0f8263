// AMX: tiles of 16 tokens by 16 rows by 64 columns, one instruction for 16,384 products. The weights of two row blocks
// and 8 groups are unpacked to bytes in the first-level cache. Two tiles of tokens, two row blocks and two groups are
// multiplied in one step, so that each tile is loaded for two products; meanwhile the sums of the step before are scaled
// and added with AVX-512. What is left over goes tile by tile.
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
// Segments of a matrix whose biases are multiplied in tiles; those of wider ones are not.
#define MOST_SEGMENTS 4
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

// Integer sums of two groups, two tiles of tokens and two row blocks, which are to be scaled.
struct step {
    const int32_t *sums;       // [group][tile][block][16 tokens][16 rows]; 0 if there are none
    const float *x[2];         // scales of the tokens of each tile: [group][16]
    const uint8_t *scales[2];  // scales of the rows of each block, for the first group
    float *S[2];               // of each block: [tile][16 tokens][16 rows]
};

// The rows' scales of a step, [group][block].
INLINE void load_step_scales(const struct step *from, const PhiMatrix *w, __m512 scales[2][2]) {
    for (int g = 0; g < 2; g++)
        for (int b = 0; b < 2; b++)
            scales[g][b] =
                phi_scales512(from->scales[b] + g * 16 * phi_float_size(w->float_type), w->float_type);
}

// S += the scaled sums of tokens first ..< first + count of a tile.
INLINE void scale_tokens(const struct step from, const __m512 scales[2][2], const int tile, const int first,
                         const int count) {
    PHI_UNROLLED
    for (int i = first; i < first + count; i++)
        for (int b = 0; b < 2; b++) {
            const int32_t *sums = from.sums + 512 * tile + 256 * b + 16 * i;
            float *S = from.S[b] + 256 * tile + 16 * i;
            __m512 sum = _mm512_load_ps(S);
            for (int g = 0; g < 2; g++)
                sum = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sums + 1024 * g)),
                                                    _mm512_set1_ps(from.x[tile][16 * g + i])),
                                      scales[g][b], sum);
            _mm512_store_ps(S, sum);
        }
}

// Scales sums that no step follows, and notes that there are none left.
static __attribute__((noinline)) void finish_step(struct step *waiting, const PhiMatrix *w) {
    __m512 scales[2][2];
    if (!waiting->sums) return;
    load_step_scales(waiting, w, scales);
    for (int tile = 0; tile < 2; tile++) scale_tokens(*waiting, scales, tile, 0, 16);
    waiting->sums = 0;
}

#define MULTIPLY_TILES(tile, x, w, sums)                                                                   \
    do {                                                                                                   \
        _tile_zero(tile);                                                                                  \
        _tile_dpbsud(tile, x, w);                                                                          \
        _tile_stored(tile, sums, 64);                                                                      \
    } while (0)

// Multiplies one step, and meanwhile scales the one before, if there is one. Tiles of activations are not kept in the
// first-level cache, which is for sums and weights.
// lines, values: of each row block, and of each tile of tokens, for the first group; the second's follow at a distance.
INLINE void multiply_step(const PhiMatrix *w, const uint8_t *const lines[2], size_t next_lines,
                          const int8_t *const values[2], const size_t group, int32_t *sums,
                          const struct step before, const int is_first) {
    __m512 scales[2][2];
    if (!is_first) load_step_scales(&before, w, scales);
#define MEANWHILE(first)                                                                                   \
    if (!is_first) scale_tokens(before, scales, g, first, 4)
    PHI_UNROLLED
    for (int g = 0; g < 2; g++) {
        _tile_stream_loadd(4, values[0] + g * 16 * group, group);
        _tile_loadd(6, lines[0] + g * next_lines, 64);
        MULTIPLY_TILES(0, 4, 6, sums + 1024 * g);
        MEANWHILE(0);
        _tile_loadd(7, lines[1] + g * next_lines, 64);
        MULTIPLY_TILES(1, 4, 7, sums + 1024 * g + 256);
        MEANWHILE(4);
        _tile_stream_loadd(5, values[1] + g * 16 * group, group);
        MULTIPLY_TILES(2, 5, 6, sums + 1024 * g + 512);
        MEANWHILE(8);
        MULTIPLY_TILES(3, 5, 7, sums + 1024 * g + 768);
        MEANWHILE(12);
    }
#undef MEANWHILE
}

#include "amx_biases.inc"

INLINE void panel(const PhiMatrix *w, const uint32_t kind, const size_t group, const PhiActivations *x,
                  size_t from, size_t tokens, float *out, size_t stride, size_t begin, size_t end) {
    _Alignas(64) uint8_t unpacked[2][CHUNK][128 * 16];
    _Alignas(64) float S[2][PANEL_TOKENS / 16][256];
    _Alignas(64) int32_t sums[2][8 * 256];
    struct step waiting = {0};
    // The tokens' sums of groups by segments and tiles, where there are not too many.
    struct planes token_planes[MOST_SEGMENTS * PANEL_TOKENS / 16];
    struct planes biases;
    const size_t groups = w->columns / group, bytes = phi_block_bytes(w), record = phi_record_bytes(w);
    const size_t tiles = (tokens + 15) / 16, first = from / 16;
    // Distances between the integers of a pair's groups, and from pair to pair.
    const size_t next_lines = kind == PHI_INT4 ? 128 * 16 : phi_integers_at(w, 1) - phi_integers_at(w, 0);
    const size_t next_pair = kind == PHI_INT4 ? 2 * 128 * 16 : record;
    const size_t pairs = phi_pairs(w->columns, group), segments = phi_segments(w->columns, group);
    const size_t width = group < 64 ? group : 64;
    const int by_planes = x->tile == 16 && segments <= MOST_SEGMENTS;
    for (size_t s = 0; by_planes && s < segments; s++)
        for (size_t t = 0; t < tiles; t++)
            split((const uint8_t *)(x->sums + ((first + t) * pairs + s * PHI_SEGMENT) * 32), 64,
                  pairs - s * PHI_SEGMENT, width, &token_planes[s * tiles + t]);
    for (size_t b = begin; b < end; b += 2) {
        const size_t pair = end - b < 2 ? 1 : 2;
        memset(S[0], 0, tiles * sizeof S[0][0]);
        memset(S[1], 0, tiles * sizeof S[1][0]);
        for (size_t g = 0; g < groups; g += CHUNK) {
            const size_t count = groups - g < CHUNK ? groups - g : CHUNK;
            const uint8_t *block[2], *lines[2], *next[2];
            const int last = g + count >= groups, segment_ends = last || (g + count) % (2 * PHI_SEGMENT) == 0;
            for (size_t p = 0; p < pair; p++) {
                block[p] = w->data + (b + p) * bytes;
                lines[p] = kind == PHI_INT4 ? unpacked[p][0] : block[p] + phi_integers_at(w, g);
                // Meanwhile memory loads the next chunk of this block, or the next pair's first.
                next[p] = last ? block[p] + 2 * bytes : block[p] + phi_integers_at(w, g + CHUNK);
                for (size_t i = 0; kind == PHI_INT4 && i < count; i++)
                    unpack(block[p] + phi_integers_at(w, g + i), group, unpacked[p][i]);
            }
            for (size_t t = 0; t < tiles; t++) {
                const size_t at = ((first + t) * groups + g) * x->tile;
                // Groups of 128 columns fill twice as many tiles.
                const int doubles = group <= 64 && pair == 2 && t + 1 < tiles && count > 1;
                const size_t done = doubles ? count & ~(size_t)1 : 0;
                for (size_t i = 0; i < done; i += 2) {
                    const size_t place = at + i * 16, other = place + groups * 16;
                    const int8_t *values[2] = {x->values + place * group, x->values + other * group};
                    const uint8_t *both[2] = {lines[0] + i / 2 * next_pair, lines[1] + i / 2 * next_pair};
                    int32_t *to = sums[waiting.sums == sums[0]];
                    for (size_t l = 0; t == 0 && l < record; l += 64) {
                        _mm_prefetch((const char *)next[0] + i / 2 * record + l, _MM_HINT_T0);
                        _mm_prefetch((const char *)next[1] + i / 2 * record + l, _MM_HINT_T0);
                    }
                    if (waiting.sums)
                        multiply_step(w, both, next_lines, values, group, to, waiting, 0);
                    else
                        multiply_step(w, both, next_lines, values, group, to, waiting, 1);
                    waiting = (struct step){to, {x->scales + place, x->scales + other},
                                            {block[0] + phi_scales_at(w, g + i), block[1] + phi_scales_at(w, g + i)},
                                            {S[0][t], S[1][t]}};
                }
                if (done < count) finish_step(&waiting, w);
                for (size_t u = t; u < t + 1 + doubles; u++)
                    for (size_t p = 0; done < count && p < pair; p++) {
                        const size_t place = ((first + u) * groups + g + done) * x->tile;
                        accumulate(w, block[p], kind == PHI_INT4 ? unpacked[p][done] : 0, group,
                                   x->values + place * group, x->scales + place, x->tile, g + done, count - done,
                                   u == 0 ? next[p] + done / 2 * record : 0, S[p][u]);
                    }
                t += doubles;
            }
            if (!segment_ends) continue;
            finish_step(&waiting, w);
            const size_t segment = g / (2 * PHI_SEGMENT), left = pairs - segment * PHI_SEGMENT;
            for (size_t p = 0; p < pair; p++) {
                if (by_planes) split(block[p] + phi_biases_at(w, segment * PHI_SEGMENT), record, left, 0, &biases);
                for (size_t t = 0; t < tiles; t++)
                    if (by_planes)
                        add_planes(&token_planes[segment * tiles + t], &biases,
                                   left < PHI_SEGMENT ? left : PHI_SEGMENT, width, _mm512_loadu_ps(block[p]),
                                   x->sum_steps + ((first + t) * segments + segment) * 16, S[p][t]);
                    else
                        add_biases(w, block[p], x, first + t, segment, S[p][t]);
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

#include "amx_attention.inc"
// A step takes a tile's rows.
#define PHI_STEP 16
#define PHI_ATTEND HOOK(attend_in_tiles)
#include "../lanes_ops.inc"

static void HOOK(attend_in_tiles)(const PhiKVHead *cache, size_t heads, const PhiQuery *queries, size_t rows,
                                  size_t per_head, size_t shared, float *states) {
    const int has_tiles = uses_tiles((int)(rows * per_head), cache);
    if (has_tiles) configure(64);
    HOOK(attend)(cache, heads, queries, rows, per_head, shared, states);
    if (has_tiles) _tile_release();
}

PHI_LINEAR(linear, HOOK(products))

const PhiKernels phi_amx_kernels = {.name = "amx", .together = 2, PHI_NEEDED(16384, 16, 1),
                                    .linear = HOOK(linear), PHI_LANES_OPS};
#pragma clang attribute pop
#else
typedef int phi_no_amx;
#endif
