import Errors
import FoundationShim
import OperatingSystem

/// Progress of a conversion.
package struct ConversionProgress: Sendable, Equatable {
    /// The layer being written, as in "model.layers.3.mlp.down_proj", or what is done before the first.
    package var layer = ""
    package var layersDone = 0
    package var layerCount = 0
    /// Bytes of the source's tensors.
    package var done = 0
    package var total = 0
}

/// Result of a conversion.
package struct ConversionSummary: Sendable, Equatable {
    /// A GGUF file's architecture, such as "llama", or config.json's `model_type`.
    package var architecture = ""
    /// The GGUF file's name for the model, if it has one.
    package var modelName: String?
    package var layerCount = 0
    /// Matrices by bits a value; floating point ones are under 0.
    package var matricesByBits: [Int: Int] = [:]
    /// Bytes of the weights' files.
    package var byteCount = 0
    /// Names of all files written, sorted.
    package var files: [String]
    /// Differences from the source; empty if every weight keeps its exact value.
    package var losses: [ConversionLoss] = []
    /// Notes for a person, a sentence each, without its full stop.
    package var notes: [String] = []

    package var hasTokenizer: Bool {
        files.contains { ["tokenizer.json", "cl100k_base.tiktoken"].contains($0) }
    }
}

/// Rows of a model in another form, and the tensors that are made of them: one protocol for GGUF files, for published
/// formats and for tensors in floats.
protocol RowSource {
    /// Path of the layer, as in "model.layers.3.mlp.down_proj".
    var path: String { get }
    /// All have as many rows.
    var outputs: [SafetensorsWriter.Announcement] { get }
    var rows: Int { get }
    /// Bytes that are read for a row.
    var rowSize: Int { get }
    /// Bits of a value that is written, 0 of floats; nil for what is no matrix.
    var bits: Int? { get }
    /// Differences that were made, once all rows are converted. None by default.
    var losses: [ConversionLoss] { get }
    /// Returns the bytes that some rows become, for each output. May be called from any thread.
    /// - Throws: `UserError`: `malformed` for what is not finite, or can't be in the type to be written.
    func converted(_ rows: Range<Int>) throws -> [[UInt8]]
}

extension RowSource {
    var losses: [ConversionLoss] { [] }
}

/// A tensor that stays as it is.
struct CopiedTensor: RowSource {
    let tensor: TensorView

    var path: String { tensor.name }
    var outputs: [SafetensorsWriter.Announcement] {
        [.init(name: tensor.name, type: tensor.type, shape: tensor.shape, byteCount: tensor.range.count)]
    }
    var rows: Int { tensor.shape.first ?? 1 }
    var rowSize: Int { tensor.range.count / max(1, rows) }
    var bits: Int? { tensor.shape.count > 1 && tensor.type.isWeightFloat ? 0 : nil }

    func converted(_ rows: Range<Int>) -> [[UInt8]] {
        tensor.withBytes { [Array($0[rows.lowerBound * rowSize..<rows.upperBound * rowSize])] }
    }
}

/// Files that a model's tensors are written to, one filled after the other.
struct WeightFiles {
    /// By file, in the order in which they lie there.
    private(set) var tensors: [[SafetensorsWriter.Announcement]] = []
    /// Places of each source's outputs: a file's number and the tensor's within it.
    private var places: [[(file: Int, tensor: Int)]] = []

    /// Bytes that one thread reads at a time, and those between two calls of `progress`.
    private static let (blockSize, stretch) = (1 << 20, 64 << 20)

    /// - Parameters:
    ///   - outputs: by source.
    ///   - limit: bytes of the tensors in one file. A larger tensor has a file of its own.
    init(_ outputs: [[SafetensorsWriter.Announcement]], limit: Int = .max) {
        var size = 0
        for outputs in outputs {
            places.append(
                outputs.map { output in
                    if tensors.isEmpty || size + output.byteCount > limit {
                        tensors.append([])
                        size = 0
                    }
                    size += output.byteCount
                    tensors[tensors.count - 1].append(output)
                    return (tensors.count - 1, tensors[tensors.count - 1].count - 1)
                })
        }
    }

    /// The bytes of all tensors, without the files' headers.
    var byteCount: Int { tensors.joined().reduce(0) { $0 + $1.byteCount } }

    /// As mlx-lm names them.
    var names: [String] {
        guard tensors.count > 1 else { return [ConversionFolder.weightsName] }
        func five(_ number: Int) -> String {
            String(repeating: "0", count: max(0, 5 - String(number).count)) + String(number)
        }
        return tensors.indices.map { "model-\(five($0 + 1))-of-\(five(tensors.count)).safetensors" }
    }

    /// - Throws: `UserError` of kind `resources`.
    func checkRoom(_ files: [(name: String, content: Data)], in folder: String) throws {
        let count = byteCount + files.reduce(0) { $0 + $1.content.count }
        guard let free = DiskSpace.free(at: folder), free < count else { return }
        throw UserError(
            .resources, at: folder,
            "there is room for \(byteText(free)), and \(byteText(count)) are to be written. Make room, or choose a "
                + "folder on another disk.")
    }

    /// Makes a model folder of them and of files beside them.
    /// - Parameters:
    ///   - inputs: the files that are read.
    ///   - total: bytes of the sources, for `progress`, which is called before each layer and at the end.
    ///   - source: called for one after the other, which is let go of before the next.
    /// - Returns: a summary without the source's name, layers and notes.
    /// - Throws: what `source` throws; `UserError`: `badRequest` for a folder that is in use, `resources` if writing
    ///   fails. The folder then holds no model that looks complete but is not.
    func write(
        with files: [(name: String, content: Data)], to folder: String, reading inputs: [String],
        overwrite: Bool, _ pool: ComputePool, total: Int = 0, progress: (ConversionProgress) -> Void,
        source: (Int) throws -> any RowSource
    ) throws -> ConversionSummary {
        try checkRoom(files, in: folder)
        var summary = ConversionSummary(files: (files.map(\.name) + names).sorted())
        let target = try ConversionFolder(folder, sources: inputs, overwrite: overwrite)
        defer { target.removePartialFiles() }
        for file in files { try target.write(file.content, name: file.name) }
        let writers = try zip(tensors, names).map { tensors, name in
            SafetensorsWriter(try target.newFile(name), tensors: tensors)
        }
        var state = ConversionProgress(layerCount: places.count, total: total)
        for (number, places) in places.enumerated() {
            let source = try source(number)
            (state.layer, state.layersDone) = (source.path, number)
            let blockRows = max(1, Self.blockSize / max(1, source.rowSize))
            let step = Self.stretch / Self.blockSize * blockRows
            for first in stride(from: 0, to: source.rows, by: step) {
                progress(state)
                let last = min(source.rows, first + step)
                try pool.runThrowing((last - first + blockRows - 1) / blockRows) { block in
                    let begin = first + block * blockRows
                    let rows = begin..<min(last, begin + blockRows)
                    for (place, bytes) in zip(places, try source.converted(rows)) {
                        let size = tensors[place.file][place.tensor].byteCount / source.rows
                        try bytes.withUnsafeBytes {
                            try writers[place.file].put($0, tensor: place.tensor, at: begin * size)
                        }
                    }
                }
                state.done += (last - first) * source.rowSize
            }
            if let bits = source.bits { summary.matricesByBits[bits, default: 0] += 1 }
            summary.losses += source.losses
        }
        (state.layer, state.layersDone) = ("", places.count)
        progress(state)
        summary.losses = ConversionLoss.joined(summary.losses)
        summary.byteCount = try writers.reduce(0) { try $0 + $1.finish() }
        try target.complete(files.map(\.name), weights: names)
        return summary
    }
}
