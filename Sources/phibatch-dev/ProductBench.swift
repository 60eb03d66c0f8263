import CPhiKernels
import Errors
import PhiModel

/// Times single products of random 4-bit weights [rows, columns], groups of 64, with quantized rows.
final class ProductBench {
    private let kernels: PhiKernels
    private let pool: ComputePool
    private let weights: PageMemory
    private let layout: PhiMatrix
    private let copies: Int
    private static let group = 64
    /// Too many for any cache.
    private static let bytesInTurn = 512 << 20

    /// - Throws: `UserError` of kind `resources`.
    init(kernels: Kernels, threads: Int, rows: Int, columns: Int) throws {
        self.kernels = kernels.table
        pool = ComputePool(threads: threads)
        let layout = PhiMatrix(
            data: nil, rows: UInt32(rows), columns: UInt32(columns), group: UInt32(Self.group),
            kind: UInt32(PHI_INT4), float_type: UInt32(PHI_F16))
        let bytes = withUnsafePointer(to: layout) { phi_block_bytes($0) * phi_matrix_blocks($0) }
        self.layout = layout
        copies = max(1, Self.bytesInTurn / bytes)
        weights = try PageMemory(count: copies * bytes)
        // All bytes but 255 make finite scales and biases.
        let words = weights.base.assumingMemoryBound(to: UInt32.self)
        var random: UInt32 = 1
        for index in 0..<weights.count / 4 {
            random = random &* 1_664_525 &+ 1_013_904_223
            words[index] = random & 0x3b3b_3b3b
        }
    }

    /// Quantized rows, and room for the product.
    private struct Rows {
        let buffers = ActivationBuffers()
        let out = Buffer<Float>()
        var activations = PhiActivations()
        var tokens = 0
    }

    private var blocks: Int { withUnsafePointer(to: layout) { phi_matrix_blocks($0) } }

    private func rows(_ tokens: Int) throws -> Rows {
        let columns = Int(layout.columns)
        let row = Buffer<Float>()
        var rows = Rows()
        rows.tokens = tokens
        try row.reserve(columns)
        try rows.out.reserve(tokens * blocks * 16)
        for column in 0..<columns { row.pointer[column] = Float(column * 7919 % 2001 - 1000) / 1000 }
        rows.activations = try rows.buffers.room(rows: tokens, columns: columns, group: Self.group)
        withUnsafePointer(to: rows.activations) { x in
            for token in 0..<tokens { kernels.quantize(row.pointer, x, token) }
            phi_gather_outliers(x, tokens)
        }
        return rows
    }

    /// Multiplies some blocks; each turn uses other weights.
    private func multiply(_ rows: Rows, turn: Int, _ piece: Range<Int>) {
        var matrix = layout
        let bytes = withUnsafePointer(to: layout) { phi_block_bytes($0) * phi_matrix_blocks($0) }
        matrix.data = UnsafePointer(
            (weights.base + turn % copies * bytes).assumingMemoryBound(to: UInt8.self))
        withUnsafePointer(to: matrix) { matrix in
            withUnsafePointer(to: rows.activations) { x in
                kernels.linear(
                    matrix, x, rows.tokens, rows.out.pointer, blocks * 16, piece.lowerBound, piece.upperBound)
            }
        }
    }

    /// Returns the seconds of one product with `tokens` rows: the best of some.
    /// - Throws: `UserError` of kind `resources`.
    func seconds(tokens: Int) throws -> Double {
        let rows = try rows(tokens)
        var best = Double.infinity
        for turn in 0..<(tokens > 64 ? 3 : 12) {
            let start = Moment.now
            pool.runPieces(blocks, unit: pool.unit(kernels.together, of: blocks)) {
                multiply(rows, turn: turn, $0)
            }
            best = min(best, .now - start)
        }
        return best
    }

    /// Returns the instructions per multiply-add of one product with `tokens` rows; nil if the system doesn't allow
    /// counting them.
    /// - Throws: `UserError` of kind `resources`.
    func instructions(tokens: Int) throws -> Double? {
        let rows = try rows(tokens)
        let count = phi_begin_instructions()
        multiply(rows, turn: 0, 0..<blocks)
        let instructions = phi_end_instructions(count)
        return instructions < 0
            ? nil : Double(instructions) / Double(tokens * Int(layout.rows * layout.columns))
    }
}
