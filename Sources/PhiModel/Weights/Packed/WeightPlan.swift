import CPhiKernels

/// Offsets of a model's matrices when all are packed in sequence.
struct WeightPlan {
    struct Matrix {
        let name: String
        let tensors: LinearTensors
        let layout: PhiMatrix
        /// Source group of 16 rows of each block; nil if they are in order.
        let order: [Int]?
        /// Bytes before it.
        let offset: Int
    }

    /// Some blocks of one matrix, which one thread packs or checks at a time.
    struct Chunk {
        let matrix: Int
        let blocks: Range<Int>
        /// Range of its bytes.
        let bytes: Range<Int>
    }

    /// Whether quantized matrices are expanded to floats.
    let expands: Bool
    private(set) var matrices: [Matrix] = []
    private(set) var chunks: [Chunk] = []
    /// Bytes of all matrices together.
    private(set) var count = 0

    /// Every matrix begins on a new page.
    private static let alignment = 4096
    static let chunkSize = 2 << 20

    init(expands: Bool = false) { self.expands = expands }

    /// - Parameter order: the wanted order of the tensors' rows, in whole blocks of 16; nil leaves them.
    /// - Returns: the matrix' index in `matrices`.
    mutating func add(_ name: String, _ tensors: LinearTensors, order: [Range<Int>]? = nil) -> Int {
        let layout = expands ? tensors.floatLayout : tensors.layout
        let size = layout.blockBytes
        let blocks = layout.blocks
        let order = order?.flatMap { rows in
            precondition(rows.lowerBound % 16 == 0 && rows.upperBound % 16 == 0)
            return rows.lowerBound / 16..<rows.upperBound / 16
        }
        let matrix = Matrix(name: name, tensors: tensors, layout: layout, order: order, offset: count)
        let step = max(1, Self.chunkSize / size)
        for begin in stride(from: 0, to: blocks, by: step) {
            let some = begin..<min(blocks, begin + step)
            chunks.append(
                Chunk(
                    matrix: matrices.count, blocks: some,
                    bytes: count + some.lowerBound * size..<count + some.upperBound * size))
        }
        matrices.append(matrix)
        count = (count + blocks * size).rounded(up: Self.alignment)
        return matrices.count - 1
    }

    /// Chunks in the order in which threads write them. Memory is local to the thread that writes it first: with
    /// several nodes, a thread's share has to be a part of each matrix, as in a product, not some of the layers.
    func passes(nodes: Int) -> [Range<Int>] {
        guard nodes > 1 else { return [chunks.indices] }
        var passes: [Range<Int>] = []
        for (number, chunk) in chunks.enumerated() {
            let begin =
                number > 0 && chunks[number - 1].matrix == chunk.matrix
                ? passes.removeLast().lowerBound : number
            passes.append(begin..<number + 1)
        }
        return passes
    }

    /// Packs a chunk into `out`, which holds the chunk alone.
    /// - Throws: as `LinearTensors.pack`.
    func pack(_ chunk: Chunk, into out: UnsafeMutablePointer<UInt8>) throws {
        let matrix = matrices[chunk.matrix]
        guard let order = matrix.order else {
            return try matrix.tensors.pack(chunk.blocks, as: matrix.layout, into: out)
        }
        for (place, block) in chunk.blocks.enumerated() {
            try matrix.tensors.pack(
                order[block]..<order[block] + 1, as: matrix.layout,
                into: out + place * matrix.layout.blockBytes)
        }
    }

    /// One line a matrix, with everything that its packed bytes depend on beside the checkpoint.
    var description: String {
        matrices.map { matrix in
            let bits = matrix.tensors.quantization?.parameters.bits ?? 0
            let layout = matrix.layout
            return "matrix \(matrix.name): \(layout.rows) x \(layout.columns), kind \(layout.kind), "
                + "\(bits) bits, group \(layout.group), floats \(layout.float_type), at \(matrix.offset)"
                + (matrix.order.map { ", blocks \($0)" } ?? "") + "\n"
        }.joined()
    }
}

extension Int {
    func rounded(up multiple: Int) -> Int { (self + multiple - 1) / multiple * multiple }
}
