/// All weights of a Phi model, packed for the kernels.
struct PhiWeights {
    struct Layer {
        var attentionNorm: [Float]
        /// Rows: queries, keys, values, each by heads.
        var qkv: PackedMatrix
        var output: PackedMatrix
        var feedForwardNorm: [Float]
        /// Rows: gate, then up.
        var gateUp: PackedMatrix
        var down: PackedMatrix
    }

    var embedding: PackedMatrix
    var layers: [Layer]
    var norm: [Float]
    /// The embedding's matrix where the two are tied.
    var head: PackedMatrix
    /// Why the packed matrices are not from the cache that was asked for; nil if they are.
    var cacheFault: String?
    /// What was done while loading that a person may want to know.
    var notes: [String]
    /// To be carried on between steps until it is done.
    var move: WeightMove?

    /// Reads a checkpoint, and packs it if the cache does not have it packed.
    /// - Throws: `ModelError` for a tensor that is missing, does not fit the configuration, or is not finite.
    init(
        _ store: TensorStore, _ configuration: ModelConfiguration, cache: WeightCacheLocation,
        pool: ComputePool
    ) throws {
        let hidden = configuration.hiddenSize
        var plan = WeightPlan()
        func place(_ path: String, _ rows: Int, _ columns: Int) throws -> Int {
            plan.add(
                path,
                try store.linear(
                    path, rows: rows, columns: columns, quantization: configuration.quantization))
        }
        func norm(_ path: String) throws -> [Float] { try store.vector(path, count: hidden).finiteFloats() }

        // Every tensor is checked before the first is packed: a bad checkpoint fails at once.
        let embeddingPlace = try place("model.embed_tokens", configuration.vocabularySize, hidden)
        let headPlace =
            configuration.tiedEmbeddings
            ? embeddingPlace : try place("lm_head", configuration.vocabularySize, hidden)
        let parts = try (0..<configuration.layerCount).map { number in
            let path = "model.layers.\(number)."
            return (
                attentionNorm: try norm(path + "input_layernorm"),
                qkv: try place(path + "self_attn.qkv_proj", configuration.qkvRows, hidden),
                output: try place(path + "self_attn.o_proj", hidden, configuration.attentionWidth),
                feedForwardNorm: try norm(path + "post_attention_layernorm"),
                gateUp: try place(path + "mlp.gate_up_proj", 2 * configuration.intermediateSize, hidden),
                down: try place(path + "mlp.down_proj", hidden, configuration.intermediateSize)
            )
        }
        self.norm = try norm("model.norm")
        let packed = try PackedWeights(plan, from: store, cache: cache, pool: pool)
        cacheFault = packed.cacheFault
        notes = packed.notes
        move = packed.move
        embedding = packed[embeddingPlace]
        head = packed[headPlace]
        layers = parts.map { part in
            Layer(
                attentionNorm: part.attentionNorm,
                qkv: packed[part.qkv],
                output: packed[part.output],
                feedForwardNorm: part.feedForwardNorm,
                gateUp: packed[part.gateUp],
                down: packed[part.down])
        }
    }
}
