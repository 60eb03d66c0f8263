/// One tensor of the source, or some that become one, and what becomes of it.
struct PlannedTensor {
    /// As in MLX's format.
    let name: String
    /// All of one shape and type.
    let parts: [TensorView]
    /// The rows of all parts together.
    let rows: Int
    let columns: Int
    /// The type of what is written: the tensor itself, or its scales and biases.
    let floats: TensorType
    /// Nil keeps it as floats.
    let parameters: QuantizationParameters?
    /// The tensors it becomes: itself, or weight, scales and biases.
    let outputs: [SafetensorsWriter.Announcement]

    /// Without ".weight".
    var path: String { name.hasSuffix(".weight") ? String(name.dropLast(7)) : name }

    var type: TensorType { parts[0].type }
    /// Values, and their bytes, of all parts.
    var count: Int { parts.reduce(0) { $0 + $1.count } }
    var byteCount: Int { parts.reduce(0) { $0 + $1.range.count } }

    /// - Parameter parts: one, or some that are stacked: then what is made has one dimension more.
    init(
        _ name: String, _ parts: [TensorView], floats: TensorType?, parameters: QuantizationParameters?
    ) {
        let floats = floats ?? parts[0].type
        let part = parts[0]
        self.name = name
        self.parts = parts
        self.floats = floats
        self.parameters = parameters
        columns = part.shape.last ?? 1
        rows = parts.count * (part.count / max(1, columns))
        let shape = (parts.count > 1 ? [parts.count] : []) + part.shape
        outputs =
            parameters.map {
                SafetensorsWriter.Announcement.quantized(
                    String(name.dropLast(7)), shape: shape, $0, floats: floats)
            }
            ?? [.init(name: name, type: floats, shape: shape)]
    }
}

/// Tensors that are made of all those of a model, and the files in which they lie.
struct QuantizePlan {
    let tensors: [PlannedTensor]
    let files: WeightFiles
    let standard: QuantizationParameters
    /// Paths of matrices that stay floats although nobody asked for it.
    let unfit: [String]

    /// - Throws: `UserError` of kind `badRequest` for a rule that fits no layer, or asks for what can't be.
    init(_ source: QuantizeSource, _ options: QuantizeOptions) throws {
        standard = options.standard
        var tensors: [PlannedTensor] = []
        var unfit: [String] = []
        var unused = options.rules
        for name in source.names {
            let path = name.hasSuffix(".weight") ? String(name.dropLast(7)) : name
            guard let matrix = source.matrices[path], path != name else {
                tensors.append(
                    PlannedTensor(
                        name, [try source.store.tensor(name)], floats: source.floats, parameters: nil))
                continue
            }
            unused.removeAll { $0.fits(path) }
            let columns = matrix[0].shape.last ?? 0
            let parameters = try options.parameters(for: path, columns: columns)
            if parameters == nil, !options.rules.contains(where: { $0.fits(path) }) { unfit.append(path) }
            tensors.append(PlannedTensor(name, matrix, floats: source.floats, parameters: parameters))
        }
        if let rule = unused.first {
            throw UserError(
                .badRequest,
                "the layer rule \"\(rule.text)\" fits no layer. Layers are called like "
                    + "\"\(source.matrices.keys.filter { $0.contains(".0.") }.min() ?? "lm_head")\"; * stands for any "
                    + "characters.")
        }
        files = WeightFiles(tensors.map(\.outputs), limit: options.fileLimit)
        self.tensors = tensors
        self.unfit = unfit
    }

    var sourceByteCount: Int { tensors.reduce(0) { $0 + $1.byteCount } }
    var parameterCount: Int { tensors.reduce(0) { $0 + $1.count } }
}
