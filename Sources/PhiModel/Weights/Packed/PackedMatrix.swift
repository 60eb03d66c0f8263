import CPhiKernels
import OperatingSystem

/// A weight matrix [rows, columns] in the kernels' layout (see phi_kernels.h).
// Unchecked: it points to C memory that changes only between steps, on the thread that runs them.
final class PackedMatrix: @unchecked Sendable {
    /// Raised with every change of the layout or content: cached files with another version are made anew.
    static let layoutVersion = 3

    /// Changes only between two steps.
    private(set) var matrix: PhiMatrix
    /// Owner of `matrix.data`.
    private var memory: AnyObject

    var rows: Int { Int(matrix.rows) }
    var columns: Int { Int(matrix.columns) }
    /// Rows of 16 that kernels work on.
    var blocks: Int { matrix.blocks }
    var isQuantized: Bool { matrix.kind != UInt32(PHI_PLAIN) }
    /// Columns that share a scale; 0 for plain floats.
    var group: Int { Int(matrix.group) }

    /// Bytes of the packed form.
    var bytes: Int { matrix.bytes }

    /// - Parameter memory: the owner of the data.
    init(_ layout: PhiMatrix, at data: UnsafeRawPointer, memory: AnyObject) {
        (matrix, self.memory) = (layout, memory)
        matrix.data = data.assumingMemoryBound(to: UInt8.self)
    }

    /// A matrix outside the weight plan.
    /// - Parameter floats: [rows][columns]
    /// - Throws: `UserError` of kind `resources`.
    convenience init(floats: [Float], rows: Int, columns: Int) throws {
        var layout = PhiMatrix(plain: rows, columns)
        let memory = try PageMemory(count: layout.bytes)
        let out = memory.base.assumingMemoryBound(to: UInt8.self)
        floats.withUnsafeBytes {
            phi_pack_plain(
                &layout, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), out, 0, layout.blocks)
        }
        self.init(layout, at: memory.base, memory: memory)
    }

    /// Replaces the data by a copy.
    func move(to data: UnsafeRawPointer, memory: AnyObject) {
        matrix.data = data.assumingMemoryBound(to: UInt8.self)
        self.memory = memory
    }
}

extension PhiMatrix {
    /// Layout of float32 values, without data.
    init(plain rows: Int, _ columns: Int) {
        self.init(
            data: nil, rows: UInt32(rows), columns: UInt32(columns), group: 0, kind: UInt32(PHI_PLAIN),
            float_type: UInt32(PHI_F32))
    }

    /// Blocks of 16 rows.
    var blocks: Int { (Int(rows) + 15) / 16 }
    /// Bytes of 16 packed rows.
    var blockBytes: Int { withUnsafePointer(to: self) { phi_block_bytes($0) } }
    /// Bytes of all.
    var bytes: Int { blockBytes * blocks }
}

extension LinearTensors {
    /// Shape of the packed form, without its data.
    var layout: PhiMatrix {
        let kind = quantization.map { $0.parameters.bits <= 4 ? PHI_INT4 : PHI_INT8 } ?? PHI_PLAIN
        return PhiMatrix(
            data: nil, rows: UInt32(rows), columns: UInt32(columns),
            group: UInt32(quantization?.parameters.groupSize ?? 0), kind: UInt32(kind),
            float_type: floats[0].type.kernelType)
    }

    /// The same with floats in place of quantized values.
    var floatLayout: PhiMatrix { quantization == nil ? layout : PhiMatrix(plain: rows, columns) }

    /// Packs blocks of 16 rows into `out`, which holds these blocks alone, and drops the checkpoint's pages from
    /// memory, so that it never holds a model twice.
    /// - Parameter layout: `layout` or `floatLayout`.
    /// - Throws: `UserError` of kind `malformed` for a scale, bias or plain weight that is not finite.
    func pack(_ blocks: Range<Int>, as layout: PhiMatrix, into out: UnsafeMutablePointer<UInt8>) throws {
        let first = blocks.lowerBound * 16
        let last = min(rows, blocks.upperBound * 16)
        var part = layout
        part.rows = UInt32(last - first)
        // The addresses below hold only as long as the mapped files.
        defer { withExtendedLifetime(self) {} }
        for tensor in floats { try tensor.checkFinite(rows: first..<last, of: rows) }
        let sources = (quantization == nil ? floats : [weight] + floats).map {
            $0.bytes(ofRows: first..<last, of: rows)
        }
        if let bits = quantization?.parameters.bits, layout.kind != UInt32(PHI_PLAIN) {
            phi_pack(
                &part, sources[0].start, UInt32(bits), sources[1].start, sources[2].start, out, 0,
                blocks.count)
        } else if quantization != nil {
            let values = Buffer<Float>()
            try values.reserve((last - first) * columns)
            for row in first..<last { read(row, into: values.pointer + (row - first) * columns) }
            values.pointer.withMemoryRebound(to: UInt8.self, capacity: (last - first) * columns * 4) {
                phi_pack_plain(&part, $0, out, 0, blocks.count)
            }
        } else {
            phi_pack_plain(&part, sources[0].start, out, 0, blocks.count)
        }
        sources.forEach(Memory.dropPages)
    }
}

extension TensorView {
    /// Returns some of `count` rows. The address holds only as long as `file`.
    fileprivate func bytes(ofRows rows: Range<Int>, of count: Int) -> UnsafeRawBufferPointer {
        let size = range.count / count
        return UnsafeRawBufferPointer(rebasing: bytes[rows.lowerBound * size..<rows.upperBound * size])
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var start: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension TensorType {
    /// Number of this float type in the kernels.
    var kernelType: UInt32 {
        switch self {
        case .f16: UInt32(PHI_F16)
        case .bf16: UInt32(PHI_BF16)
        default: UInt32(PHI_F32)
        }
    }
}
