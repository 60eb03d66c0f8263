import CPhiKernels

/// A weight matrix [rows, columns] in the kernels' layout (see phi_kernels.h).
final class PackedMatrix: @unchecked Sendable {
    let matrix: PhiMatrix
    /// Keeps the memory of `matrix.data`.
    private let memory: PageMemory

    var rows: Int { Int(matrix.rows) }
    var columns: Int { Int(matrix.columns) }
    /// Rows of 16 that kernels work on.
    var blocks: Int { (rows + 15) / 16 }
    var isQuantized: Bool { matrix.kind != UInt32(PHI_PLAIN) }
    /// The group of columns that share a scale; 0 for plain floats.
    var group: Int { Int(matrix.group) }

    /// Bytes of the packed form.
    var bytes: Int { withUnsafePointer(to: matrix) { phi_block_bytes($0) } * blocks }

    /// Packs a layer's tensors, on all threads of a pool.
    init(_ tensors: LinearTensors, pool: ComputePool) {
        var layout = Self.layout(tensors)
        let blocks = (Int(layout.rows) + 15) / 16
        let bytes = withUnsafePointer(to: layout) { phi_block_bytes($0) } * blocks
        let memory = PageMemory(count: bytes)
        // The tensors' addresses hold only as long as the files they are mapped from.
        withExtendedLifetime(tensors) { Self.pack(tensors, layout: layout, into: memory.base, pool: pool) }
        layout.data = UnsafePointer(memory.base.assumingMemoryBound(to: UInt8.self))
        matrix = layout
        self.memory = memory
    }

    private static func layout(_ tensors: LinearTensors) -> PhiMatrix {
        switch tensors {
        case .quantized(let q):
            PhiMatrix(
                data: nil, rows: UInt32(q.rows), columns: UInt32(q.columns), group: UInt32(q.groupSize),
                kind: UInt32(q.bits <= 4 ? PHI_INT4 : PHI_INT8), float_type: q.scales.type.kernelType)
        case .plain(let weight, let rows, let columns):
            PhiMatrix(
                data: nil, rows: UInt32(rows), columns: UInt32(columns), group: 0,
                kind: UInt32(PHI_PLAIN), float_type: weight.type.kernelType)
        }
    }

    private static func pack(
        _ tensors: LinearTensors, layout: PhiMatrix, into memory: UnsafeMutableRawPointer, pool: ComputePool
    ) {
        let out = memory.assumingMemoryBound(to: UInt8.self)
        let blocks = (Int(layout.rows) + 15) / 16
        pool.run((blocks + 7) / 8) { chunk in
            let begin = chunk * 8
            let end = min(blocks, begin + 8)
            withUnsafePointer(to: layout) { layout in
                switch tensors {
                case .quantized(let q):
                    phi_pack(
                        layout, q.weight.start, UInt32(q.bits), q.scales.start, q.biases.start, out, begin,
                        end)
                case .plain(let weight, _, _):
                    phi_pack_plain(layout, weight.start, out, begin, end)
                }
            }
        }
    }
}

extension TensorView {
    /// The address of the first element.
    var start: UnsafePointer<UInt8>? { bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension TensorType {
    /// How kernels call this float type.
    var kernelType: UInt32 {
        switch self {
        case .f16: UInt32(PHI_F16)
        case .bf16: UInt32(PHI_BF16)
        default: UInt32(PHI_F32)
        }
    }
}
