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
