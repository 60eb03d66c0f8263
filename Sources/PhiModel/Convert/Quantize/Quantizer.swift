import Errors
import FoundationShim
import OperatingSystem

/// Result of a quantization.
package struct QuantizeSummary: Sendable, Equatable {
    package var model: ConversionSummary
    /// Paths of matrices that stay floats, as their columns make no whole groups.
    package var unfit: [String]
    package var parameterCount: Int
    /// Bytes of all tensors, before and after.
    package var sourceByteCount: Int
    package var byteCount: Int
    /// Tokens of the text that the model was calibrated with; 0 without one.
    package var calibrationTokens: Int
    /// Layers that an adapter was merged into.
    package var mergedLayers: Int
}

/// Turns a model folder in BF16, F16 or F32 into one in MLX's quantized format. Tensors, config.json and index are
/// those that `mlx_lm.convert -q` writes on a CPU, to the bit (`phi_quantize` has the formula). With a text to
/// calibrate with (`ColumnWeights`), scales and biases are others, in the same format (`phi_quantize_weighted`).
///
/// Reads rows from the mapped files and writes what they become at its place, so that memory is bounded by the
/// threads' blocks, whatever the model; to calibrate, by its largest matrix and by what 4,096 tokens take.
package enum Quantizer {
    /// - Parameters:
    ///   - source: paths need not be UTF-8.
    ///   - folder: made if it is not there.
    ///   - progress: called again and again, on the calling thread.
    /// - Throws: `UserError`: `missing`, `malformed` or `unsupported` for the source (naming file, key or tensor),
    ///   `badRequest` for options that don't fit, a text that is too short or a folder that is in use, `resources` if
    ///   there is no room or writing fails. Whenever it throws, the folder holds no model that looks complete but is
    ///   not.
    package static func quantize(
        _ source: String, to folder: String, options: QuantizeOptions,
        progress: (ConversionProgress) -> Void = { _ in }
    ) throws -> QuantizeSummary {
        let pool = ComputePool(threads: options.threads)
        let model = try QuantizeSource(folder: source, adapter: options.adapter, pool: pool)
        let plan = try QuantizePlan(model, options)
        var files = try ConversionFolder.companions(in: source)
        files.append(("config.json", Data(plan.config(of: model).indentedText.utf8)))
        files.append((TensorStore.indexName, Data(plan.index.indentedText.utf8)))

        try check(folder, options)
        try plan.files.checkRoom(files, in: folder)
        let weights = try options.calibration.map { text in
            progress(ConversionProgress(layer: "reading the text", total: plan.sourceByteCount))
            return try ColumnWeights(model, text: text, pool: pool)
        }
        var summary = try plan.files.write(
            with: files, to: folder, reading: model.files, overwrite: options.overwrite, pool,
            total: plan.sourceByteCount, progress: progress
        ) { number in
            var tensor = plan.tensors[number]
            let isMatrix = model.matrices[tensor.path] != nil && tensor.name.hasSuffix(".weight")
            // An adapter changes no experts: each of them is a layer of its own.
            let isAdapted = model.adapted.contains(tensor.path) && tensor.parts[0].name.hasSuffix(".weight")
            tensor.bits = isMatrix ? tensor.parameters?.bits ?? 0 : nil
            tensor.columnWeights = (model.stacks[tensor.path] ?? [tensor.path]).map { weights?[$0] }
            if isAdapted {
                tensor.factors = try model.store.adapter?.factors(
                    tensor.path, rows: tensor.rows, columns: tensor.columns)
            }
            return tensor
        }
        summary.architecture = type(of: model.architecture).modelType
        summary.layerCount = model.architecture.shape.layerCount
        summary.notes = model.store.notes
        return QuantizeSummary(
            model: summary, unfit: plan.unfit, parameterCount: plan.parameterCount,
            sourceByteCount: plan.sourceByteCount, byteCount: plan.files.byteCount,
            calibrationTokens: weights?.tokenCount ?? 0, mergedLayers: model.adapted.count)
    }

    /// A folder with anything but a model is not ours to write in.
    private static func check(_ folder: String, _ options: QuantizeOptions) throws {
        guard let kind = Files.kind(of: folder) else { return }
        guard kind == .folder else {
            throw UserError(.badRequest, at: folder, "is a file; the model to be made is a folder.")
        }
        let names = ((try? Files.names(in: folder)) ?? [])
            .filter { !$0.hasPrefix(".") && !ConversionFolder.isPartial($0) }
        guard let name = names.min(), !names.contains("config.json") else { return }
        throw UserError(
            .badRequest, at: folder,
            "holds other files, such as \(name), but no model. Choose another folder.")
    }
}
