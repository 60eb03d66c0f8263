import CPhiKernels
import FoundationShim
import JSON
import OperatingSystem

/// Turns a folder of Hugging Face whose weights another program has quantized into one in MLX's format.
struct PublishedConverter {
    let folder: String
    let format: any PublishedFormat
    private let source: JSONObject

    private static let maximumFileSize = 64 << 20
    /// Bytes of values that one thread works on at a time.
    private static let blockSize = 1 << 20

    /// - Returns: nil if the folder is not in such a format.
    /// - Throws: `UserError` naming the key, for a variant that is not read.
    init?(_ folder: String) throws {
        let path = Paths.join(folder, "config.json")
        // What else is wrong with it is for others to say.
        guard let config = try? JSONFile.object(path, maximumBytes: Self.maximumFileSize) else { return nil }
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
        let config = Data(JSONValue.object(try plan.config(source)).indentedText.utf8)
        try GGUFConverter.checkReadable(config, path: Paths.join(folder, "config.json"))
        let files = [("config.json", config)] + (try ConversionFolder.companions(in: folder))
        let outputs = plan.outputs
        try Quantizer.checkRoom(outputs.reduce(0) { $0 + $1.byteCount }, in: target)
        let output = try ConversionFolder(
            target, sources: store.sources.paths, overwrite: overwrite)
        defer { output.removePartialFiles() }
        for file in files { try output.write(file.1, name: file.0) }
        let name = ConversionFolder.weightsName
        let writer = SafetensorsWriter(try output.newFile(name), tensors: outputs)
        let losses = try write(plan, writer, ComputePool(threads: threads), progress)
        let size = try writer.finish()
        try output.complete(files.map(\.0))

        var matrices: [Int: Int] = [:]
        for layer in plan.layers { matrices[layer.parameters?.bits ?? 0, default: 0] += 1 }
        let floats = plan.copies.count { $0.shape.count > 1 && $0.type.isWeightFloat }
        if floats > 0 { matrices[0, default: 0] += floats }
        let type = if case .string(let type)? = source["model_type"] { type } else { "" }
        return ConversionSummary(
            architecture: type, modelName: nil,
            layerCount: try Architectures.read(folder: target).shape.layerCount,
            sourceTensors: store.names.count, writtenTensors: outputs.count, matricesByBits: matrices,
            byteCount: size, files: (files.map(\.0) + [name]).sorted(),
            hasTokenizer: files.contains { $0.0 == "tokenizer.json" }, losses: losses, notes: [])
    }

    private func write(
        _ plan: PublishedPlan, _ writer: SafetensorsWriter, _ pool: ComputePool,
        _ progress: (ConversionProgress) -> Void
    ) throws -> [ConversionLoss] {
        let count = plan.layers.count
        var number = 0
        var losses: [ConversionLoss] = []
        for (index, layer) in plan.layers.enumerated() {
            progress(ConversionProgress(layer: layer.path, layersDone: index, layerCount: count))
            let writing = LayerWriting(
                layer: layer, matrix: try format.matrix(layer.tensors), writer: writer, first: number)
            let rows = max(1, Self.blockSize / (4 * layer.columns))
            try pool.runThrowing((layer.rows + rows - 1) / rows) { block in
                try writing.run(block * rows..<min(layer.rows, (block + 1) * rows))
            }
            if case .eightBits = layer.target { losses.append(writing.loss(format.name)) }
            number += layer.outputs.count
        }
        for tensor in plan.copies {
            try tensor.withBytes { try writer.put($0, tensor: number, at: 0) }
            number += 1
        }
        progress(ConversionProgress(layer: "", layersDone: count, layerCount: count))
        return ConversionLoss.joined(losses)
    }
}

/// Makes what a layer becomes, some rows at a time, on any thread.
private final class LayerWriting {
    let layer: PublishedPlan.Layer
    let matrix: PublishedMatrix
    let writer: SafetensorsWriter
    /// The first of the layer's tensors in the file.
    let first: Int
    /// Sums of squares, by the block's first row, so that they are added up in one order.
    private let squares = Mutex<[Int: (difference: Double, value: Double)]>([:])

    init(layer: PublishedPlan.Layer, matrix: PublishedMatrix, writer: SafetensorsWriter, first: Int) {
        (self.layer, self.matrix, self.writer, self.first) = (layer, matrix, writer, first)
    }

    func run(_ rows: Range<Int>) throws {
        let columns = layer.columns
        let outputs = layer.outputs.map { [UInt8](repeating: 0, count: $0.byteCount / layer.rows) }
        var all = outputs.map { _ in [UInt8]() }
        let values = UnsafeMutablePointer<Float>.allocate(capacity: columns)
        let codes = UnsafeMutablePointer<UInt8>.allocate(capacity: columns)
        defer {
            values.deallocate()
            codes.deallocate()
        }
        var sums = (difference: 0.0, value: 0.0)
        for row in rows {
            var parts = outputs
            switch layer.target {
            case .affine(let group, let type):
                matrix.codes(row, codes)
                parts[0].removeAll(keepingCapacity: true)
                for column in stride(from: 0, to: columns, by: 32) {
                    RowEncoder.append(codes + column, bits: layer.bits, to: &parts[0])
                }
                let (scales, biases) = matrix.affine(row, group: group)
                phi_from_float(scales, type.kernelType, scales.count, &parts[1])
                phi_from_float(biases, type.kernelType, biases.count, &parts[2])
            case .eightBits(let group):
                matrix.values(row, into: values)
                var (words, scales, biases) = (parts[0], parts[1], parts[2])
                phi_quantize(
                    values, columns, UInt32(group), 8, PublishedMatrix.eightBitScales.kernelType, &words,
                    &scales, &biases)
                parts = [words, scales, biases]
                add(values, parts, group: group, to: &sums)
            case .floats:
                matrix.values(row, into: values)
                phi_from_float(values, matrix.floats.kernelType, columns, &parts[0])
            }
            for index in parts.indices { all[index] += parts[index] }
        }
        for (index, bytes) in all.enumerated() {
            try bytes.withUnsafeBytes {
                try writer.put($0, tensor: first + index, at: rows.lowerBound * outputs[index].count)
            }
        }
        squares.withLock { $0[rows.lowerBound] = sums }
    }

    private func add(
        _ values: UnsafePointer<Float>, _ parts: [[UInt8]], group: Int,
        to sums: inout (difference: Double, value: Double)
    ) {
        func float(_ part: Int, _ index: Int) -> Float {
            parts[part].withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 4 * index, as: Float.self) }
        }
        for begin in stride(from: 0, to: layer.columns, by: group) {
            let (scale, bias) = (float(1, begin / group), float(2, begin / group))
            for column in begin..<begin + group {
                let change = Double(scale * Float(parts[0][column]) + bias - values[column])
                sums.difference += change * change
                sums.value += Double(values[column]) * Double(values[column])
            }
        }
    }

    func loss(_ name: String) -> ConversionLoss {
        let sums = squares.withLock { $0.sorted { $0.key < $1.key } }.reduce((0.0, 0.0)) {
            ($0.0 + $1.value.difference, $0.1 + $1.value.value)
        }
        return ConversionLoss(type: name, bits: 8, matrices: 1, squares: sums)
    }
}
