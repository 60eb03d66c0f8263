/// Operations of MLX as plain C functions, for `MLXEngine`. SwiftPM reads only this header; `make mlx` compiles
/// phi_mlx.cpp to a shared library, which is loaded for jobs with the engine `mlx`.
///
/// Arrays are lazy: an operation adds a node to a graph, and `eval` computes its arguments. An operation that fails, or
/// receives NULL, returns NULL; `eval` of NULL fails. `error` returns the first failure since its last call, so a whole
/// forward pass needs no check after each operation.
///
/// One caller at a time.
#ifndef PHI_MLX_H
#define PHI_MLX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __clang__
#pragma clang assume_nonnull begin
#define PHI_MLX_NULLABLE _Nullable
#define PHI_MLX_NONNULL _Nonnull
#else
#define PHI_MLX_NULLABLE
#define PHI_MLX_NONNULL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// The supported version, which `make mlx` fetches.
#define PHI_MLX_VERSION "0.32.4"

/// Raised with every change of `PhiMLX`.
#define PHI_MLX_INTERFACE 1

typedef struct PhiMLXArray PhiMLXArray;
typedef PhiMLXArray *PHI_MLX_NULLABLE PhiMLXHandle;

enum PhiMLXType {
    PHI_MLX_BOOL,
    PHI_MLX_U32,
    PHI_MLX_I32,
    PHI_MLX_F16,
    PHI_MLX_BF16,
    PHI_MLX_F32
};

enum PhiMLXUnary {
    PHI_MLX_ABS,
    PHI_MLX_EXP,
    /// x * sigmoid(x)
    PHI_MLX_SILU,
    /// GELU's tanh form
    PHI_MLX_GELU
};

enum PhiMLXBinary {
    PHI_MLX_ADD,
    PHI_MLX_SUBTRACT,
    PHI_MLX_MULTIPLY,
    PHI_MLX_DIVIDE,
    PHI_MLX_MAXIMUM,
    PHI_MLX_GREATER,
    PHI_MLX_EQUAL
};

enum PhiMLXReduction { PHI_MLX_SUM, PHI_MLX_MAX, PHI_MLX_ARGMAX };

/// Table of all functions. Shapes and axes are arrays of `count` numbers.
typedef struct PhiMLX {
    /// PHI_MLX_INTERFACE at its compilation.
    uint32_t interface_version;
    uint32_t is_gpu;
    /// Versions of the running library, and of the headers that it was compiled with.
    const char *version;
    const char *compiled_version;
    /// Name of the computing device.
    const char *device;

    /// Returns the first failure since the last call; NULL if there is none. Valid until the next call.
    const char *PHI_MLX_NULLABLE (*PHI_MLX_NONNULL error)(void);

    /// Copies row-major data.
    PhiMLXHandle (*PHI_MLX_NONNULL from_memory)(const void *data, uint32_t type, const int32_t *shape, int32_t count);
    PhiMLXHandle (*PHI_MLX_NONNULL zeros)(uint32_t type, const int32_t *shape, int32_t count);
    PhiMLXHandle (*PHI_MLX_NONNULL scalar)(double value, uint32_t type);
    void (*PHI_MLX_NONNULL release)(PhiMLXHandle);
    /// Returns a PhiMLXType; UINT32_MAX for any other type, or NULL.
    uint32_t (*PHI_MLX_NONNULL type)(PhiMLXHandle);
    int32_t (*PHI_MLX_NONNULL dimension)(PhiMLXHandle, int32_t axis);

    PhiMLXHandle (*PHI_MLX_NONNULL convert)(PhiMLXHandle, uint32_t type);
    PhiMLXHandle (*PHI_MLX_NONNULL reshape)(PhiMLXHandle, const int32_t *shape, int32_t count);
    PhiMLXHandle (*PHI_MLX_NONNULL transpose)(PhiMLXHandle, const int32_t *axes, int32_t count);
    /// Returns the array with its values row-major in memory.
    PhiMLXHandle (*PHI_MLX_NONNULL contiguous)(PhiMLXHandle);
    PhiMLXHandle (*PHI_MLX_NONNULL slice)(PhiMLXHandle, int32_t axis, int32_t start, int32_t stop);
    PhiMLXHandle (*PHI_MLX_NONNULL concatenate)(const PhiMLXHandle *PHI_MLX_NONNULL arrays, int32_t count, int32_t axis);
    PhiMLXHandle (*PHI_MLX_NONNULL stack)(const PhiMLXHandle *PHI_MLX_NONNULL arrays, int32_t count);
    /// Takes slices at `indices` of an axis.
    PhiMLXHandle (*PHI_MLX_NONNULL take)(PhiMLXHandle, PhiMLXHandle indices, int32_t axis);
    /// Takes elements at `indices` along the last axis.
    PhiMLXHandle (*PHI_MLX_NONNULL take_along)(PhiMLXHandle, PhiMLXHandle indices);
    /// Puts `rows` [count, ...] at `indices` [count] of `array` [slots, ...], in place if nobody else holds it.
    PhiMLXHandle (*PHI_MLX_NONNULL put_rows)(PhiMLXHandle array, PhiMLXHandle indices, PhiMLXHandle rows);

    PhiMLXHandle (*PHI_MLX_NONNULL unary)(uint32_t operation, PhiMLXHandle);
    PhiMLXHandle (*PHI_MLX_NONNULL binary)(uint32_t operation, PhiMLXHandle, PhiMLXHandle);
    PhiMLXHandle (*PHI_MLX_NONNULL select)(PhiMLXHandle condition, PhiMLXHandle yes, PhiMLXHandle no);
    /// Reduces the last axis, which stays with length 1.
    PhiMLXHandle (*PHI_MLX_NONNULL reduce)(uint32_t reduction, PhiMLXHandle);

    /// x [..., columns] * w [rows, columns], transposed.
    PhiMLXHandle (*PHI_MLX_NONNULL matmul)(PhiMLXHandle x, PhiMLXHandle w);
    /// a [n, k] * b [k, m]
    PhiMLXHandle (*PHI_MLX_NONNULL product)(PhiMLXHandle a, PhiMLXHandle b);
    /// `matmul` with MLX's affine quantization.
    PhiMLXHandle (*PHI_MLX_NONNULL quantized_matmul)(
        PhiMLXHandle x, PhiMLXHandle w, PhiMLXHandle scales, PhiMLXHandle biases, int32_t group, int32_t bits);
    /// x [..., 1, columns] with matrix `indices` [...] of w [matrices, rows, columns], transposed.
    PhiMLXHandle (*PHI_MLX_NONNULL gather_matmul)(PhiMLXHandle x, PhiMLXHandle w, PhiMLXHandle indices);
    PhiMLXHandle (*PHI_MLX_NONNULL gather_quantized_matmul)(
        PhiMLXHandle x, PhiMLXHandle w, PhiMLXHandle scales, PhiMLXHandle biases, PhiMLXHandle indices,
        int32_t group, int32_t bits);
    PhiMLXHandle (*PHI_MLX_NONNULL dequantize)(
        PhiMLXHandle w, PhiMLXHandle scales, PhiMLXHandle biases, int32_t group, int32_t bits);

    PhiMLXHandle (*PHI_MLX_NONNULL rms_norm)(PhiMLXHandle x, PhiMLXHandle weight, float epsilon);
    PhiMLXHandle (*PHI_MLX_NONNULL layer_norm)(PhiMLXHandle x, PhiMLXHandle weight, PhiMLXHandle bias, float epsilon);
    /// Rotates the first `dimensions` of x [rows, heads, 1, dimension], each row by its own position.
    /// - periods: [dimensions / 2]
    PhiMLXHandle (*PHI_MLX_NONNULL rope)(PhiMLXHandle x, int32_t dimensions, PhiMLXHandle positions, PhiMLXHandle periods);
    /// Attention of queries [n, heads, rows, d] to keys and values [n, key heads, length, d].
    /// - mask: booleans [n, 1, rows, length]; NULL for none, or with `is_causal` for rows at the end.
    PhiMLXHandle (*PHI_MLX_NONNULL attention)(
        PhiMLXHandle queries, PhiMLXHandle keys, PhiMLXHandle values, float scale, PhiMLXHandle mask,
        uint32_t is_causal);

    /// Computes arrays. Returns 0, or -1 on failure.
    int32_t (*PHI_MLX_NONNULL eval)(const PhiMLXHandle *PHI_MLX_NONNULL arrays, int32_t count);
    /// Returns the row-major values of an evaluated array, valid until it is released. NULL for another layout.
    void *PHI_MLX_NULLABLE (*PHI_MLX_NONNULL data)(PhiMLXHandle);

    size_t (*PHI_MLX_NONNULL active_memory)(void);
    size_t (*PHI_MLX_NONNULL peak_memory)(void);
    void (*PHI_MLX_NONNULL reset_peak_memory)(void);
    /// Sets the bytes from which allocation fails or waits; returns the earlier limit.
    size_t (*PHI_MLX_NONNULL set_memory_limit)(size_t bytes);
    /// Sets the bytes of freed buffers to keep; returns the earlier limit.
    size_t (*PHI_MLX_NONNULL set_cache_limit)(size_t bytes);
    void (*PHI_MLX_NONNULL clear_cache)(void);
} PhiMLX;

/// The only exported function. Returns NULL if MLX can't start.
typedef const PhiMLX *PHI_MLX_NULLABLE (*PhiMLXStart)(void);
#define PHI_MLX_START "phi_mlx_start"

#ifdef __cplusplus
}
#endif

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#endif
