import OperatingSystem

/// What a file of ONNX (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto) says of a model's weights: its tensors,
/// with those in files beside it, and the nodes that multiply by quantized ones.
struct ONNXFile {
    /// A product with a quantized matrix.
    struct Product {
        /// Names of tensors: activations, weights, scales, and what more there is; empty where one is left out.
        let inputs: [String]
        /// As "K", "N", "bits" and "block_size".
        let attributes: [String: Int]
    }

    let path: String
    private(set) var tensors: [String: TensorView] = [:]
    private(set) var products: [Product] = []
    /// All files that hold tensors.
    private(set) var files: [MappedFile]
    private let file: MappedFile

    /// - Throws: `ModelError` naming the file or tensor at fault.
    init(path: String) throws {
        self.path = path
        file = try MappedFile(path: path)
        files = [file]
        for field in try fields(0..<file.count) where field.number == 7 {
            for part in try fields(field.range) {
                if part.number == 1 { try addNode(part.range) }
                if part.number == 5 { try addTensor(part.range) }
            }
        }
        guard !tensors.isEmpty else { throw damaged("it holds no graph with tensors") }
    }

    private func damaged(_ what: String) -> ModelError {
        ModelError(.malformed, path: path, "is damaged, or no ONNX file: \(what).")
    }

    // MARK: Protocol buffers

    private struct Field {
        let number: Int
        /// The bytes of a field with a length.
        let range: Range<Int>
        /// The number of one without.
        let value: UInt64
    }

    /// The fields of the message in these bytes.
    private func fields(_ range: Range<Int>) throws -> [Field] {
        var (fields, place) = ([Field](), range.lowerBound)
        func varint() throws -> UInt64 { try self.varint(&place, range.upperBound) }
        while place < range.upperBound {
            let key = try varint()
            var (length, value) = (0, UInt64(0))
            switch key & 7 {
            case 0: value = try varint()
            case 1: length = 8
            case 2: length = Int(exactly: try varint()) ?? .max
            case 5: length = 4
            default: throw damaged("there is a field of kind \(key & 7) at byte \(place)")
            }
            guard length <= range.upperBound - place else { throw damaged("a field ends beyond its message") }
            fields.append(Field(number: Int(key >> 3), range: place..<place + length, value: value))
            place += length
        }
        return fields
    }

    private func varint(_ place: inout Int, _ end: Int) throws -> UInt64 {
        var (value, shift) = (UInt64(0), UInt64(0))
        while place < end, shift < 64 {
            let byte = file.bytes[place]
            place += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw damaged("a number ends beyond byte \(end)")
    }

    private func text(_ field: Field) -> String { String(decoding: file.bytes[field.range], as: UTF8.self) }

    // MARK: The graph

    private mutating func addNode(_ range: Range<Int>) throws {
        let all = try fields(range)
        guard let type = all.first(where: { $0.number == 4 }).map(text), type == "MatMulNBits" else { return }
        var attributes: [String: Int] = [:]
        for field in all where field.number == 5 {
            let parts = try fields(field.range)
            guard let name = parts.first(where: { $0.number == 1 }),
                let value = parts.first(where: { $0.number == 3 })
            else { continue }
            attributes[text(name)] = Int(truncatingIfNeeded: value.value)
        }
        products.append(Product(inputs: all.filter { $0.number == 1 }.map(text), attributes: attributes))
    }

    private mutating func addTensor(_ range: Range<Int>) throws {
        let all = try fields(range)
        let name = all.first { $0.number == 8 }.map(text) ?? ""
        let types: [UInt64: TensorType] = [1: .f32, 2: .u8, 10: .f16, 16: .bf16]
        // Others are shapes, positions and the like.
        guard let type = types[all.first { $0.number == 2 }?.value ?? 0], let size = type.itemSize else {
            return
        }
        var (shape, count) = ([Int](), size)
        for field in all where field.number == 1 {
            // One by one, or packed.
            let sizes = field.range.isEmpty ? [field.value] : try packed(field.range)
            for size in sizes {
                guard let size = Int(exactly: size), size <= 1 << 40 else {
                    throw damaged("\"\(name)\" has no shape")
                }
                let (product, overflow) = count.multipliedReportingOverflow(by: size)
                guard !overflow else { throw damaged("the shape of \"\(name)\" is too large") }
                (count, shape) = (product, shape + [size])
            }
        }
        var entries: [String: String] = [:]
        for field in all where field.number == 13 {
            let parts = try fields(field.range)
            entries[parts.first { $0.number == 1 }.map(text) ?? ""] = parts.first { $0.number == 2 }.map(text)
        }
        let place: (file: MappedFile, range: Range<Int>)
        if let location = entries["location"] {
            place = try outside(name, location, entries, count)
        } else if let field = all.first(where: { $0.number == 9 }) {
            place = (file, field.range)
        } else {
            // A few numbers, one by one.
            return
        }
        guard place.range.count == count else {
            throw damaged("\"\(name)\" has \(place.range.count) bytes; \(count) are expected")
        }
        tensors[name] = TensorView(name: name, type: type, shape: shape, range: place.range, file: place.file)
    }

    private func packed(_ range: Range<Int>) throws -> [UInt64] {
        var (numbers, place) = ([UInt64](), range.lowerBound)
        while place < range.upperBound { numbers.append(try varint(&place, range.upperBound)) }
        return numbers
    }

    /// Where a tensor in a file beside this one is.
    private mutating func outside(
        _ name: String, _ location: String, _ entries: [String: String], _ count: Int
    ) throws -> (MappedFile, Range<Int>) {
        // A model must not make us open files elsewhere.
        guard !location.isEmpty, location != ".", location != "..", !location.contains("/"),
            !location.contains("\\")
        else {
            throw ModelError(
                .unsupported, path: path,
                "tensor \"\(name)\" is in \"\(location)\"; only plain names of files in this folder are allowed."
            )
        }
        let path = Paths.join(Paths.folder(of: path), location)
        let file: MappedFile
        if let open = files.first(where: { $0.path == path }) {
            file = open
        } else {
            file = try MappedFile(path: path)
            files.append(file)
        }
        let offset = entries["offset"].map { Int($0) ?? -1 } ?? 0
        let length = entries["length"].map { Int($0) ?? -1 } ?? count
        guard offset >= 0, length >= 0, offset <= file.count, length <= file.count - offset else {
            throw ModelError(
                .malformed, path: path,
                "holds \(file.count) bytes, and tensor \"\(name)\" \(length) from byte \(offset) on: it is cut short."
            )
        }
        return (file, offset..<offset + length)
    }
}
