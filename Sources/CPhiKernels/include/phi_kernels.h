#ifndef PHI_KERNELS_H
#define PHI_KERNELS_H

#include <stddef.h>
#include <stdint.h>

// The compute kernels of phibatch. Hashes are in phi_hash.h.
//
// The contract of every function here: the result is a function of its inputs alone, to the bit. Integer sums are exact
// in any order. Float sums have one written order. A row's result never depends on the other rows, nor on the variant
// (instruction set) that computes it. Infinities and NaN in a row propagate to its logits (which NaN is not specified).

// Rows of output come in blocks of 16, rows of activations (tokens) in tiles of 16.
#define PHI_LANES 16
// Positions in one block of the KV cache.
#define PHI_KV_BLOCK 64
// The largest head dimension, padding included.
#define PHI_KV_MAX_DIMS 1024

// Format of the elements of a packed matrix.
enum {
    PHI_INT4 = 0,   // unsigned 4-bit integers with a scale and a bias for each group
    PHI_INT8 = 1,   // the same with unsigned 8-bit integers
    PHI_PLAIN = 2,  // floats, not quantized
};

// The float type of scales, biases and plain elements.
enum { PHI_F16 = 0, PHI_BF16 = 1, PHI_F32 = 2 };

// A weight matrix [rows, columns] in the kernels' layout.
//
// Quantized: for each block of 16 rows, 16 floats, the steps of the rows' biases; then for each pair of groups of
// `group` columns one record, in the order of reading:
//   the integers of the first,
//     int8: group/4 lines of 64 bytes; byte [4*r + i] of line j is q[r][4*j + i]
//     int4: group/8 lines of 64 bytes; the low nibble of byte [4*r + i] of line j is
//           q[r][4*j + i], its high nibble q[r][4*(j + group/8) + i]
//   16 scales of `float_type` of the first, 16 of the second
//   the integers of the second
//   [16 rows][2 groups] biases in 16 bits
// value = scale * q + step * bias. With an odd number of groups the last one's partner is zero.
// Plain: for each block of 16 rows, for each column, 16 elements of `float_type`.
// Rows past the last are zero.
typedef struct {
    const uint8_t *data;
    uint32_t rows, columns;
    uint32_t group;  // 32, 64 or 128; 0 for plain
    uint32_t kind, float_type;
} PhiMatrix;

// Activations of `tokens` rows, quantized to 8 bits with one scale for each group of columns. A group's scale is its
// row's step times an integer a + b - c, each of these a power of two or zero. So a product can be scaled by
// multiplying floats, or by shifting and adding integers, with equal results.
// Stored in tiles of `tile` tokens: 16, or all if there are fewer, so that few tokens are close together. Whole tiles
// of 16 can be read at the end (unspecified rows):
//   values [tile][group][token][group size], scales (the integers) [tile][group][token],
//   shifts (the exponents of a, b, c; 32 and more for zero) [tile][group][3][token], steps [tile][token]
// Outliers of a row would make their groups' scales too coarse for the other numbers. The largest ones, at most
// PHI_OUTLIERS a row, are stored as floats (as Dettmers et al. do with whole columns, 2022, arXiv 2208.07339), and are
// zero in `values`:
//   outliers [token][PHI_OUTLIERS], by ascending columns, padded with columns that no matrix has
// The outliers of 16 rows mostly share columns; shared [tokens/16] is the result of phi_gather_outliers.
// The factor of a weight group's bias, scale * (the sum of the group's integers), has 16 bits, with one step for the
// groups of each segment of PHI_SEGMENT pairs, chosen so that the integer sum of a segment fits into 32 bits:
//   sums [tile][pair of groups][token][2], sum_steps [tile][segment][token]
typedef struct {
    uint32_t column;
    float value;
} PhiOutlier;
#define PHI_OUTLIERS 4
typedef struct {
    uint32_t columns[16 * PHI_OUTLIERS], count;
    // Rows with outliers; those of row[0] end before ends[0], those of row[1] before ends[1].
    uint32_t rows, row[16], ends[16];
    // Value of each outlier, and the index of its column in `columns`.
    float values[16 * PHI_OUTLIERS];
    uint8_t places[16 * PHI_OUTLIERS];
} PhiSharedOutliers;
typedef struct {
    int8_t *values;
    PhiOutlier *outliers;
    PhiSharedOutliers *shared;
    float *scales;
    uint32_t *shifts;
    float *steps;
    int16_t *sums;
    float *sum_steps;
    uint32_t columns, group, tile;
} PhiActivations;
// The largest scale: 4-bit products of a group of 128, times it, fit into 32 bits.
#define PHI_LARGEST_SCALE 7168
#define PHI_SEGMENT 64

static inline size_t phi_matrix_blocks(const PhiMatrix *m) { return (m->rows + 15) / 16; }
static inline size_t phi_float_size(uint32_t float_type) { return float_type == PHI_F32 ? 4 : 2; }
// Index of a token's first of `each` entries; the next one is `tile` further.
static inline size_t phi_entry(const PhiActivations *x, size_t token, size_t each) {
    return token / x->tile * x->tile * each + token % x->tile;
}
// Number of pairs of groups, and of segments of pairs, in so many columns.
static inline size_t phi_pairs(size_t columns, size_t group) { return (columns / group + 1) / 2; }
static inline size_t phi_segments(size_t columns, size_t group) {
    return (phi_pairs(columns, group) + PHI_SEGMENT - 1) / PHI_SEGMENT;
}
// Bytes of a group's integers.
static inline size_t phi_group_bytes(const PhiMatrix *m) {
    return (size_t)m->group * (m->kind == PHI_INT4 ? 8 : 16);
}
// Bytes of one record (quantized) or of one column of a block (plain).
static inline size_t phi_record_bytes(const PhiMatrix *m) {
    size_t f = phi_float_size(m->float_type);
    return m->kind == PHI_PLAIN ? 16 * f : 2 * phi_group_bytes(m) + 32 * f + 64;
}
static inline size_t phi_block_bytes(const PhiMatrix *m) {
    if (m->kind == PHI_PLAIN) return phi_record_bytes(m) * m->columns;
    return 64 + phi_record_bytes(m) * phi_pairs(m->columns, m->group);
}
// Offset in a block of the integers and scales of group g, and of the biases of groups 2 * pair and 2 * pair + 1.
static inline size_t phi_integers_at(const PhiMatrix *m, size_t g) {
    return 64 + g / 2 * phi_record_bytes(m) + g % 2 * (phi_group_bytes(m) + 32 * phi_float_size(m->float_type));
}
static inline size_t phi_scales_at(const PhiMatrix *m, size_t g) {
    return 64 + g / 2 * phi_record_bytes(m) + phi_group_bytes(m) + g % 2 * 16 * phi_float_size(m->float_type);
}
static inline size_t phi_biases_at(const PhiMatrix *m, size_t pair) { return (pair + 1) * phi_record_bytes(m); }

// Number format of a KV cache.
enum {
    PHI_KV_INT8 = 0,  // 8 bits, with a scale for each position of a head
    PHI_KV_F16 = 1,   // float16
    PHI_KV_F32 = 2,   // float32, in the layout of float16
    PHI_KV_INT4 = 3,  // 4 bits, with a factor for each 16 besides
};

// Location of one head's keys and values in one layer, in blocks of 64 positions. A block has four parts of 16
// positions; in a part, a layer's heads are adjacent, so that the written positions can be read contiguously. Each head
// has
//   8 bits: key_scales [16], value_scales [16]
//           keys   [dims/4][16 positions][4 dims]     of transformed K, minus a share of the block's first; 128 added
//           values [dims/16][4][16 dims][4 positions] of transformed V
//   4 bits: the same scales
//           key_factors [dims/16][16 positions], value_factors alike
//           keys and values as lines of 64 bytes of the 8-bit layout, two in one, 8 added, the first in the lower
//           nibbles: dims 8i ..< 8i + 4 of keys and the next 4, dims 32i ..< 32i + 16 of values and the next 16
//   floats: keys [dims][16 positions], values [16 positions][dims]
typedef struct {
    uint8_t *memory;     // of block 0
    size_t block_bytes;  // from one block to the next
    size_t part_bytes;   // from one part to the next
    uint32_t kind;
    uint32_t n;     // the head dimension
    uint32_t dims;  // n rounded up to 16; the padding is zero
    uint32_t fetches_heads;  // how attention prefetches the next head (PhiWays)
} PhiKVHead;

// Bytes of the scales before integers.
#define PHI_KV_SCALES 128
// Bytes of a head in one part.
static inline size_t phi_kv_head_bytes(uint32_t kind, uint32_t dims) {
    switch (kind) {
    case PHI_KV_INT8: return (size_t)dims * 32 + PHI_KV_SCALES;
    case PHI_KV_INT4: return (size_t)dims * 10 + (dims + 16) / 32 * 256 + PHI_KV_SCALES;
    case PHI_KV_F16: return (size_t)dims * 64;
    default: return (size_t)dims * 128;
    }
}
// Offset of a head's integer keys and values.
static inline size_t phi_kv_keys_at(uint32_t kind, size_t dims) {
    return PHI_KV_SCALES + (kind == PHI_KV_INT4 ? 2 * dims : 0);
}
static inline size_t phi_kv_values_at(uint32_t kind, size_t dims) {
    return PHI_KV_SCALES + dims * (kind == PHI_KV_INT4 ? 10 : 16);
}
static inline int phi_kv_has_integers(uint32_t kind) { return kind == PHI_KV_INT8 || kind == PHI_KV_INT4; }

// One query of attention: one head of a row.
typedef struct {
    const float *x;        // [n]
    const int8_t *values;  // [dims], from quantize_query; for a cache of integers
    float scale;           // of the scores: the softmax scale, times that of `values` for a cache of integers
    int32_t sum;           // of values, to take out the 128 of the keys
    uint32_t begin, end;   // the positions it sees: begin ..< end
    const int32_t *blocks; // the cache's block of position / 64
    float *out;            // [n]
} PhiQuery;

// Weights of a selective scan (Gu and Dao 2023, arXiv 2312.00752) of `width` channels, a multiple of 16, each with
// `states` state numbers.
typedef struct {
    const float *rates;   // [width/16][states][16], all negative
    const float *skips;   // [width]
    const float *biases;  // [width]
    uint32_t width, states;
} PhiScan;

// Consecutive rows of one sequence, as input and output of a scan.
typedef struct {
    const float *x;       // [count][width]
    const float *steps;   // [count][step_stride], of which `width` are steps
    const float *inputs;  // [count][input_stride]: `states` inputs, then as many outputs
    float *out;           // [count][width]
    size_t count, step_stride, input_stride;
} PhiScanRows;

typedef struct PhiKernels {
    const char *name;
    // Number of row blocks that `linear` processes together: ranges aligned to it are fastest.
    size_t together;
    // The fewest instructions per multiply-add of 4-bit weights in groups of 64: those that multiply and add, and for
    // each group those that scale sums and add biases. Without loads. 0 for the reference.
    double needed;

    // out[t * stride + r] = sum over columns of weight[r] * x[t], for the rows of blocks begin ..< end and tokens 0 ..<
    // tokens. With group g and its exact integer product isum:
    //   S = fma(float(isum * x.scale), scale, S), in order of g,
    // after the last group of each segment, with the exact integer product of its biases and x.sums
    //   S = fma(product, step * x.sum_step, S); out = S * x.step
    // and for each of the row's outliers
    //   out = fma(value, weight, out)
    // out has room for 16 * blocks floats a row.
    void (*linear)(const PhiMatrix *w, const PhiActivations *x, size_t tokens, float *out, size_t stride,
                   size_t begin, size_t end);

    // The same for a plain matrix and float activations x [tokens][columns]:
    //   acc = fma(w, x, acc), in order of the columns.
    void (*linear_plain)(const PhiMatrix *w, const float *x, size_t tokens, float *out, size_t stride,
                         size_t begin, size_t end);

    // out[i] = x[i] / sqrt(mean(x^2) + eps) * weight[i]. Here and in layer_norm, out may be x.
    void (*rms_norm)(const float *x, const float *weight, float eps, size_t n, float *out);
    // out[i] = (x[i] - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * weight[i] + bias[i]
    void (*layer_norm)(const float *x, const float *weight, const float *bias, float eps, size_t n, float *out);
    // Quantizes row `token` of `to` from x [columns].
    void (*quantize)(const float *x, const PhiActivations *to, size_t token);
    // x[i] += y[i]
    void (*add)(float *x, const float *y, size_t n);
    // out[i] = up[i] * gate[i] / (1 + exp(-gate[i]))
    void (*silu_multiply)(const float *gate, const float *up, size_t n, float *out);
    // out[i] = x[i] / 2 * (1 + tanh(u)) with u = sqrt(2/pi) * (x[i] + 0.044715 * x[i]^3), computed as
    // x[i] / (1 + exp(-2u)). out may be x.
    void (*gelu)(const float *x, size_t n, float *out);
    // out[i] = x[i] / (1 + exp(-x[i])). out may be x.
    void (*silu)(const float *x, size_t n, float *out);
    // Scans rows through channels begin ..< end, multiples of 16. `state` [width/16][states][16] is updated from before
    // the first row to after the last. For each channel and row
    //   state = fma(exp(step * rate), state, step * x * input), out = fma(state, output, out)
    void (*scan)(const PhiScan *w, const PhiScanRows *rows, float *state, size_t begin, size_t end);
    // Rotates the first 2*half elements of x: pairs (i, i + half).
    void (*rotate)(float *x, const float *cosines, const float *sines, size_t half);
    // Quantizes a head's query, n floats padded to dims, after a Walsh-Hadamard transform in pieces of the largest
    // power of two that divides dims; keys are transformed alike. `scale` is multiplied in.
    void (*quantize_query)(const float *x, size_t n, size_t dims, float scale, int8_t *values, float *out_scale,
                           int32_t *out_sum);
    // Writes K and V [n] of one position (0 ..< 64) of a block, whose first position must be written already.
    void (*store_kv)(const PhiKVHead *cache, int32_t block, size_t position, const float *k, const float *v);
    // Attention of some rows over `heads` heads, from the cache's on. queries [heads][rows][per_head]; the first
    // `shared` blocks are the same for all rows, and read once. A row's queries see the same positions. states has room
    // for dims + 2 floats a query.
    void (*attend)(const PhiKVHead *cache, size_t heads, const PhiQuery *queries, size_t rows, size_t per_head,
                   size_t shared, float *states);
    // Dequantizes row `row` of a matrix: out[columns].
    void (*dequantize_row)(const PhiMatrix *w, size_t row, float *out);
    // Returns the index of the largest element (the first of equals); NaN counts as smallest.
    size_t (*argmax)(const float *x, size_t n);
    // Limits of the machine. probe_products runs the variant's integer multiply-adds on registers alone, and returns
    // their number; probe_reads reads `bytes` (a multiple of 1024), and returns their sum.
    uint64_t (*probe_products)(size_t rounds);
    uint32_t (*probe_reads)(const uint8_t *memory, size_t bytes);
    // e[i] = exp((x[i] - max) * inverse_temperature); returns the sum. e may be x.
    float (*exponentials)(const float *x, size_t n, float max, float inverse_temperature, float *e);
} PhiKernels;

// Variants that this machine can run, best first; the last is always the reference.
size_t phi_kernels_count(void);
const PhiKernels *phi_kernels_at(size_t index);

// Packs blocks begin ..< end of a matrix from MLX's format: `words` [rows][columns*bits/32]
// (little-endian bit stream), scales and biases [rows][columns/group] of m->float_type.
// `m->kind` must be PHI_INT4 for bits <= 4, else PHI_INT8. `out` is the whole matrix.
void phi_pack(const PhiMatrix *m, const uint8_t *words, uint32_t bits, const uint8_t *scales,
              const uint8_t *biases, uint8_t *out, size_t begin, size_t end);
// Packs plain elements [rows][columns] of m->float_type.
void phi_pack_plain(const PhiMatrix *m, const uint8_t *elements, uint8_t *out, size_t begin, size_t end);
// Computes x->shared, which `linear` needs, for so many quantized rows.
void phi_gather_outliers(const PhiActivations *x, size_t tokens);
// Widens n floats of a type to float32 (exact). `from` need not be aligned.
void phi_to_float(const uint8_t *from, uint32_t float_type, size_t n, float *out);
// Narrows to the nearest floats of a type, ties to even. Beyond float16's largest magnitude comes that, beyond
// bfloat16's infinity.
void phi_from_float(const float *from, uint32_t float_type, size_t n, uint8_t *out);
// Rounds n floats to values of a type, like phi_from_float.
void phi_round(float *values, uint32_t float_type, size_t n);
// MLX's affine quantization (mlx/backend/cpu/quantized.cpp) of n finite floats in groups of 32, 64 or 128, to the
// bit: value = scale * q + bias. `words` gets a little-endian stream of `bits` (2, 3, 4, 5, 6 or 8) a value,
// `scales` and `biases` a float of the type for each group.
void phi_quantize(const float *values, size_t n, uint32_t group, uint32_t bits, uint32_t float_type, uint8_t *words,
                  uint8_t *scales, uint8_t *biases);
// The same format, with scale and bias of each group chosen for a small sum of weight * error^2, where the weights [n]
// are 0 or more, and some in each group above 0. MLX's scale and bias, those of the whole range, and of ranges a tenth
// and a fifth narrower are tried, each refined twice: codes by rounding, then scale and bias by least squares. The
// error, of the stored floats, is never larger than with phi_quantize.
void phi_quantize_weighted(const float *values, const float *weights, size_t n, uint32_t group, uint32_t bits,
                           uint32_t float_type, uint8_t *words, uint8_t *scales, uint8_t *biases);
// Returns the index of the first infinity or NaN among n floats; n if there is none. `from` need not be aligned.
size_t phi_find_not_finite(const uint8_t *from, uint32_t float_type, size_t n);

// Mathematical functions with the same bits everywhere (a C library's differ by version and CPU).
double phi_exp(double x);
double phi_log(double x);
// cos and sin of x, |x| < 2^20.
void phi_cos_sin(double x, double *cosine, double *sine);

// Hints to the CPU that the thread is spinning.
static inline void phi_relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
