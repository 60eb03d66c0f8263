import CPhiKernels
import FoundationShim
import JSON
import OperatingSystem

/// Turns a folder of Hugging Face whose weights another program has quantized into one in MLX's format.
struct PublishedConverter {
    let folder: String
    let format: any PublishedFormat
    private let source: JSONObject

    /// - Returns: nil if the folder is not in such a format.
    /// - Throws: `UserError` naming the key, for a variant that is not read.
    init?(_ folder: String) throws {
        let path = Paths.join(folder, "config.json")
        // Other faults are for others to say.
        guard let config = try? JSONFile.object(path) else { return nil }
        let reader = ConfigReader(path: path, members: config)
        guard let format = try PublishedFormats.format(of: reader) else { return nil }
        (self.folder, self.format, source) = (folder, format, config)
    }

    /// - Throws: `UserError` naming the tensor at fault.
    func plan() throws -> PublishedPlan { try PublishedPlan(format, TensorStore(folder: folder)) }

    /// Returns the files that the model is made of.
    func sources() throws -> SourceFiles {
        var sources = try TensorStore(folder: folder).sources
        sources.add(["config.json"] + ConversionFolder.companionNames(in: folder), in: folder)
        return sources
    }

    /// - Throws: as `GGUFConverter.convert`.
    func convert(
        to target: String, overwrite: Bool, threads: Int = Processors.count,
        progress: (ConversionProgress) -> Void
    ) throws -> ConversionSummary {
        let store = try TensorStore(folder: folder)
        let plan = try PublishedPlan(format, store)
        let config = try plan.config(source)
        // Checks of loading, before anything is written.
        let model = try Architectures.read(
            ConfigReader(path: Paths.join(folder, "config.json"), members: config))
        let files =
            [("config.json", Data(JSONValue.object(config).indentedText.utf8))]
            + (try ConversionFolder.companions(in: folder))
        var summary = try WeightFiles(plan.outputs).write(
            with: files, to: target, reading: store.sources.files.map(\.path), overwrite: overwrite,
            ComputePool(threads: threads), progress: progress
        ) { number in
            guard number < plan.layers.count else {
                return CopiedTensor(tensor: plan.copies[number - plan.layers.count])
            }
            let layer = plan.layers[number]
            return PublishedRows(layer: layer, matrix: try format.matrix(layer.tensors), format: format.name)
        }
        (summary.architecture, summary.layerCount) = (type(of: model).modelType, model.shape.layerCount)
        return summary
    }
}

/// Rows of a layer that another program has quantized.
private struct PublishedRows: RowSource {
    let layer: PublishedPlan.Layer
    let matrix: PublishedMatrix
    /// Name of the format, for `losses`.
    let format: String
    private let sums = BlockSquares()

    var path: String { layer.path }
    var outputs: [SafetensorsWriter.Announcement] { layer.outputs }
    var rows: Int { layer.rows }
    var rowSize: Int { 4 * layer.columns }
    var bits: Int? { layer.target.parameters?.bits ?? 0 }

    var losses: [ConversionLoss] {
        guard layer.target.parameters != nil, !layer.target.keepsCodes else { return [] }
        return [ConversionLoss(type: format, bits: 8, matrices: 1, squares: sums.all)]
    }

    func converted(_ rows: Range<Int>) -> [[UInt8]] {
        let (columns, type) = (layer.columns, layer.target.floats.kernelType)
        let group = layer.target.parameters?.groupSize ?? 0
        let outputs = layer.outputs.map { [UInt8](repeating: 0, count: $0.byteCount / layer.rows) }
        var all = outputs.map { _ in [UInt8]() }
        let values = UnsafeMutablePointer<Float>.allocate(capacity: columns)
        let codes = UnsafeMutablePointer<UInt8>.allocate(capacity: columns)
        defer {
            values.deallocate()
            codes.deallocate()
        }
        var squares = ConversionLoss.Squares()
        for row in rows {
            var parts = outputs
            if layer.target.keepsCodes {
                matrix.codes(row, codes)
                parts[0].removeAll(keepingCapacity: true)
                for column in stride(from: 0, to: columns, by: 32) {
                    RowEncoder.append(codes + column, bits: layer.bits, to: &parts[0])
                }
                let (scales, biases) = matrix.affine(row, group: group)
                phi_from_float(scales, type, scales.count, &parts[1])
                phi_from_float(biases, type, biases.count, &parts[2])
            } else if group > 0 {
                matrix.values(row, into: values)
                var (words, scales, biases) = (parts[0], parts[1], parts[2])
                phi_quantize(values, columns, UInt32(group), 8, type, &words, &scales, &biases)
                parts = [words, scales, biases]
                add(values, parts, group: group, to: &squares)
            } else {
                matrix.values(row, into: values)
                phi_from_float(values, type, columns, &parts[0])
            }
            for index in parts.indices { all[index] += parts[index] }
        }
        sums.add(squares, rows.lowerBound)
        return all
    }

    private func add(
        _ values: UnsafePointer<Float>, _ parts: [[UInt8]], group: Int,
        to squares: inout ConversionLoss.Squares
    ) {
        func float(_ part: Int, _ index: Int) -> Float {
            parts[part].withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 4 * index, as: Float.self) }
        }
        for begin in stride(from: 0, to: layer.columns, by: group) {
            let (scale, bias) = (float(1, begin / group), float(2, begin / group))
            for column in begin..<begin + group {
                squares.add(values[column], is: scale * Float(parts[0][column]) + bias)
            }
        }
    }
}
