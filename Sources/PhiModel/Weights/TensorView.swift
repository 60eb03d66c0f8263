import OperatingSystem

/// Element types of safetensors files.
package enum TensorType: Sendable, Hashable, CustomStringConvertible {
    case bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64
    /// An unused type (8-bit floats and the like), whose size is not checked.
    case other(String)

    private static let named: [(name: String, type: TensorType)] = [
        ("BOOL", .bool), ("U8", .u8), ("I8", .i8), ("U16", .u16), ("I16", .i16), ("U32", .u32), ("I32", .i32),
        ("U64", .u64), ("I64", .i64), ("F16", .f16), ("BF16", .bf16), ("F32", .f32), ("F64", .f64),
    ]

    init(name: String) { self = Self.named.first { $0.name == name }?.type ?? .other(name) }

    /// Bytes an element; nil for `other`.
    package var itemSize: Int? {
        switch self {
        case .bool, .u8, .i8: 1
        case .u16, .i16, .f16, .bf16: 2
        case .u32, .i32, .f32: 4
        case .u64, .i64, .f64: 8
        case .other: nil
        }
    }

    /// Floating point types of weights, scales and norms.
    static let weightFloats: [TensorType] = [.f16, .bf16, .f32]
    package var isWeightFloat: Bool { Self.weightFloats.contains(self) }

    /// The name in the file.
    package var description: String {
        if case .other(let name) = self { return name }
        return Self.named.first { $0.type == self }?.name ?? ""
    }
}

/// One tensor of a checkpoint: row-major, little-endian, read in place from the mapped file that it keeps open.
package struct TensorView: Sendable {
    package var name: String
    package let type: TensorType
    package let shape: [Int]
    /// Range of the tensor's bytes in `file`.
    package let range: Range<Int>
    package let file: MappedFile

    /// The tensor's bytes, valid as long as `file`: see `MappedFile.bytes`.
    ///
    /// They need not be aligned to the element's size: MLX writes headers of any length before them.
    /// Use `loadUnaligned` or `memcpy`.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: file.bytes[range]) }

    /// Calls `body` with the tensor's bytes and keeps the file mapped meanwhile.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try file.withBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Elements in all.
    package var count: Int { shape.reduce(1, *) }  // Checked against overflow when the file was opened.

    /// An error about this tensor.
    func fault(_ kind: UserError.Kind, _ message: String) -> UserError {
        UserError(kind, at: file.path, "tensor \"\(name)\" \(message)")
    }

    /// Checks the tensor against what a model needs.
    /// - Parameter reason: text after the expected shape.
    /// - Throws: `UserError` of kind `malformed`.
    func expect(
        _ types: [TensorType] = TensorType.weightFloats, shape expected: [Int]? = nil,
        because reason: String = ""
    ) throws {
        guard types.contains(type) else {
            let names = types.map(\.description)
            let list = [names.dropLast().joined(separator: ", ")].filter { !$0.isEmpty } + names.suffix(1)
            throw fault(
                .malformed, "has type \(type); \(list.joined(separator: " or ")) is needed.")
        }
        guard let expected, shape != expected else { return }
        throw fault(.malformed, "has shape \(shape); \(expected)\(reason) is expected.")
    }
}
