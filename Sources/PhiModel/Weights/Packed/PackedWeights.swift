import OperatingSystem

/// Matrices of a model in the kernels' layout: mapped from the cache, packed in memory, or packed one by one.
struct PackedWeights {
    private let matrix: (Int) throws(UserError) -> PackedMatrix
    /// Reason why they are not from the cache; nil if they are, or none was asked for.
    private(set) var cacheFault: String?
    /// Notes on the cache for a person.
    private(set) var notes: [String] = []
    /// Move to carry on between steps; nil if the weights are in their final memory.
    private(set) var move: WeightMove?

    /// - Throws: `UserError` for weights that are not finite, files that change while they are read, or too little
    ///   memory.
    init(_ plan: WeightPlan, from store: TensorStore, cache: WeightCacheLocation, pool: ComputePool) throws {
        var file: WeightFile?
        switch cache {
        case .off: break
        case .unknown(let reason): cacheFault = reason
        case .folder(let folder):
            do {
                file = try WeightCache(parent: folder)
                    .weights(of: plan, from: store, pool: pool, notes: &notes)
            } catch let fault as UserError where ![.io, .cannotWrite].contains(fault.kind) {
                throw fault
            } catch {
                cacheFault = "\(error)"
            }
        }
        let owner: AnyObject
        let base: UnsafeRawPointer
        if let file {
            (owner, base) = (file, file.base)
        } else {
            let passes = plan.passes(nodes: ProcessorTopology.current.nodes.count)
            let memory = try Self.pack(plan, passes, pool)
            (owner, base) = (memory, UnsafeRawPointer(memory.base))
        }
        let matrices = plan.matrices.map {
            PackedMatrix($0.layout, at: base + $0.offset, memory: owner)
        }
        matrix = { matrices[$0] }
        // Without room for a move they stay mapped, which is a little slower.
        if file != nil, WeightMove.isWorthwhile { move = try? WeightMove(plan, matrices) }
    }

    /// Packs each matrix when it is needed, and keeps it until the next: for one large step in little memory. Used by
    /// one thread at a time.
    init(oneByOne plan: WeightPlan, _ pool: ComputePool) {
        var last: (place: Int, matrix: PackedMatrix)?
        matrix = { place throws(UserError) in
            if let last, last.place == place { return last.matrix }
            last = nil
            let chunks = plan.chunks.indices.filter { plan.chunks[$0].matrix == place }
            let memory: PageMemory
            do { memory = try Self.pack(plan, [chunks[0]..<chunks[0] + chunks.count], pool) } catch {
                throw error as? UserError ?? UserError(.malformed, "\(error)")
            }
            let matrix = PackedMatrix(plan.matrices[place].layout, at: memory.base, memory: memory)
            last = (place, matrix)
            return matrix
        }
    }

    /// Packs ranges of chunks, one after the other, into memory that begins with the first.
    private static func pack(
        _ plan: WeightPlan, _ passes: [Range<Int>], _ pool: ComputePool
    ) throws -> PageMemory {
        let chunks = plan.chunks[(passes.first?.lowerBound ?? 0)..<(passes.last?.upperBound ?? 0)]
        let begin = chunks.first?.bytes.lowerBound ?? 0
        let memory = try PageMemory(count: (chunks.last?.bytes.upperBound ?? 0) - begin)
        let out = memory.base.assumingMemoryBound(to: UInt8.self)
        for pass in passes {
            try pool.runThrowing(pass.count) { number in
                let chunk = plan.chunks[pass.lowerBound + number]
                try plan.pack(chunk, into: out + chunk.bytes.lowerBound - begin)
            }
        }
        return memory
    }

    /// The matrix at an index of the plan.
    /// - Throws: `UserError` if it is packed only now, and its weights are not finite or there is too little memory.
    subscript(place: Int) -> PackedMatrix {
        get throws(UserError) { try matrix(place) }
    }
}
