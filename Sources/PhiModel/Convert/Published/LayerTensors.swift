/// The tensors of one layer of a published checkpoint, checked as they are asked for.
struct LayerTensors {
    let store: TensorStore
    let path: String

    func has(_ end: String) -> Bool { store.contains(path + end) }

    func tensor(_ end: String) throws -> TensorView { try store.tensor(path + end) }

    func tensor(_ end: String, types: [TensorType], shape: [Int]) throws -> TensorView {
        let tensor = try tensor(end)
        try tensor.expect(types, shape: shape)
        return tensor
    }

    /// Words that codes are packed in.
    func words(_ end: String, shape: [Int]) throws -> TensorWords {
        TensorWords(view: try tensor(end, types: [.i32, .u32], shape: shape))
    }

    /// The shape of a tensor of two dimensions, neither of them 0.
    func size(_ end: String) throws -> (rows: Int, columns: Int) {
        let tensor = try tensor(end)
        guard tensor.shape.count == 2, tensor.count > 0 else {
            throw tensor.fault(.malformed, "has shape \(tensor.shape); two dimensions are needed.")
        }
        return (tensor.shape[0], tensor.shape[1])
    }

    /// Scales [scales][rows] in the order of rows.
    func turnedScales(_ end: String, _ count: Int, rows: Int) throws -> (values: [Float], type: TensorType) {
        let tensor = try tensor(end, types: TensorType.weightFloats, shape: [count, rows])
        let values = try tensor.finiteFloats()
        return ((0..<rows * count).map { values[$0 % count * rows + $0 / count] }, tensor.type)
    }

    /// Returns each column's scale, of `count`; nil without the tensor, or if they follow one after the other.
    func order(_ end: String, columns: Int, count: Int) throws -> [Int]? {
        guard has(end) else { return nil }
        let tensor = try tensor(end, types: [.i32, .i64], shape: [columns])
        let places = tensor.integers
        guard places.allSatisfy({ $0 >= 0 && $0 < count }) else {
            throw tensor.fault(.malformed, "holds groups that are not from 0 to \(count - 1).")
        }
        guard columns % count == 0 else { return places }
        let run = columns / count
        return places.indices.allSatisfy { places[$0] == $0 / run } ? nil : places
    }

    /// Returns the number of columns that share a scale.
    func run(columns: Int, scales count: Int, _ end: String) throws -> Int {
        guard count > 0, columns % count == 0 else {
            throw try tensor(end).fault(
                .unsupported, "has \(count) scales for \(columns) columns, which make no groups of one size.")
        }
        return columns / count
    }
}

/// The 32-bit words of a tensor, in its order.
struct TensorWords: Sendable {
    let view: TensorView

    func use<Result>(_ body: ((Int) -> UInt32) -> Result) -> Result {
        view.withBytes { bytes in
            body { UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self)) }
        }
    }
}

extension TensorView {
    /// The values of a tensor of whole numbers of 8, 32 or 64 bits with a sign.
    var integers: [Int] {
        withBytes { bytes in
            (0..<count).map { index in
                switch type {
                case .i8: Int(bytes.loadUnaligned(fromByteOffset: index, as: Int8.self))
                case .i32: Int(bytes.loadUnaligned(fromByteOffset: 4 * index, as: Int32.self))
                default: Int(bytes.loadUnaligned(fromByteOffset: 8 * index, as: Int64.self))
                }
            }
        }
    }
}
