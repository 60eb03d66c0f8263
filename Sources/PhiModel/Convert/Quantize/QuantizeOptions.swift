import OperatingSystem

/// Options of quantizing a model.
package struct QuantizeOptions: Sendable {
    /// Parameters of all layers for which nothing else is said.
    package var standard = QuantizationParameters.standard
    /// The bits of the embedding; nil takes the standard's.
    package var embeddingBits: Int?
    /// The last one that fits a layer counts.
    package var rules: [LayerRule] = []
    /// Replaces a model that is in the folder to be made.
    package var overwrite = false
    /// A text that the model reads first, to learn which columns of its matrices count; nil writes what mlx-lm does.
    package var calibration: String?
    /// The folder of an adapter that is merged into the weights first.
    package var adapter: String?
    var threads = Processors.count
    /// Bytes of the tensors in one file, as in mlx-lm.
    var fileLimit = 5 << 30

    /// Returns a layer's parameters; nil leaves it as it is, as for columns that make no whole groups.
    /// - Throws: `UserError` of kind `badRequest` for a rule that asks for what can't be.
    func parameters(for path: String, columns: Int) throws -> QuantizationParameters? {
        if let rule = rules.last(where: { $0.fits(path) }) {
            guard let bits = rule.bits else { return nil }
            let group = rule.groupSize ?? standard.groupSize
            guard columns % group == 0 else {
                throw UserError(
                    .badRequest,
                    "the layer rule \"\(rule.text)\" does not go with the layer \"\(path)\": its \(columns) columns "
                        + "make no whole groups of \(group).")
            }
            return QuantizationParameters(groupSize: group, bits: bits)
        }
        guard columns % standard.groupSize == 0 else { return nil }
        var parameters = standard
        if let embeddingBits, path.hasSuffix("embed_tokens") { parameters.bits = embeddingBits }
        return parameters
    }
}

extension QuantizeOptions {
    package init(standard: QuantizationParameters) {
        self.init()
        self.standard = standard
    }
}
