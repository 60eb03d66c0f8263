import OperatingSystem

/// All matrices of a model in the kernels' layout: mapped from the cache, packed in memory, or packed one by one.
struct PackedWeights {
    private enum Matrices {
        case all([PackedMatrix])
        case oneByOne(PackedOneByOne)
    }

    private let matrices: Matrices
    /// Reason why they are not from the cache; nil if they are, or none was asked for.
    let cacheFault: String?
    /// Notes on the cache for a person.
    let notes: [String]
    /// Move to carry on between steps; nil if the weights are in their final memory.
    let move: WeightMove?

    /// - Throws: `UserError` for weights that are not finite, files that change while they are read, or too little
    ///   memory.
    init(_ plan: WeightPlan, from store: TensorStore, cache: WeightCacheLocation, pool: ComputePool) throws {
        var file: WeightFile?
        var fault: String?
        var notes: [String] = []
        switch cache {
        case .off: break
        case .unknown(let reason): fault = reason
        case .folder(let folder):
            do {
                file = try WeightCache(parent: folder)
                    .weights(of: plan, from: store, pool: pool, notes: &notes)
            } catch let fault as UserError {
                throw fault
            } catch {
                fault = "\(error)"
            }
        }
        let owner: AnyObject
        let base: UnsafeRawPointer
        if let file {
            (owner, base) = (file, file.base)
        } else {
            let memory = try Self.pack(plan, pool)
            (owner, base) = (memory, UnsafeRawPointer(memory.base))
        }
        cacheFault = fault
        self.notes = notes
        let matrices = plan.matrices.map { matrix in
            var layout = matrix.layout
            layout.data = (base + matrix.offset).assumingMemoryBound(to: UInt8.self)
            return PackedMatrix(layout, memory: owner)
        }
        self.matrices = .all(matrices)
        // Without room for a move they stay mapped, which is a little slower.
        move = file != nil && WeightMove.isWorthwhile ? try? WeightMove(plan, matrices) : nil
    }

    init(_ matrices: PackedOneByOne) {
        self.matrices = .oneByOne(matrices)
        (cacheFault, notes, move) = (nil, [], nil)
    }

    private static func pack(_ plan: WeightPlan, _ pool: ComputePool) throws -> PageMemory {
        let memory = try PageMemory(count: plan.count)
        let out = memory.base.assumingMemoryBound(to: UInt8.self)
        for pass in plan.passes(nodes: ProcessorTopology.current.nodes.count) {
            try pool.runThrowing(pass.count) { number in
                let chunk = plan.chunks[pass.lowerBound + number]
                try plan.pack(chunk, into: out + chunk.bytes.lowerBound)
            }
        }
        return memory
    }

    /// The matrix at an index of the plan.
    /// - Throws: `UserError` if it is packed only now; see `PackedOneByOne`.
    subscript(place: Int) -> PackedMatrix {
        get throws(UserError) {
            switch matrices {
            case .all(let matrices): matrices[place]
            case .oneByOne(let matrices): try matrices.matrix(place)
            }
        }
    }
}
