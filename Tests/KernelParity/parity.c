// Runs every kernel variant of this machine on the same inputs and prints a digest of each one's
// outputs: all must be equal, on this machine and on any other.
//   parity           the digests
//   exit status 1    two variants differ
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "phi_kernels.h"

static uint64_t state;
static uint32_t next_random(void) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 32);
}
static float uniform(void) { return (float)(next_random() >> 8) * 0x1p-23f - 1.0f; }

static uint64_t digest;
static void add(const void *bytes, size_t n) {
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++) digest = (digest ^ p[i]) * 1099511628211ull;
}

// Of attention's cache.
enum { HEADS = 2, POSITIONS = 300 };

static void *room(size_t bytes) {
    void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!p) exit(2);
    memset(p, 0, (bytes + 127) / 64 * 64);
    return p;
}

// Scales and biases as any float type: small values exact in bf16.
static void random_floats(uint8_t *to, uint32_t type, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (next_random() & 0x807f0000u) | (118u + next_random() % 6) << 23;
        uint16_t half = (uint16_t)((next_random() & 0x83ffu) | (5u + next_random() % 6) << 10);
        if (type == PHI_F32) memcpy(to + 4 * i, &bits, 4);
        if (type == PHI_BF16) memcpy(to + 2 * i, (uint8_t *)&bits + 2, 2);
        if (type == PHI_F16) memcpy(to + 2 * i, &half, 2);
    }
}

static void products(const PhiKernels *k) {
    static const uint32_t bits[] = {2, 3, 4, 5, 6, 8};
    for (int b = 0; b < 6; b++)
        for (uint32_t group = 32; group <= 128; group *= 2)
            for (uint32_t type = 0; type < 3; type++) {
                // With some groups of 32 there are three segments, of each type and layout, with some of 64 two, and the
                // last group is alone.
                const int is_long = group == 64 && bits[b] == 4 && type == PHI_F16;
                const int is_longest = group == 32 && (uint32_t)b % 3 == type;
                const uint32_t rows = 56, columns = group * (is_longest ? 261 : is_long ? 131 : 11);
                const size_t f = phi_float_size(type), groups = columns / group;
                PhiMatrix m = {0, rows, columns, group, bits[b] <= 4 ? PHI_INT4 : PHI_INT8, type};
                const size_t blocks = phi_matrix_blocks(&m), stride = blocks * 16;
                uint8_t *words = room((size_t)rows * columns), *scales = room(rows * groups * f);
                uint8_t *biases = room(rows * groups * f), *packed = room(blocks * phi_block_bytes(&m));
                for (size_t i = 0; i < (size_t)rows * columns * bits[b] / 8; i++) words[i] = (uint8_t)next_random();
                // With the second token below: the largest sums there can be.
                memset(words + columns * bits[b] / 8, 255, columns * bits[b] / 8);
                random_floats(scales, type, rows * groups);
                random_floats(biases, type, rows * groups);
                phi_pack(&m, words, bits[b], scales, biases, packed, 0, blocks);
                m.data = packed;
                // All tile remainders with one float type, some with the others: they differ in loading alone.
                for (size_t tokens = 1; tokens <= 41;
                     tokens += type == PHI_F16 ? (tokens < 18 ? 1 : 23) : (tokens < 16 ? 5 : 25)) {
                    const size_t padded = (tokens + 15) / 16 * 16;
                    PhiActivations x = {.values = room(padded * columns),
                                        .outliers = room(tokens * PHI_OUTLIERS * sizeof(PhiOutlier)),
                                        .shared = room(padded / 16 * sizeof(PhiSharedOutliers)),
                                        .scales = room(padded * groups * 4),
                                        .shifts = room(padded * groups * 12),
                                        .steps = room(padded * 4),
                                        .sums = room(padded * phi_pairs(columns, group) * 4),
                                        .sum_steps = room(padded * phi_segments(columns, group) * 4),
                                        .columns = columns,
                                        .group = group,
                                        .tile = tokens < 16 ? (uint32_t)tokens : 16};
                    float *row = room(columns * 4), *out = room(tokens * stride * 4);
                    for (size_t t = 0; t < tokens; t++) {
                        float size = 1;
                        for (uint32_t c = 0; c < columns; c++) {
                            // Groups of all sizes, zero and below a row's step among them.
                            if (c % group == 0) size = c % 7 ? 1.0f / (float)(1 << next_random() % 20) : 0;
                            row[c] = t == 1 ? 1 : uniform() * size;
                        }
                        // Most rows share two outliers, some have more than are kept, two in one group among them.
                        if (t != 1 && t % 5 != 2) row[7] = 30 * uniform(), row[columns - 1] = 25;
                        for (uint32_t i = 0; t % 5 == 3 && i < PHI_OUTLIERS + t % 4; i++)
                            row[(t * 37 + i * 19) % columns] = 20 + (float)(i % 3);
                        k->quantize(row, &x, t);
                    }
                    phi_gather_outliers(&x, tokens);
                    k->linear(&m, &x, tokens, out, stride, 0, blocks);
                    add(out, tokens * stride * 4);
                    if (tokens == 1)
                        for (uint32_t r = 0; r < rows; r += 5) {
                            k->dequantize_row(&m, r, row);
                            add(row, columns * 4);
                        }
                    free(x.values), free(x.outliers), free(x.shared), free(x.scales), free(x.shifts), free(x.steps);
                    free(x.sums), free(x.sum_steps), free(row), free(out);
                }
                free(words), free(scales), free(biases), free(packed);
            }
    for (uint32_t type = 0; type < 3; type++) {
        const uint32_t rows = 40, columns = 70;
        PhiMatrix m = {0, rows, columns, 0, PHI_PLAIN, type};
        const size_t blocks = phi_matrix_blocks(&m), stride = blocks * 16;
        uint8_t *elements = room(rows * columns * 4), *packed = room(blocks * phi_block_bytes(&m));
        random_floats(elements, type, rows * columns);
        phi_pack_plain(&m, elements, packed, 0, blocks);
        m.data = packed;
        float x[9 * 70], *out = room(9 * stride * 4);
        for (int i = 0; i < 9 * 70; i++) x[i] = uniform();
        k->linear_plain(&m, x, 9, out, stride, 0, blocks);
        add(out, 9 * stride * 4);
        free(elements), free(packed), free(out);
    }
}

// Attention of `rows` rows of `per_head` queries in each head. If they don't see the same blocks, the second half of the
// rows has a last one of its own.
static void attend(const PhiKernels *k, PhiKVHead cache, size_t rows, size_t per_head, int same) {
    enum { most = 40, blocks = 5 };
    static const int32_t lists[2][blocks] = {{4, 0, 2, 1, 3}, {4, 0, 2, 1, 5}};
    const size_t n = cache.n, count = HEADS * rows * per_head, length = cache.dims + 2;
    PhiQuery q[HEADS * most];
    static int8_t values[HEADS * most][256];
    static float x[HEADS * most][256];
    cache.fetches_heads = rows % 3;
    float *results = room(count * n * 4), *alone = room(n * 4), *scores = room(count * length * 4);
    for (size_t i = 0; i < count; i++) {
        const size_t row = i / per_head % rows;
        for (size_t d = 0; d < n; d++) x[i][d] = uniform() * 4;
        k->quantize_query(x[i], n, cache.dims, 0.4f, values[i], &q[i].scale, &q[i].sum);
        q[i].x = x[i], q[i].values = values[i];
        q[i].begin = row == 3 ? 100 : row == 4 ? 64 : 0;
        q[i].end = row % 11 == 5 ? 130 : (uint32_t)(POSITIONS - rows + 1 + row);
        q[i].blocks = lists[!same && row >= rows / 2];
        q[i].out = results + i * n;
    }
    k->attend(&cache, HEADS, q, rows, per_head, same ? blocks : blocks - 1, scores);
    add(results, count * n * 4);
    // Some alone, with nothing shared and otherwise fetched: the same.
    for (size_t i = 0; i < count; i += 3) {
        PhiKVHead head = cache;
        head.memory += i / (rows * per_head) * phi_kv_head_bytes(cache.kind, cache.dims), head.fetches_heads = i / 3 % 3;
        q[i].out = alone;
        k->attend(&head, 1, &q[i], 1, 1, i % 2 ? 0 : blocks, scores);
        if (memcmp(alone, results + i * n, n * 4)) printf("%s: attention differs in company\n", k->name), exit(1);
    }
    free(results), free(scores), free(alone);
}

static void attention(const PhiKernels *k, uint32_t kind) {
    for (uint32_t dims = 16; dims <= 256; dims = dims < 128 ? dims + 16 : dims + 128) {
        const size_t head = phi_kv_head_bytes(kind, dims), part = HEADS * head, n = dims - 4;
        PhiKVHead cache = {room(6 * 4 * part), 4 * part, part, kind, (uint32_t)n, dims, 0};
        uint8_t *memory = cache.memory;
        float key[256], value[256];
        for (size_t h = 0; h < HEADS; h++, cache.memory += head)
            for (size_t p = 0; p < POSITIONS; p++) {
                for (size_t i = 0; i < n; i++) key[i] = uniform(), value[i] = uniform() * (p == 70 ? 1e-6f : 1);
                k->store_kv(&cache, (const int32_t[]){4, 0, 2, 1, 3}[p / 64], p % 64, key, value);
                if (p >= 256) k->store_kv(&cache, 5, p % 64, value, key);
            }
        cache.memory = memory;
        // As many queries as a step takes, and fewer, and more; eight of a row are enough for tiles.
        for (size_t count = 1; count <= 40; count += phi_kv_has_integers(kind) && dims == 96 ? 1 : 13)
            attend(k, cache, count % 8 ? count : count / 8, count % 8 ? 1 : 8, count % 3 == 0);
        add(memory, 6 * 4 * part);
        free(memory);
    }
}

static void elementwise(const PhiKernels *k) {
    float x[1000], y[1000], out[1000];
    for (int i = 0; i < 1000; i++) x[i] = uniform() * 90, y[i] = uniform();
    const size_t lengths[] = {1, 15, 16, 17, 999, 1000};
    for (int i = 0; i < 6; i++) {
        const size_t n = lengths[i];
        k->rms_norm(x, y, 1e-5f, n, out), add(out, n * 4);
        k->layer_norm(x, y, y + 1000 - n, 1e-5f, n, out), add(out, n * 4);
        k->silu_multiply(x, y, n, out), add(out, n * 4);
        k->gelu(x, n, out), add(out, n * 4);
        float sum = k->exponentials(x, n, 90, 0.7f, out);
        add(&sum, 4), add(out, n * 4);
        size_t best = k->argmax(x, n);
        add(&best, sizeof best);
    }
    memcpy(out, x, sizeof out);
    k->rotate(out, y, y + 300, 301), add(out, sizeof out);
    k->add(out, y, 1000), add(out, sizeof out);
    for (int i = 0; i < 2000; i++) {
        double c, s, at = i * 61.7 + (double)uniform();
        phi_cos_sin(at, &c, &s), add(&c, 8), add(&s, 8);
        c = phi_exp((double)uniform() * 50), s = phi_log(at), add(&c, 8), add(&s, 8);
    }
}

// Which results are finite where something of the input is not: NaN itself has other bits on other machines.
static void add_finite(const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const uint8_t is_finite = phi_find_not_finite((const uint8_t *)(x + i), PHI_F32, 1) == 1;
        add(&is_finite, 1);
    }
}

static void broken(const PhiKernels *k, float value, uint32_t kind) {
    enum { rows = 20, columns = 128, group = 32, tokens = 3, dims = 64 };
    PhiMatrix m = {0, rows, columns, group, PHI_INT4, PHI_F16};
    const size_t stride = phi_matrix_blocks(&m) * 16;
    uint8_t *words = room(rows * columns / 2), *scales = room(rows * 8), *biases = room(rows * 8);
    uint8_t *packed = room(phi_matrix_blocks(&m) * phi_block_bytes(&m));
    random_floats(scales, PHI_F16, rows * 4), random_floats(biases, PHI_F16, rows * 4);
    phi_pack(&m, words, 4, scales, biases, packed, 0, phi_matrix_blocks(&m));
    m.data = packed;
    PhiActivations x = {.values = room(16 * columns), .outliers = room(tokens * PHI_OUTLIERS * sizeof(PhiOutlier)),
                        .shared = room(sizeof(PhiSharedOutliers)), .scales = room(16 * 4 * 4),
                        .shifts = room(16 * 4 * 12), .steps = room(64), .sums = room(16 * 2 * 4),
                        .sum_steps = room(64), .columns = columns, .group = group, .tile = tokens};
    float row[columns], out[tokens * 32];
    for (size_t t = 0; t < tokens; t++) {
        for (size_t c = 0; c < columns; c++) row[c] = uniform();
        if (t == 1) row[77] = value;
        k->quantize(row, &x, t);
    }
    phi_gather_outliers(&x, tokens);
    k->linear(&m, &x, tokens, out, stride, 0, phi_matrix_blocks(&m));
    for (size_t t = 0; t < tokens; t++) add_finite(out + t * stride, rows);
    // A query, a key or a value.
    for (int which = 0; which < 3; which++) {
        const size_t part = phi_kv_head_bytes(kind, dims);
        PhiKVHead cache = {room(4 * part), 4 * part, part, kind, dims, dims, 0};
        float parts[3][dims], state[dims + 2], result[dims];
        int8_t query[dims];
        PhiQuery q = {.x = parts[0], .values = query, .end = 5, .blocks = (const int32_t[]){0}, .out = result};
        for (size_t p = 0; p < 5; p++) {
            for (size_t i = 0; i < 3 * dims; i++) parts[i / dims][i % dims] = uniform();
            if (p == (which ? 2 : 4)) parts[which][9] = value;
            k->store_kv(&cache, 0, p, parts[1], parts[2]);
        }
        q.scale = 1;
        if (phi_kv_has_integers(kind)) k->quantize_query(parts[0], dims, dims, 1, query, &q.scale, &q.sum);
        k->attend(&cache, 1, &q, 1, 1, 0, state);
        add_finite(result, dims);
        if (phi_find_not_finite((const uint8_t *)result, PHI_F32, dims) == dims)
            printf("%s: attention makes numbers of none\n", k->name), exit(1);
        free(cache.memory);
    }
    if (phi_find_not_finite((const uint8_t *)(out + stride), PHI_F32, rows) != 0 ||
        phi_find_not_finite((const uint8_t *)out, PHI_F32, rows) != rows)
        printf("%s: a product makes numbers of none, or none of numbers\n", k->name), exit(1);
    free(words), free(scales), free(biases), free(packed);
    free(x.values), free(x.outliers), free(x.shared), free(x.scales), free(x.shifts), free(x.steps);
    free(x.sums), free(x.sum_steps);
}

int main(void) {
    uint64_t first = 0;
    int differ = 0;
    for (size_t i = phi_kernels_count(); i-- > 0;) {
        const PhiKernels *k = phi_kernels_at(i);
        state = 1, digest = 14695981039346656037ull;
        products(k), attention(k, PHI_KV_INT8), attention(k, PHI_KV_F16), attention(k, PHI_KV_F32), attention(k, PHI_KV_INT4);
        elementwise(k);
        for (uint32_t kind = PHI_KV_INT8; kind <= PHI_KV_INT4; kind++) {
            broken(k, __builtin_nanf(""), kind), broken(k, -__builtin_nanf(""), kind);
            broken(k, __builtin_inff(), kind), broken(k, -__builtin_inff(), kind);
        }
        printf("%-10s %016llx\n", k->name, (unsigned long long)digest);
        if (first && digest != first) differ = 1;
        first = digest;
    }
    return differ;
}
