import Errors
import FoundationShim
import OperatingSystem

/// Progress of a quantization.
package struct QuantizeProgress: Sendable, Equatable {
    /// Bytes of the source's tensors.
    package var done: Int
    package var total: Int
    /// The layer under way, or what is done before the first.
    package var layer: String
}

/// Result of a quantization.
package struct QuantizeSummary: Sendable, Equatable {
    package var modelType: String
    package var layerCount: Int
    /// Matrices by bits a value; those that stay floats are under 0.
    package var matricesByBits: [Int: Int]
    /// Paths of matrices that stay floats, as their columns make no whole groups.
    package var unfit: [String]
    package var parameterCount: Int
    /// Bytes of all tensors, before and after.
    package var sourceByteCount: Int
    package var byteCount: Int
    /// Names of all files written, sorted.
    package var files: [String]
    package var hasTokenizer: Bool
    /// Tokens of the text that the model was calibrated with; 0 without one.
    package var calibrationTokens: Int
    /// Layers that an adapter was merged into.
    package var mergedLayers: Int
    /// Notes on the source for a person.
    package var notes: [String]
}

/// Turns a model folder in BF16, F16 or F32 into one in MLX's quantized format. Tensors, config.json and index are
/// those that `mlx_lm.convert -q` writes on a CPU, to the bit (`phi_quantize` has the formula). With a text to
/// calibrate with (`ColumnWeights`), scales and biases are others, in the same format (`phi_quantize_weighted`).
///
/// Reads rows from the mapped files and writes what they become at its place, so that memory is bounded by the
/// threads' blocks, whatever the model; to calibrate, by its largest matrix and by what 4,096 tokens take.
package enum Quantizer {
    /// Bytes of a tensor between two calls of `progress`.
    private static let stretch = 64 << 20

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
        progress: (QuantizeProgress) -> Void = { _ in }
    ) throws -> QuantizeSummary {
        let pool = ComputePool(threads: options.threads)
        let model = try QuantizeSource(folder: source, adapter: options.adapter, pool: pool)
        let plan = try QuantizePlan(model, options)
        let configuration = QuantizedConfiguration(source: model, plan: plan)
        var files = try ConversionFolder.companions(in: source)
        files.append(("config.json", Data(configuration.config.indentedText.utf8)))
        files.append((TensorStore.indexName, Data(configuration.index.indentedText.utf8)))

        try check(folder, options)
        try checkRoom(plan.byteCount + files.reduce(0) { $0 + $1.content.count }, in: folder)
        let weights = try options.calibration.map { text in
            progress(QuantizeProgress(done: 0, total: plan.sourceByteCount, layer: "reading the text"))
            return try ColumnWeights(model, text: text, pool: pool)
        }
        let target = try ConversionFolder(folder, sources: model.files, overwrite: options.overwrite)
        defer { target.removePartialFiles() }
        for file in files { try target.write(file.content, name: file.name) }
        try write(plan, weights, model, to: target, pool, progress)
        try target.complete(files.map(\.name), weights: plan.fileNames)

        var matrices: [Int: Int] = [:]
        for tensor in plan.tensors where model.matrices[tensor.path] != nil {
            guard tensor.name.hasSuffix(".weight") else { continue }
            matrices[tensor.parameters?.bits ?? 0, default: 0] += 1
        }
        return QuantizeSummary(
            modelType: type(of: model.architecture).modelType,
            layerCount: model.architecture.shape.layerCount,
            matricesByBits: matrices, unfit: plan.unfit, parameterCount: plan.parameterCount,
            sourceByteCount: plan.sourceByteCount, byteCount: plan.byteCount,
            files: (files.map(\.name) + plan.fileNames).sorted(),
            hasTokenizer: files.contains { ["tokenizer.json", "cl100k_base.tiktoken"].contains($0.name) },
            calibrationTokens: weights?.tokenCount ?? 0, mergedLayers: model.adapted.count,
            notes: model.store.notes)
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

    /// - Throws: `UserError` of kind `resources`.
    static func checkRoom(_ count: Int, in folder: String) throws {
        guard let free = DiskSpace.free(at: folder), free < count else { return }
        throw UserError(
            .resources, at: folder,
            "there is room for \(byteText(free)), and \(byteText(count)) are to be written. Make room, or choose a "
                + "folder on another disk.")
    }

    private static func write(
        _ plan: QuantizePlan, _ weights: ColumnWeights?, _ model: QuantizeSource, to folder: ConversionFolder,
        _ pool: ComputePool,
        _ progress: (QuantizeProgress) -> Void
    ) throws {
        let writers = try zip(plan.files, plan.fileNames).map { tensors, name in
            SafetensorsWriter(try folder.newFile(name), tensors: tensors)
        }
        var state = QuantizeProgress(done: 0, total: plan.sourceByteCount, layer: "")
        for tensor in plan.tensors {
            let quantizer = TensorQuantizer(
                tensor: tensor, writers: writers,
                columnWeights: (model.stacks[tensor.path] ?? [tensor.path]).map { weights?[$0] },
                // An adapter changes no experts: each of them is a layer of its own.
                factors: model.adapted.contains(tensor.path) && tensor.parts[0].name.hasSuffix(".weight")
                    ? try model.adapter?.factors(tensor.path, rows: tensor.rows, columns: tensor.columns)
                    : nil)
            let rowSize = tensor.byteCount / max(1, tensor.rows)
            let blockRows = quantizer.blockRows
            let step = max(blockRows, Self.stretch / max(1, rowSize) / blockRows * blockRows)
            for first in stride(from: 0, to: tensor.rows, by: step) {
                state.layer = tensor.path
                progress(state)
                let last = min(tensor.rows, first + step)
                try pool.runThrowing((last - first + blockRows - 1) / blockRows) { block in
                    let begin = first + block * blockRows
                    try quantizer.run(begin..<min(last, begin + blockRows))
                }
                state.done += (last - first) * rowSize
            }
        }
        state.layer = ""
        progress(state)
        for writer in writers { _ = try writer.finish() }
    }
}
