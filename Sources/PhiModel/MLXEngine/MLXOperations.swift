/// A forward pass on MLX: each operation makes arrays that are computed with the logits.
final class MLXOperations: RowOperations {
    typealias Linear = MLXLinear
    typealias Embedding = MLXMatrix
    typealias Norm = MLXNorm
    typealias Experts = MLXExperts

    private let rows: MLXRows
    private let cache: MLXCache
    private let rotary: MLXRotary
    private let shape: ModelShape

    /// [rows, hidden size]
    private var hidden: MLXArray?
    private var normed: MLXArray?
    /// Results of the last product [rows, ...], one for each of its matrices.
    private var projected: [MLXArray] = []
    /// [rows, heads * head dimension]
    private var attended: MLXArray?
    /// The head and its input [kept rows, hidden size].
    private(set) var head: (linear: MLXLinear, input: MLXArray)?

    init(_ shape: ModelShape, rows: MLXRows, cache: MLXCache, rotary: MLXRotary) {
        self.shape = shape
        self.rows = rows
        self.cache = cache
        self.rotary = rotary
    }

    func embed(_ embedding: MLXMatrix, times multiplier: Float) {
        let found = embedding.rows(at: rows.tokens)
        hidden = multiplier == 1 ? found : found * found.scalar(Double(multiplier))
    }

    func project(_ linears: [MLXLinear], of source: RowInput<MLXNorm>) {
        let x = input(source)
        projected = linears.map { $0(x) }
    }

    func attend(layer: Int, norms: HeadNorms<MLXNorm>?) {
        let shape = shape.layers[layer]
        let (own, others) = (shape.headCount, shape.keyValueHeadCount)
        let parts = zip(split(shape.widths), [own, others, others]).map { part, heads in
            part.reshaped(rows.count, heads, shape.headDimension)
        }
        func rotated(_ x: MLXArray, _ norm: MLXNorm?) -> MLXArray {
            rotary.rotate(norm.map { $0(x) } ?? x, rows)
        }
        cache.put(rotated(parts[1], norms?.key), parts[2], layer: layer, rows)
        attended = cache.attend(rotated(parts[0], norms?.query), layer: layer, rows)
    }

    func mix(layer: Int, _ mixer: any RowMixer) {
        preconditionFailure("models with mixers are refused at loading")
    }

    func mix(_ experts: MLXExperts, of source: RowInput<MLXNorm>) { projected = [experts(input(source))] }

    func addToHidden() { hidden = set(hidden) + projected[0] }

    func keepRowsWithLogits() {
        guard let kept = rows.kept else { return }
        hidden = hidden?.taking(kept)
        normed = normed?.taking(kept)
        attended = attended?.taking(kept)
    }

    func makeLogits(_ head: MLXLinear, of source: RowInput<MLXNorm>) {
        self.head = (head, input(source))
        // MLX reuses buffers that nobody holds.
        (hidden, normed, attended, projected) = (nil, nil, nil, [])
    }

    private func input(_ source: RowInput<MLXNorm>) -> MLXArray {
        switch source {
        case .norm(let norm):
            let made = norm(set(hidden))
            normed = made
            return made
        case .normed: return set(normed)
        case .attended: return set(attended)
        case .gatedSilu:
            let width = projected.reduce(0) { $0 + $1.dimension(1) } / 2
            let parts = split([width, width])
            return parts[0].silu * parts[1]
        case .gelu: return projected[0].gelu
        case .gegelu(let limit): return projected[0].gegelu(limit: limit)
        }
    }

    /// Splits the last product's results, of one matrix or of several, into parts of these widths.
    private func split(_ widths: [Int]) -> [MLXArray] {
        guard projected.count == 1 else { return projected }
        var start = 0
        return widths.map { width in
            defer { start += width }
            return projected[0].slice(axis: 1, start..<start + width)
        }
    }

    private func set(_ array: MLXArray?) -> MLXArray {
        guard let array else {
            preconditionFailure("an operation comes before the one whose results it takes")
        }
        return array
    }
}
