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

    /// Reads and packs a checkpoint.
    /// - Throws: `ModelError` for a tensor that is missing or does not fit the configuration.
    init(_ store: TensorStore, _ configuration: ModelConfiguration, pool: ComputePool) throws {
        let hidden = configuration.hiddenSize
        func tensors(_ path: String, _ rows: Int, _ columns: Int) throws -> LinearTensors {
            try store.linear(path, rows: rows, columns: columns, quantization: configuration.quantization)
        }
        func norm(_ path: String) throws -> [Float] { try store.vector(path, count: hidden).floats() }

        let embeddingTensors = try tensors("model.embed_tokens", configuration.vocabularySize, hidden)
        let headTensors =
            configuration.tiedEmbeddings
            ? nil : try tensors("lm_head", configuration.vocabularySize, hidden)
        // Every tensor is checked before the first is packed: a bad checkpoint fails at once.
        let parts = try (0..<configuration.layerCount).map { number in
            let path = "model.layers.\(number)."
            return (
                attentionNorm: try norm(path + "input_layernorm"),
                qkv: try tensors(path + "self_attn.qkv_proj", configuration.qkvRows, hidden),
                output: try tensors(path + "self_attn.o_proj", hidden, configuration.attentionWidth),
                feedForwardNorm: try norm(path + "post_attention_layernorm"),
                gateUp: try tensors(path + "mlp.gate_up_proj", 2 * configuration.intermediateSize, hidden),
                down: try tensors(path + "mlp.down_proj", hidden, configuration.intermediateSize)
            )
        }
        self.norm = try norm("model.norm")
        embedding = PackedMatrix(embeddingTensors, pool: pool)
        head = headTensors.map { PackedMatrix($0, pool: pool) } ?? embedding
        layers = parts.map { part in
            Layer(
                attentionNorm: part.attentionNorm,
                qkv: PackedMatrix(part.qkv, pool: pool),
                output: PackedMatrix(part.output, pool: pool),
                feedForwardNorm: part.feedForwardNorm,
                gateUp: PackedMatrix(part.gateUp, pool: pool),
                down: PackedMatrix(part.down, pool: pool))
        }
    }
}
