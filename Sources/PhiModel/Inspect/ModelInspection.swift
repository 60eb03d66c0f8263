import OperatingSystem

/// Facts of a model folder from its configuration, the headers of its weight files and its tokenizer. Of the weights
/// only the norms' are read.
package struct ModelInspection: Sendable {
    /// Form in which a matrix is stored.
    package struct Matrix: Sendable, Equatable {
        /// As in "model.layers.0.mlp.down_proj".
        package let path: String
        /// Nil for plain floats.
        package let quantization: QuantizationParameters?
        /// The type of plain floats, or of scales and biases.
        package let floats: TensorType
    }

    package let modelType: String
    /// Names of the models of this type.
    package let models: String
    package let shape: ModelShape
    /// Whether the output's matrix is the embedding's.
    package let isTied: Bool
    package let matrices: [Matrix]
    package let parameterCount: Int
    /// Bytes of all tensors.
    package let byteCount: Int
    package let fileCount: Int
    /// Nil without a tokenizer.
    package let codec: TextCodec?
    /// File of the chat template; nil without one.
    package let templateFile: String?
    package let memory: MemoryCheck
    /// Default budget of the KV cache.
    package let budget: Result<Int, UserError>
    /// Notes on the files for a person.
    package let notes: [String]

    /// - Throws: `UserError` naming the file, tensor or key at fault.
    package init(folder: String, threads: Int = Processors.count) throws {
        let model = try Architectures.read(folder: folder)
        let store = try TensorStore(model, in: folder)
        var reader = WeightReader(store)
        _ = try model.network(&reader)
        modelType = type(of: model).modelType
        models = type(of: model).models
        shape = model.shape
        isTied = reader.isTied
        var count = try reader.names.reduce(0) { sum, name in
            let tensor = try store.tensor(name)
            return sum + (tensor.type.isWeightFloat ? tensor.count : 0)
        }
        let all = reader.plan.matrices.map(\.tensors) + reader.routers.values
        for matrix in all where matrix.quantization != nil { count += matrix.rows * matrix.columns }
        matrices = reader.plan.matrices.map {
            Matrix(
                path: $0.name, quantization: $0.tensors.quantization?.parameters,
                floats: $0.tensors.floats[0].type)
        }
        parameterCount = count
        byteCount = store.byteCount
        fileCount = store.files.count
        codec = try TextCodec(folder: folder)
        templateFile =
            codec?.template == nil
            ? nil
            : ["chat_template.jinja", "tokenizer_config.json"].first {
                Files.kind(of: Paths.join(folder, $0)) != nil
            }
        memory = try MemoryCheck(model, store, precision: .int8, cache: .standard(), threads: threads)
        budget = Result { [memory] () throws(UserError) in try memory.budget(asked: nil) }
        notes = store.notes
    }

    /// Prompt of a single message by the chat template; nil without template, or if it refuses that.
    package var sample: String? {
        try? codec?.text(of: [ChatMessage(role: "user", content: "Hello")])
    }

    package var cacheBytesPerToken: Int { KVCache.blockBytes(shape, .int8) / KVCache.blockLength }

    /// Returns the bytes of KV cache for a request of so many tokens, prompt and completion.
    package func cacheBytes(tokens: Int) -> Int { KVCache.bytes(shape, .int8, tokens: tokens) }

    /// As in "4 bits in groups of 64; lm_head 6 bits". The most common comes first, without names.
    package var formats: String {
        let groups = Self.grouped(matrices, by: Self.name(of:)).sorted { $0.items.count > $1.items.count }
        return groups.enumerated().map { number, group in
            number == 0 ? group.key : "\(modules(group.items.map(\.path))) \(group.key)"
        }.joined(separator: "; ")
    }

    /// Returns items with equal keys together, in the order of the first of each.
    private static func grouped<Item>(
        _ items: [Item], by key: (Item) -> String
    ) -> [(key: String, items: [Item])] {
        Dictionary(grouping: items.enumerated()) { key($0.element) }
            .sorted { $0.value[0].offset < $1.value[0].offset }
            .map { ($0.key, $0.value.map(\.element)) }
    }

    private static func name(of matrix: Matrix) -> String {
        guard let parameters = matrix.quantization else { return "\(matrix.floats), not quantized" }
        return "\(parameters.bits) bits in groups of \(parameters.groupSize)"
    }

    /// Module name in "model.layers.3.mlp.down_proj", with the number of layers if not all.
    private func modules(_ paths: [String]) -> String {
        func module(_ path: String) -> String {
            let parts = path.split(at: ".")
            let isLayer = parts.count > 3 && parts[1] == "layers"
            return isLayer ? parts[3...].joined(separator: ".") : parts.last.map(String.init) ?? path
        }
        return Self.grouped(paths, by: module).map { name, paths in
            let count = paths.count
            let all = matrices.count { module($0.path) == name }
            return count == all ? name : "\(name) of \(count) layer\(count == 1 ? "" : "s")"
        }.joined(separator: ", ")
    }
}
