/// Element types of safetensors files.
package enum TensorType: Sendable, Hashable, CustomStringConvertible {
    case bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64
    /// A type this version has no use for (8-bit floats and the like); its size is taken on trust.
    case other(String)

    init(name: String) {
        self =
            switch name {
            case "BOOL": .bool
            case "U8": .u8
            case "I8": .i8
            case "U16": .u16
            case "I16": .i16
            case "U32": .u32
            case "I32": .i32
            case "U64": .u64
            case "I64": .i64
            case "F16": .f16
            case "BF16": .bf16
            case "F32": .f32
            case "F64": .f64
            default: .other(name)
            }
    }

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

    /// The floating point types that weights, scales and norms come in.
    package var isWeightFloat: Bool { self == .f16 || self == .bf16 || self == .f32 }

    /// The name in the file.
    package var description: String {
        switch self {
        case .bool: "BOOL"
        case .u8: "U8"
        case .i8: "I8"
        case .u16: "U16"
        case .i16: "I16"
        case .u32: "U32"
        case .i32: "I32"
        case .u64: "U64"
        case .i64: "I64"
        case .f16: "F16"
        case .bf16: "BF16"
        case .f32: "F32"
        case .f64: "F64"
        case .other(let name): name
        }
    }
}

/// One tensor of a checkpoint: row-major, little-endian, read in place from the mapped file that it
/// keeps open.
package struct TensorView: Sendable {
    package let name: String
    package let type: TensorType
    package let shape: [Int]
    /// Where the tensor's bytes are in `file`.
    package let range: Range<Int>
    package let file: MappedFile

    /// The tensor's bytes, gone with the last owner of `file`: see `MappedFile.bytes`.
    ///
    /// They need not be aligned to the element's size: MLX writes headers of any length in front of them.
    /// Use `loadUnaligned` or `memcpy`.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: file.bytes[range]) }

    /// Calls `body` with the tensor's bytes and keeps the file mapped meanwhile.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try file.withBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Elements in all.
    package var count: Int { shape.reduce(1, *) }  // Checked against overflow when the file was opened.

    /// An error about this tensor.
    func fault(_ kind: ModelError.Kind, _ message: String) -> ModelError {
        ModelError(kind, path: file.path, "tensor \"\(name)\" \(message)")
    }

    /// The values of a float tensor (F16, BF16, F32), widened exactly to Float.
    /// - Throws: `ModelError` of kind `malformed` for any other type.
    package func floats() throws -> [Float] {
        func load<T: BitwiseCopyable>(_ kind: T.Type, _ widen: (T) -> Float) -> [Float] {
            withBytes { raw in
                (0..<count).map {
                    widen(raw.loadUnaligned(fromByteOffset: $0 * MemoryLayout<T>.size, as: kind))
                }
            }
        }
        switch type {
        case .f16: return load(UInt16.self) { HalfFloat.widen($0) }
        case .bf16: return load(UInt16.self) { Float(bitPattern: UInt32($0) << 16) }
        case .f32: return load(UInt32.self) { Float(bitPattern: $0) }
        default:
            throw fault(.malformed, "has type \(type); F16, BF16 or F32 is needed.")
        }
    }
}
