import JSON

/// Plan for each tensor of a published checkpoint.
struct PublishedPlan {
    /// A layer that the checkpoint has quantized.
    struct Layer {
        let tensors: LayerTensors
        let shape: [Int]
        /// The bits of its codes.
        let bits: Int
        let target: PublishedMatrix.Target
        let outputs: [SafetensorsWriter.Announcement]

        var path: String { tensors.path }
        var rows: Int { shape[0] }
        var columns: Int { shape[1] }

        init(_ tensors: LayerTensors, _ matrix: PublishedMatrix) {
            self.tensors = tensors
            (shape, bits, target) = (matrix.shape, matrix.bits, matrix.target)
            outputs = SafetensorsWriter.Announcement.layer(
                tensors.path, shape: shape, target.parameters, floats: target.floats)
        }
    }

    let layers: [Layer]
    /// Tensors that stay as they are.
    let copies: [TensorView]

    /// Looks at all scales, and at no weights.
    /// - Throws: `UserError` naming the tensor at fault.
    init(_ format: any PublishedFormat, _ store: TensorStore) throws {
        let names = store.names
        let paths = names.filter { $0.hasSuffix(format.ends[0]) }
            .map { String($0.dropLast(format.ends[0].count)) }
        guard !paths.isEmpty else {
            throw UserError(
                .malformed, at: store.folder,
                "has no tensor \"...\(format.ends[0])\", although its config.json says that it is quantized (\(format.name))."
            )
        }
        layers = try paths.map { path in
            let tensors = LayerTensors(store: store, path: path)
            let matrix = try format.matrix(tensors)
            guard matrix.scales.allSatisfy({ ($0 * 255).isFinite }) else {
                throw try tensors.tensor(format.ends[0]).fault(
                    .malformed, "holds a scale that is not a finite number.")
            }
            return Layer(tensors, matrix)
        }
        let used = Set(paths.flatMap { path in format.ends.map { path + $0 } })
        copies = try names.filter { !used.contains($0) }.map { try store.tensor($0) }
        // An unknown tensor of a layer may change its values.
        let known = Set(paths)
        for tensor in copies where !tensor.name.hasSuffix(".bias") {
            let parts = tensor.name.split(at: ".")
            guard
                let path = parts.indices.dropFirst().map({ parts[..<$0].joined(separator: ".") })
                    .first(where: known.contains)
            else { continue }
            throw tensor.fault(
                .unsupported, "has no place beside the quantized layer \"\(path)\" (\(format.name)).")
        }
    }

    /// By layer, and by tensor that stays.
    var outputs: [[SafetensorsWriter.Announcement]] {
        layers.map(\.outputs) + copies.map { CopiedTensor(tensor: $0).outputs }
    }

    /// config.json of the model to be made.
    func config(_ source: JSONObject) throws -> JSONObject {
        let parameters = layers.compactMap { layer in layer.target.parameters.map { (layer.path, $0) } }
        var members = source
        for key in PublishedFormats.keys { members[key] = nil }
        if let quantization = QuantizationConfiguration.member(parameters) {
            members["quantization"] = quantization
        }
        return members
    }
}

extension QuantizationConfiguration {
    /// `quantization` of config.json; nil if there are no such layers. The most common parameters are the standard, the
    /// others are overrides.
    static func member(_ layers: [(path: String, parameters: QuantizationParameters)]) -> JSONValue? {
        func rank(_ all: [QuantizationParameters]) -> (Int, Int, Int) {
            (all.count, all[0].bits, all[0].groupSize)
        }
        let alike = Dictionary(grouping: layers.map(\.parameters)) { $0.bits << 8 | $0.groupSize }
        guard let standard = alike.values.max(by: { rank($0) < rank($1) })?.first else { return nil }
        return member(standard, layers)
    }

    static func member(
        _ standard: QuantizationParameters, _ layers: [(path: String, parameters: QuantizationParameters)],
        mode: JSONValue? = nil
    ) -> JSONValue {
        func members(_ parameters: QuantizationParameters) -> JSONObject {
            var members: JSONObject = [
                "group_size": .int(parameters.groupSize), "bits": .int(parameters.bits),
            ]
            members["mode"] = mode
            return members
        }
        return .object(
            layers.filter { $0.parameters != standard }.reduce(into: members(standard)) {
                $0[$1.path] = .object(members($1.parameters))
            })
    }
}
