import CPhiKernels

/// A weight matrix [rows, columns] of a linear layer, or of an embedding, whose rows are looked up.
package struct Linear: Sendable {
    /// In the weight plan.
    let place: Int
    let rows: Int
    let columns: Int
    /// [rows], added to what the matmul gives; nil without one.
    let bias: [Float]?
    /// Part of an adapter; nil without one.
    var adapter: LowRank?

    /// Floats that a matmul writes for each row of its input: whole blocks of 16.
    var width: Int { rows.rounded(up: 16) }
}

/// Weight and bias of an RMSNorm or LayerNorm, [count] each.
package struct Norm: Sendable {
    private let weight: FrozenArray<Float>
    /// Nil of RMSNorm.
    private let bias: FrozenArray<Float>?
    private let epsilon: Float

    init(weight: [Float], bias: [Float]?, epsilon: Float) {
        (self.weight, self.bias, self.epsilon) = (FrozenArray(weight), bias.map(FrozenArray.init), epsilon)
    }

    /// out [count] = the norm of x [count], which may be the same.
    func apply(
        _ x: UnsafePointer<Float>, _ count: Int, _ out: UnsafeMutablePointer<Float>, _ kernels: PhiKernels
    ) {
        if let bias {
            kernels.layer_norm(x, weight.base, bias.base, epsilon, count, out)
        } else {
            kernels.rms_norm(x, weight.base, epsilon, count, out)
        }
    }
}

/// Finds tensors for the CPU, all before the first is packed.
package struct WeightReader: WeightReading {
    package typealias Operations = RowOps

    let store: TensorStore
    private let pool: ComputePool?
    /// Paths of the layers that the adapter changes.
    private(set) var adapted: Set<String> = []
    /// Matrices to be packed, in the order in which they were asked for.
    private(set) var plan: WeightPlan
    /// Places of the matrices that are multiplied by, rather than looked up in.
    private(set) var multiplied: Set<Int> = []
    /// Names of all tensors that were asked for, but for a matrix' scales and biases.
    private(set) var names: Set<String> = []
    /// The names in the plan of experts' matrices, by the path of the tensor that has them all in MLX's format.
    private(set) var stacks: [String: [String]] = [:]
    /// Routers' matrices, which are not packed, by path.
    private(set) var routers: [String: LinearTensors] = [:]
    /// The output's matrix is the embedding's.
    private(set) var isTied = false

    /// - Parameters:
    ///   - pool: works out what the adapter needs of the weights.
    ///   - expands: whether quantized matrices become floats.
    init(_ store: TensorStore, pool: ComputePool? = nil, expands: Bool = false) {
        plan = WeightPlan(expands: expands)
        (self.store, self.pool) = (store, pool)
    }

    package mutating func embedding(_ path: String, _ rows: Int, _ columns: Int) throws -> Linear {
        Linear(
            place: try place(path, rows, columns, hasBias: false), rows: rows, columns: columns, bias: nil)
    }

    package mutating func linear(
        _ path: String, _ rows: Int, _ columns: Int, hasBias: Bool, order: [Range<Int>]?
    ) throws -> Linear {
        let place = try place(path, rows, columns, hasBias: hasBias, order: order)
        multiplied.insert(place)
        let part = order == nil ? try store.adapter?.layer(path, of: plan.matrices[place].tensors, pool) : nil
        if part != nil { adapted.insert(path) }
        let bias = hasBias ? try floats(path + ".bias", [rows]) : nil
        return Linear(
            place: place, rows: rows, columns: columns,
            bias: order.flatMap { order in bias.map { bias in order.flatMap { bias[$0] } } } ?? bias,
            adapter: part)
    }

    /// A matrix that is not packed, and that an adapter can't change.
    private mutating func unpacked(
        _ path: String, _ rows: Int, _ columns: Int, hasBias: Bool = false
    ) throws -> LinearTensors {
        names.insert(path + ".weight")
        return try store.linear(path, rows: rows, columns: columns, hasBias: hasBias)
    }

    /// An adapter can't change experts.
    package mutating func experts(_ tensors: ExpertTensors) throws -> ExpertLayer {
        let (h, inner) = (tensors.hiddenSize, tensors.intermediateSize)
        // In float32, so that a row's input is not rounded to 8 bits.
        let router = try unpacked(tensors.router, tensors.count, h)
        routers[tensors.router] = router
        let gates = try linears(tensors.gate, tensors.count, inner, h)
        let ups = try linears(tensors.up, tensors.count, inner, h)
        let downs = try linears(tensors.down, tensors.count, h, inner)
        return ExpertLayer(
            router: try PackedMatrix(floats: router.float32Values(), rows: tensors.count, columns: h),
            experts: gates.indices.map { Expert(gate: gates[$0], up: ups[$0], down: downs[$0]) },
            mixer: tensors.mixer)
    }

    /// One matrix of each expert, with neither bias nor adapter.
    private mutating func linears(
        _ matrices: ExpertTensors.Destination, _ count: Int, _ rows: Int, _ columns: Int
    ) throws -> [Linear] {
        let places: [Int]
        switch matrices {
        case .apart(let paths, let stack):
            stacks[stack] = paths
            places = try paths.map { try place($0, rows, columns, hasBias: false) }
        case .stacked(let path):
            names.insert(path + ".weight")
            let parts = try store.linears(path, stack: [count], rows: rows, columns: columns)
            let own = parts.indices.map { "\(path)[\($0)]" }
            stacks[path] = own
            places = zip(own, parts).map { plan.add($0, $1) }
        }
        multiplied.formUnion(places)
        return places.map { Linear(place: $0, rows: rows, columns: columns, bias: nil) }
    }

    package func contains(_ name: String) -> Bool { store.contains(name) }

    package mutating func linear(tiedTo embedding: Linear, hiding: [Int]) -> Linear {
        isTied = true
        multiplied.insert(embedding.place)
        var bias = hiding.isEmpty ? nil : [Float](repeating: 0, count: embedding.rows)
        for token in hiding { bias?[token] = hiddenLogit }
        return Linear(
            place: embedding.place, rows: embedding.rows, columns: embedding.columns, bias: bias)
    }

    package mutating func rmsNorm(_ path: String, _ count: Int, _ epsilon: Double) throws -> Norm {
        Norm(weight: try floats(path + ".weight", [count]), bias: nil, epsilon: Float(epsilon))
    }

    package mutating func layerNorm(
        _ path: String, _ count: Int, _ epsilon: Double, times factor: Float
    ) throws -> Norm {
        Norm(
            weight: try floats(path + ".weight", [count]).map { $0 * factor },
            bias: try floats(path + ".bias", [count]).map { $0 * factor }, epsilon: Float(epsilon))
    }

    package mutating func floats(_ name: String, _ shapes: [Int]...) throws -> [Float] {
        names.insert(name)
        let shape = try store.tensor(name).shape
        return try store.floats(name, shape: shapes.contains(shape) ? shape : shapes[0]).finiteFloats()
    }

    package mutating func floats(
        ofMatrix path: String, _ rows: Int, _ columns: Int, hasBias: Bool
    ) throws -> [Float] {
        try unpacked(path, rows, columns, hasBias: hasBias).float32Values()
    }

    private mutating func place(
        _ path: String, _ rows: Int, _ columns: Int, hasBias: Bool, order: [Range<Int>]? = nil
    ) throws -> Int {
        names.insert(path + ".weight")
        return plan.add(
            path, try store.linear(path, rows: rows, columns: columns, hasBias: hasBias), order: order)
    }
}
