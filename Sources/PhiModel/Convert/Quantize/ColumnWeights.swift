import BatchEngine

/// Weight of each column of a model's matrices: the mean square of what the column is multiplied by while the
/// model reads a text. For inputs that are not correlated, the squared error of a matrix' results is the sum of its
/// weights' squared errors, each multiplied by that of its column. AWQ (Lin et al. 2023, arXiv 2306.00978) tells by
/// such numbers which weights matter; they are the diagonal of GPTQ's Hessian (Frantar et al. 2022, arXiv 2210.17323).
struct ColumnWeights {
    /// [columns] by a matrix' path, all above 0. A matrix that is not multiplied by, as an embedding with a head beside
    /// it, has none.
    private let weights: [String: [Float]]
    /// Number of the text's tokens that were read.
    let tokenCount: Int

    /// Tokens of one window, and windows at most.
    private static let (windowLength, windowLimit) = (512, 8)
    /// Rows of a window that go through the end of the last layer and the head, whose results are a vocabulary long.
    private static let lastRows = 32
    /// This share of the mean over all columns is added to each, as other texts may use one that this text does not. As in GPTQ.
    private static let damping = 0.01

    subscript(path: String) -> [Float]? { weights[path] }

    /// Has the model read the beginning of a text, in one step whose matrices are packed one after the other. It takes
    /// memory for the largest of them and for the rows.
    /// - Throws: `UserError`: `missing` if there is no tokenizer, `badRequest` if the text is too short, `malformed`
    ///   if weights or activations are not finite, `resources` if there is too little memory.
    init(_ model: QuantizeSource, text: String, pool: ComputePool) throws {
        let shape = model.architecture.shape
        guard let codec = try TextCodec(folder: model.folder) else {
            throw UserError(
                .missing, at: model.folder, "has no tokenizer.json, which a text to calibrate with needs.")
        }
        let ids = codec.tokenizer.encode(text, addSpecialTokens: true)
        let length = min(Self.windowLength, shape.contextLength)
        let count = min(Self.windowLimit, ids.count / length)
        guard count > 0 else {
            throw UserError(
                .badRequest,
                "the text to calibrate with has \(ids.count) tokens, and \(length) are needed; "
                    + "\(Self.windowLimit * length) are better.")
        }
        if let id = ids.first(where: { $0 < 0 || $0 >= shape.vocabularySize }) {
            throw UserError(
                .malformed, at: model.folder,
                "its tokenizer.json gives the token id \(id), and the model's are 0 to \(shape.vocabularySize - 1)."
            )
        }
        let blocks = (length + KVCache.blockLength - 1) / KVCache.blockLength
        func bytes(_ tokens: Int) -> Int { KVCache.bytes(shape, .float16, tokens: tokens) }
        let cache = try KVCache(
            shape, precision: .float16, budget: count * bytes(length) + bytes(0), sequences: count)
        let rows = RowOps(
            shape, weights: PackedWeights(oneByOne: model.plan, pool), cache: cache,
            kernels: try Kernels.chosen(), pool: pool)
        let moments = InputMoments()
        rows.matmuls.moments = moments
        let long = ModelLimits(shape, codec).usesLongRope(length: length) ?? false
        let runs = (0..<count).map { window in
            RowRun(
                tokens: ids[window * length..<(window + 1) * length], start: 0,
                blocks: (window * blocks..<(window + 1) * blocks).map { Int32($0) }, longRope: long,
                logitRows: min(Self.lastRows, length), slot: Int32(window))
        }
        try rows.run(runs, through: model.network)
        var weights: [String: [Float]] = [:]
        for (place, sums) in moments.sums {
            let name = model.plan.matrices[place].name
            weights[name] = try Self.weights(sums, name, model.folder)
        }
        self.weights = weights
        tokenCount = count * length
    }

    private static func weights(_ sums: [Double], _ path: String, _ folder: String) throws -> [Float] {
        let mean = sums.reduce(0, +) / Double(sums.count)
        guard mean.isFinite else {
            throw UserError(
                .malformed, at: folder,
                "what the layer \"\(path)\" is multiplied by is not finite: the model's weights are damaged.")
        }
        // Only their ratios matter.
        guard let largest = sums.max(), largest > 0 else { return [Float](repeating: 1, count: sums.count) }
        return sums.map { Float(($0 + damping * mean) / largest) }
    }
}
