/// A weight matrix [rows, columns] of a linear layer.
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

/// The matrix [vocabulary, hidden size] of which a token's row is looked up.
package struct Embedding: Sendable {
    let place: Int
    let rows: Int
    let columns: Int
}

/// Weight and bias of an RMSNorm or LayerNorm, [count] each.
package struct Norm: Sendable {
    let weight: [Float]
    /// Nil of RMSNorm.
    let bias: [Float]?
    let epsilon: Float
}

/// Finds tensors for the CPU, all before the first is packed.
package struct WeightReader: WeightReading {
    package typealias Operations = RowOps

    let store: TensorStore
    let quantization: QuantizationConfiguration?
    private let adapter: Adapter?
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
    private var memories: [ObjectIdentifier: AnyObject] = [:]
    /// The output's matrix is the embedding's.
    private(set) var isTied = false

    /// - Parameters:
    ///   - pool: works out what the adapter needs of the weights.
    ///   - expands: whether quantized matrices become floats.
    init(
        _ store: TensorStore, quantization: QuantizationConfiguration?, adapter: Adapter? = nil,
        pool: ComputePool? = nil, expands: Bool = false
    ) {
        plan = WeightPlan(expands: expands)
        self.store = store
        self.quantization = quantization
        self.adapter = adapter
        self.pool = pool
    }

    package mutating func embedding(_ path: String, _ rows: Int, _ columns: Int) throws -> Embedding {
        Embedding(place: try place(path, rows, columns, hasBias: false), rows: rows, columns: columns)
    }

    package mutating func linear(
        _ path: String, _ rows: Int, _ columns: Int, hasBias: Bool, order: [Range<Int>]?
    ) throws -> Linear {
        let place = try place(path, rows, columns, hasBias: hasBias, order: order)
        multiplied.insert(place)
        let part = order == nil ? try adapter?.layer(path, of: plan.matrices[place].tensors, pool) : nil
        if part != nil { adapted.insert(path) }
        let bias = hasBias ? try vector(path + ".bias", rows) : nil
        return Linear(
            place: place, rows: rows, columns: columns,
            bias: order.flatMap { order in bias.map { bias in order.flatMap { bias[$0] } } } ?? bias,
            adapter: part)
    }

    package mutating func mixer(_ tensors: any MixerTensors) throws -> any RowMixer {
        guard let tensors = tensors as? any RowMixerTensors else {
            preconditionFailure("the CPU has all mixers")
        }
        return try tensors.mixer(&self)
    }

    /// Returns the memory of this type that a model's mixers share.
    mutating func shared<Memory: AnyObject>(_ make: @autoclosure () -> Memory) -> Memory {
        let memory = memories[ObjectIdentifier(Memory.self)] as? Memory ?? make()
        memories[ObjectIdentifier(Memory.self)] = memory
        return memory
    }

    /// A matrix that is not packed, and that an adapter can't change.
    mutating func unpacked(_ path: String, _ rows: Int, _ columns: Int, hasBias: Bool = false) throws
        -> LinearTensors
    {
        names.insert(path + ".weight")
        return try store.linear(
            path, rows: rows, columns: columns, quantization: quantization, hasBias: hasBias)
    }

    mutating func convolution(_ path: String, width: Int, length: Int) throws -> ConvolutionWeights {
        names.insert(path + ".weight")
        return ConvolutionWeights(
            try store.convolution(path, width: width, length: length).finiteFloats(),
            bias: try vector(path + ".bias", width), width: width, length: length)
    }

    /// An adapter can't change experts.
    package mutating func experts(_ tensors: ExpertTensors) throws -> ExpertLayer {
        let (h, inner) = (tensors.hiddenSize, tensors.intermediateSize)
        // In float32, so that a row's input is not rounded to 8 bits.
        let router = try unpacked(tensors.router, tensors.count, h)
        routers[tensors.router] = router
        let experts: [Expert]
        switch (tensors.gate, tensors.up, tensors.down) {
        case (.apart(let gates, let gate), .apart(let ups, let up), .apart(let downs, let down)):
            for (stack, paths) in [(gate, gates), (up, ups), (down, downs)] { stacks[stack] = paths }
            experts = try gates.indices.map { number in
                Expert(
                    gate: try plain(gates[number], inner, h), up: try plain(ups[number], inner, h),
                    down: try plain(downs[number], h, inner))
            }
        case (.stacked(let gate), .stacked(let up), .stacked(let down)):
            let gates = try linears(stackedAt: gate, tensors.count, inner, h)
            let ups = try linears(stackedAt: up, tensors.count, inner, h)
            let downs = try linears(stackedAt: down, tensors.count, h, inner)
            experts = gates.indices.map { Expert(gate: gates[$0], up: ups[$0], down: downs[$0]) }
        default: preconditionFailure("some of an expert's matrices are stacked, others are not")
        }
        return ExpertLayer(router: try FloatLinear(router), experts: experts, mixer: tensors.mixer)
    }

    /// A linear layer with neither bias nor adapter.
    private mutating func plain(_ path: String, _ rows: Int, _ columns: Int) throws -> Linear {
        let place = try place(path, rows, columns, hasBias: false)
        multiplied.insert(place)
        return Linear(place: place, rows: rows, columns: columns, bias: nil)
    }

    private mutating func linears(
        stackedAt path: String, _ count: Int, _ rows: Int, _ columns: Int
    ) throws -> [Linear] {
        names.insert(path + ".weight")
        return try store.linears(
            stackedAt: path, count: count, rows: rows, columns: columns, quantization: quantization
        ).enumerated().map { number, tensors in
            let name = "\(path)[\(number)]"
            stacks[path, default: []].append(name)
            let place = plan.add(name, tensors)
            multiplied.insert(place)
            return Linear(place: place, rows: rows, columns: columns, bias: nil)
        }
    }

    package func contains(_ name: String) -> Bool { store.contains(name) }

    package mutating func linear(tiedTo embedding: Embedding, hiding: [Int]) -> Linear {
        isTied = true
        multiplied.insert(embedding.place)
        var bias = hiding.isEmpty ? nil : [Float](repeating: 0, count: embedding.rows)
        for token in hiding { bias?[token] = hiddenLogit }
        return Linear(
            place: embedding.place, rows: embedding.rows, columns: embedding.columns, bias: bias)
    }

    package mutating func rmsNorm(_ path: String, _ count: Int, _ epsilon: Double) throws -> Norm {
        Norm(weight: try vector(path + ".weight", count), bias: nil, epsilon: Float(epsilon))
    }

    package mutating func layerNorm(
        _ path: String, _ count: Int, _ epsilon: Double, times factor: Float
    ) throws -> Norm {
        Norm(
            weight: try vector(path + ".weight", count).map { $0 * factor },
            bias: try vector(path + ".bias", count).map { $0 * factor }, epsilon: Float(epsilon))
    }

    mutating func vector(_ name: String, _ count: Int) throws -> [Float] {
        try floats(name, [count])
    }

    mutating func floats(_ name: String, _ shape: [Int]) throws -> [Float] {
        names.insert(name)
        return try store.floats(name, shape: shape).finiteFloats()
    }

    private mutating func place(
        _ path: String, _ rows: Int, _ columns: Int, hasBias: Bool, order: [Range<Int>]? = nil
    ) throws -> Int {
        names.insert(path + ".weight")
        return plan.add(
            path,
            try store.linear(
                path, rows: rows, columns: columns, quantization: quantization, hasBias: hasBias),
            order: order)
    }
}
