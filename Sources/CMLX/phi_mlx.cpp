// See phi_mlx.h. Compiled by `make mlx` against MLX's own headers, as C++20.
#include "phi_mlx.h"

#include <mlx/mlx.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace mx = mlx::core;

struct PhiMLXArray {
    mx::array value;
};

namespace {

std::string failure;
bool hasFailed = false;
std::string told;

void fail(const char *message) {
    if (!hasFailed) failure = message;
    hasFailed = true;
}

/// A stream for any thread: an engine is loaded by one thread and stepped by another.
mx::Stream stream() {
    static const mx::Stream it = mx::new_thread_unsafe_stream(mx::default_device());
    return it;
}

bool isThere(PhiMLXHandle handle) {
    if (!handle) fail("an operation was given no array");
    return handle != nullptr;
}

bool areThere(const PhiMLXHandle *handles, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (!isThere(handles[i])) return false;
    }
    return true;
}

/// Runs a body that makes an array; no exception leaves this library.
template <typename Body> PhiMLXHandle make(std::initializer_list<PhiMLXHandle> needed, Body body) {
    if (!areThere(needed.begin(), int32_t(needed.size()))) return nullptr;
    try {
        return new PhiMLXArray{body()};
    } catch (const std::exception &error) {
        fail(error.what());
    } catch (...) {
        fail("unknown error");
    }
    return nullptr;
}

mx::Shape shapeOf(const int32_t *shape, int32_t count) { return mx::Shape(shape, shape + count); }

mx::Dtype typeOf(uint32_t type) {
    switch (type) {
    case PHI_MLX_BOOL: return mx::bool_;
    case PHI_MLX_U32: return mx::uint32;
    case PHI_MLX_I32: return mx::int32;
    case PHI_MLX_F16: return mx::float16;
    case PHI_MLX_BF16: return mx::bfloat16;
    case PHI_MLX_F32: return mx::float32;
    default: throw std::invalid_argument("there is no such type");
    }
}

template <typename T> mx::array copied(const void *data, mx::Shape shape, mx::Dtype type) {
    return mx::array(static_cast<const T *>(data), std::move(shape), type);
}

PhiMLXHandle fromMemory(const void *data, uint32_t type, const int32_t *shape, int32_t count) {
    return make({}, [&] {
        auto dtype = typeOf(type);
        auto dims = shapeOf(shape, count);
        // By width: values are copied as bits.
        switch (mx::size_of(dtype)) {
        case 1: return copied<bool>(data, dims, dtype);
        case 2: return mx::view(copied<uint16_t>(data, dims, mx::uint16), dtype, stream());
        default: return mx::view(copied<uint32_t>(data, dims, mx::uint32), dtype, stream());
        }
    });
}

PhiMLXHandle zeros(uint32_t type, const int32_t *shape, int32_t count) {
    return make({}, [&] { return mx::zeros(shapeOf(shape, count), typeOf(type), stream()); });
}

PhiMLXHandle scalar(double value, uint32_t type) {
    return make({}, [&] { return mx::array(float(value), typeOf(type)); });
}

void release(PhiMLXHandle handle) { delete handle; }

uint32_t type(PhiMLXHandle handle) {
    if (!handle) return UINT32_MAX;
    for (uint32_t type : {PHI_MLX_BOOL, PHI_MLX_U32, PHI_MLX_I32, PHI_MLX_F16, PHI_MLX_BF16, PHI_MLX_F32}) {
        if (handle->value.dtype() == typeOf(type)) return type;
    }
    return UINT32_MAX;
}

int32_t dimension(PhiMLXHandle handle, int32_t axis) {
    return handle && axis < int32_t(handle->value.ndim()) ? handle->value.shape(axis) : 0;
}

PhiMLXHandle convert(PhiMLXHandle a, uint32_t type) {
    return make({a}, [&] { return mx::astype(a->value, typeOf(type), stream()); });
}

PhiMLXHandle reshape(PhiMLXHandle a, const int32_t *shape, int32_t count) {
    return make({a}, [&] { return mx::reshape(a->value, shapeOf(shape, count), stream()); });
}

PhiMLXHandle transpose(PhiMLXHandle a, const int32_t *axes, int32_t count) {
    return make({a}, [&] { return mx::transpose(a->value, std::vector<int>(axes, axes + count), stream()); });
}

PhiMLXHandle contiguous(PhiMLXHandle a) {
    return make({a}, [&] { return mx::contiguous(a->value, false, stream()); });
}

PhiMLXHandle slice(PhiMLXHandle a, int32_t axis, int32_t start, int32_t stop) {
    return make({a}, [&] {
        mx::Shape from(a->value.ndim(), 0), to = a->value.shape();
        from.at(axis) = start;
        to.at(axis) = stop;
        return mx::slice(a->value, from, to, stream());
    });
}

std::vector<mx::array> values(const PhiMLXHandle *arrays, int32_t count) {
    std::vector<mx::array> all;
    for (int32_t i = 0; i < count; i++) all.push_back(arrays[i]->value);
    return all;
}

PhiMLXHandle concatenate(const PhiMLXHandle *arrays, int32_t count, int32_t axis) {
    if (!areThere(arrays, count)) return nullptr;
    return make({}, [&] { return mx::concatenate(values(arrays, count), axis, stream()); });
}

PhiMLXHandle stack(const PhiMLXHandle *arrays, int32_t count) {
    if (!areThere(arrays, count)) return nullptr;
    return make({}, [&] { return mx::stack(values(arrays, count), 0, stream()); });
}

PhiMLXHandle take(PhiMLXHandle a, PhiMLXHandle indices, int32_t axis) {
    return make({a, indices}, [&] { return mx::take(a->value, indices->value, axis, stream()); });
}

PhiMLXHandle takeAlong(PhiMLXHandle a, PhiMLXHandle indices) {
    return make({a, indices}, [&] { return mx::take_along_axis(a->value, indices->value, -1, stream()); });
}

PhiMLXHandle putRows(PhiMLXHandle a, PhiMLXHandle indices, PhiMLXHandle rows) {
    return make({a, indices, rows}, [&] {
        // Scatter needs a dimension for the axis that the indices replace.
        return mx::scatter(
            a->value, indices->value, mx::expand_dims(rows->value, 1, stream()), 0, stream());
    });
}

mx::array like(double value, const mx::array &x) { return mx::array(float(value), x.dtype()); }

mx::array gelu(const mx::array &x) {
    auto s = stream();
    auto cube = mx::multiply(mx::multiply(x, x, s), x, s);
    auto inner = mx::add(x, mx::multiply(like(0.044715, x), cube, s), s);
    auto tanh = mx::tanh(mx::multiply(like(std::sqrt(2 / M_PI), x), inner, s), s);
    return mx::multiply(mx::multiply(like(0.5, x), x, s), mx::add(like(1, x), tanh, s), s);
}

PhiMLXHandle unary(uint32_t operation, PhiMLXHandle a) {
    return make({a}, [&] {
        auto &x = a->value;
        switch (operation) {
        case PHI_MLX_ABS: return mx::abs(x, stream());
        case PHI_MLX_EXP: return mx::exp(x, stream());
        case PHI_MLX_SILU: return mx::multiply(x, mx::sigmoid(x, stream()), stream());
        case PHI_MLX_GELU: return gelu(x);
        default: throw std::invalid_argument("there is no such operation");
        }
    });
}

PhiMLXHandle binary(uint32_t operation, PhiMLXHandle a, PhiMLXHandle b) {
    return make({a, b}, [&] {
        auto &x = a->value, &y = b->value;
        switch (operation) {
        case PHI_MLX_ADD: return mx::add(x, y, stream());
        case PHI_MLX_SUBTRACT: return mx::subtract(x, y, stream());
        case PHI_MLX_MULTIPLY: return mx::multiply(x, y, stream());
        case PHI_MLX_DIVIDE: return mx::divide(x, y, stream());
        case PHI_MLX_MAXIMUM: return mx::maximum(x, y, stream());
        case PHI_MLX_GREATER: return mx::greater(x, y, stream());
        case PHI_MLX_EQUAL: return mx::equal(x, y, stream());
        default: throw std::invalid_argument("there is no such operation");
        }
    });
}

PhiMLXHandle select(PhiMLXHandle condition, PhiMLXHandle yes, PhiMLXHandle no) {
    return make({condition, yes, no}, [&] {
        return mx::where(condition->value, yes->value, no->value, stream());
    });
}

PhiMLXHandle reduce(uint32_t reduction, PhiMLXHandle a) {
    return make({a}, [&] {
        auto &x = a->value;
        switch (reduction) {
        case PHI_MLX_SUM: return mx::sum(x, -1, true, stream());
        case PHI_MLX_MAX: return mx::max(x, -1, true, stream());
        case PHI_MLX_ARGMAX: return mx::argmax(x, -1, true, stream());
        default: throw std::invalid_argument("there is no such reduction");
        }
    });
}

mx::array transposed(const mx::array &w) { return mx::swapaxes(w, -1, -2, stream()); }

PhiMLXHandle matmul(PhiMLXHandle x, PhiMLXHandle w) {
    return make({x, w}, [&] { return mx::matmul(x->value, transposed(w->value), stream()); });
}

PhiMLXHandle product(PhiMLXHandle a, PhiMLXHandle b) {
    return make({a, b}, [&] { return mx::matmul(a->value, b->value, stream()); });
}

PhiMLXHandle quantizedMatmul(
    PhiMLXHandle x, PhiMLXHandle w, PhiMLXHandle scales, PhiMLXHandle biases, int32_t group, int32_t bits) {
    return make({x, w, scales, biases}, [&] {
        return mx::quantized_matmul(
            x->value, w->value, scales->value, biases->value, true, group, bits, "affine", stream());
    });
}

PhiMLXHandle gatherMatmul(PhiMLXHandle x, PhiMLXHandle w, PhiMLXHandle indices) {
    return make({x, w, indices}, [&] {
        return mx::gather_mm(
            x->value, transposed(w->value), std::nullopt, indices->value, false, stream());
    });
}

PhiMLXHandle gatherQuantizedMatmul(
    PhiMLXHandle x, PhiMLXHandle w, PhiMLXHandle scales, PhiMLXHandle biases, PhiMLXHandle indices,
    int32_t group, int32_t bits) {
    return make({x, w, scales, biases, indices}, [&] {
        return mx::gather_qmm(
            x->value, w->value, scales->value, biases->value, std::nullopt, indices->value, true, group, bits,
            "affine", std::nullopt, false, stream());
    });
}

PhiMLXHandle dequantize(
    PhiMLXHandle w, PhiMLXHandle scales, PhiMLXHandle biases, int32_t group, int32_t bits) {
    return make({w, scales, biases}, [&] {
        return mx::dequantize(
            w->value, scales->value, biases->value, group, bits, "affine", std::nullopt, std::nullopt,
            stream());
    });
}

PhiMLXHandle rmsNorm(PhiMLXHandle x, PhiMLXHandle weight, float epsilon) {
    return make({x, weight}, [&] { return mx::fast::rms_norm(x->value, weight->value, epsilon, stream()); });
}

PhiMLXHandle layerNorm(PhiMLXHandle x, PhiMLXHandle weight, PhiMLXHandle bias, float epsilon) {
    return make({x, weight, bias}, [&] {
        return mx::fast::layer_norm(x->value, weight->value, bias->value, epsilon, stream());
    });
}

PhiMLXHandle rope(PhiMLXHandle x, int32_t dimensions, PhiMLXHandle positions, PhiMLXHandle periods) {
    return make({x, positions, periods}, [&] {
        return mx::fast::rope(
            x->value, dimensions, false, std::nullopt, 1, positions->value, periods->value, stream());
    });
}

PhiMLXHandle attention(
    PhiMLXHandle queries, PhiMLXHandle keys, PhiMLXHandle values, float scale, PhiMLXHandle mask,
    uint32_t isCausal) {
    return make({queries, keys, values}, [&] {
        std::optional<mx::array> given;
        if (mask) given = mask->value;
        return mx::fast::scaled_dot_product_attention(
            queries->value, keys->value, values->value, scale, isCausal ? "causal" : "", given, std::nullopt,
            false, stream());
    });
}

int32_t eval(const PhiMLXHandle *arrays, int32_t count) {
    if (!areThere(arrays, count)) return -1;
    try {
        mx::eval(values(arrays, count));
        return 0;
    } catch (const std::exception &error) {
        fail(error.what());
    } catch (...) {
        fail("unknown error");
    }
    return -1;
}

void *data(PhiMLXHandle handle) {
    if (!handle || !handle->value.is_available() || !handle->value.flags().row_contiguous) return nullptr;
    return handle->value.data<void>();
}

const char *error() {
    if (!hasFailed) return nullptr;
    told = failure;
    hasFailed = false;
    return told.c_str();
}

std::string deviceName() {
    auto device = mx::default_device();
    auto kind = device == mx::Device::gpu ? "gpu" : "cpu";
    auto &info = mx::device_info(device);
    auto found = info.find("device_name");
    auto name = found == info.end() ? nullptr : std::get_if<std::string>(&found->second);
    return name ? kind + (" " + *name) : kind;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const PhiMLX *phi_mlx_start(void) {
    try {
        static const std::string device = deviceName();
        stream();
        static const std::string compiled = std::to_string(MLX_VERSION_MAJOR) + "."
            + std::to_string(MLX_VERSION_MINOR) + "." + std::to_string(MLX_VERSION_PATCH);
        static const PhiMLX table = {
            .interface_version = PHI_MLX_INTERFACE,
            .is_gpu = mx::default_device() == mx::Device::gpu,
            .version = mx::version(),
            .compiled_version = compiled.c_str(),
            .device = device.c_str(),
            .error = error,
            .from_memory = fromMemory,
            .zeros = zeros,
            .scalar = scalar,
            .release = release,
            .type = type,
            .dimension = dimension,
            .convert = convert,
            .reshape = reshape,
            .transpose = transpose,
            .contiguous = contiguous,
            .slice = slice,
            .concatenate = concatenate,
            .stack = stack,
            .take = take,
            .take_along = takeAlong,
            .put_rows = putRows,
            .unary = unary,
            .binary = binary,
            .select = select,
            .reduce = reduce,
            .matmul = matmul,
            .product = product,
            .quantized_matmul = quantizedMatmul,
            .gather_matmul = gatherMatmul,
            .gather_quantized_matmul = gatherQuantizedMatmul,
            .dequantize = dequantize,
            .rms_norm = rmsNorm,
            .layer_norm = layerNorm,
            .rope = rope,
            .attention = attention,
            .eval = eval,
            .data = data,
            .active_memory = mx::get_active_memory,
            .peak_memory = mx::get_peak_memory,
            .reset_peak_memory = mx::reset_peak_memory,
            .set_memory_limit = mx::set_memory_limit,
            .set_cache_limit = mx::set_cache_limit,
            .clear_cache = mx::clear_cache,
        };
        return &table;
    } catch (...) {
        return nullptr;
    }
}
