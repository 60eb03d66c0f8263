/// Matrices of a model, each packed when it is needed and kept until the next: for one large step in little memory.
/// Used by one thread at a time.
final class PackedOneByOne {
    private let plan: WeightPlan
    private let pool: ComputePool
    private var last: (place: Int, matrix: PackedMatrix)?

    init(_ plan: WeightPlan, _ pool: ComputePool) {
        self.plan = plan
        self.pool = pool
    }

    /// - Throws: `UserError` for weights that are not finite, or too little memory.
    func matrix(_ place: Int) throws(UserError) -> PackedMatrix {
        if let last, last.place == place { return last.matrix }
        last = nil
        let matrix = plan.matrices[place]
        var layout = matrix.layout
        let memory = try PageMemory(count: layout.bytes)
        let out = memory.base.assumingMemoryBound(to: UInt8.self)
        let chunks = plan.chunks.filter { $0.matrix == place }
        do {
            try pool.runThrowing(chunks.count) { number in
                let chunk = chunks[number]
                try plan.pack(chunk, into: out + (chunk.bytes.lowerBound - matrix.offset))
            }
        } catch {
            throw error as? UserError ?? UserError(.malformed, "\(error)")
        }
        layout.data = UnsafePointer(out)
        let packed = PackedMatrix(layout, memory: memory)
        last = (place, packed)
        return packed
    }
}
