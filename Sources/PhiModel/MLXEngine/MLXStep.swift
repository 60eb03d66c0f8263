/// A forward pass of one step, as a model's definition sees it.
struct MLXStep {
    let rows: MLXRows
    let cache: MLXCache
    let rotary: MLXRotary
    let shape: AttentionShape

    /// Attention of queries, keys and values [rows, heads * head dimension] with all that came before them.
    func attend(_ queries: MLXArray, _ keys: MLXArray, _ values: MLXArray, layer: Int) -> MLXArray {
        func heads(_ x: MLXArray, _ count: Int) -> MLXArray {
            x.reshaped(rows.count, count, shape.headDimension)
        }
        let (own, others) = (shape.headCount, shape.keyValueHeadCount)
        cache.put(
            rotary.rotate(heads(keys, others), rows), heads(values, others), layer: layer, rows)
        return cache.attend(rotary.rotate(heads(queries, own), rows), layer: layer, rows)
    }

    /// The rows with logits alone: after the last attention nobody asks for the others.
    func kept(_ x: MLXArray) -> MLXArray { rows.kept.map { x.taking($0) } ?? x }
}

/// An architecture as operations of MLX. Each is one file of this folder and one line of `MLXModels`.
protocol MLXNetwork {
    /// What the hidden rows are kept in.
    var element: MLXArray.Element? { get }
    /// The normed hidden rows [kept rows, hidden size] after the last layer.
    func hidden(_ step: MLXStep) -> MLXArray
    /// Logits of such rows.
    func logits(_ hidden: MLXArray) -> MLXArray
}

enum MLXModels {
    /// - Throws: `ModelError` for a tensor that is missing or does not fit, or an architecture that is not here.
    static func network(_ model: any Architecture, _ weights: inout MLXWeightReader) throws -> any MLXNetwork
    {
        switch model {
        case let model as Phi3: try MLXPhi3(model, &weights)
        case let model as Phi2: try MLXPhi2(model, &weights)
        case let model as PhiMoE: try MLXPhiMoE(model, &weights)
        default:
            throw ModelError(
                .unsupported, "the engine mlx has no \"\(type(of: model).modelType)\"; use \"engine: cpu\".")
        }
    }
}
