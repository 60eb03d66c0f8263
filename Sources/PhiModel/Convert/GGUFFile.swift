import JSON
import OperatingSystem

/// A tensor of a GGUF file: `rows` rows of `columns` values, each row a whole number of blocks.
struct GGUFTensor {
    let name: String
    let type: GGMLType
    /// 1 for a vector.
    let rows: Int
    let columns: Int
    let isVector: Bool
    /// Place of its bytes in `file`.
    let range: Range<Int>
    let file: MappedFile

    var rowSize: Int { columns / type.blockLength * type.blockSize }

    /// The bytes of one row; the caller keeps `file` alive.
    func row(_ index: Int) -> UnsafeRawBufferPointer {
        let begin = range.lowerBound + index * rowSize
        return UnsafeRawBufferPointer(rebasing: file.bytes[begin..<(begin + rowSize)])
    }
}

/// A GGUF file of version 2 or 3, mapped, with metadata and tensor list read and checked.
struct GGUFFile {
    let file: MappedFile
    let metadata: ConfigReader
    let tensors: [String: GGUFTensor]

    /// - Throws: `UserError`: `missing`, `malformed` (naming key or tensor), or `unsupported` for a tensor
    ///   type, byte order or version that is not read.
    init(path: String) throws {
        let file = try MappedFile(path: path)
        defer { withExtendedLifetime(file) {} }
        var cursor = GGUFCursor(file: file)
        guard file.count >= 4, file.bytes[0..<4].elementsEqual("GGUF".utf8) else {
            throw UserError(.malformed, at: path, "does not begin with \"GGUF\": this is not a GGUF file.")
        }
        try cursor.skip(4, "the first four bytes")
        let version = try cursor.integer(UInt32.self, "the version")
        guard version == 2 || version == 3 else {
            let reason = version.byteSwapped <= 3 ? "is big-endian" : "has GGUF version \(version)"
            throw UserError(
                .unsupported, at: path, "\(reason); little-endian versions 2 and 3 are supported.")
        }
        // A tensor's entry takes at least a name's length, a count of dimensions, a type and an offset;
        // a metadata entry a key's length, a type and a byte.
        let tensorCount = try cursor.count("tensors", minimumSize: 24)
        let entryCount = try cursor.count("metadata entries", minimumSize: 13)
        let metadata = try Self.metadata(&cursor, count: entryCount)
        let entries = try Self.entries(&cursor, count: tensorCount, metadata)
        tensors = try Self.locate(entries, cursor: cursor, alignment: try Self.alignment(metadata))
        self.file = file
        self.metadata = metadata
    }

    private static func metadata(_ cursor: inout GGUFCursor, count: Int) throws -> ConfigReader {
        var members: JSONObject = [:]
        for _ in 0..<count {
            let key = try cursor.string("a metadata key")
            guard members[key] == nil else {
                throw cursor.malformed("the metadata key \"\(key)\" occurs twice")
            }
            members[key] = try cursor.value()
        }
        return ConfigReader(path: cursor.file.path, members: members)
    }

    private static func alignment(_ metadata: ConfigReader) throws -> Int {
        let key = "general.alignment"
        let alignment = try metadata.optionalInteger(key, 1...1 << 20) ?? 32
        guard alignment & (alignment - 1) == 0 else {
            throw metadata.fault(.malformed, key, "is \(alignment), which is no power of two")
        }
        return alignment
    }

    private typealias Entry = (name: String, sizes: [Int], type: GGMLType, offset: UInt64)

    private static func entries(
        _ cursor: inout GGUFCursor, count: Int, _ metadata: ConfigReader
    ) throws -> [Entry] {
        var entries: [Entry] = []
        for _ in 0..<count {
            let name = try cursor.string("a tensor name")
            let dimensions = try cursor.integer(UInt32.self, "a number of dimensions")
            guard (1...4).contains(dimensions) else {
                throw cursor.malformed("tensor \"\(name)\" has \(dimensions) dimensions; 1 to 4 are possible")
            }
            var sizes: [Int] = []
            for _ in 0..<dimensions {
                let size = try cursor.integer(UInt64.self, "a shape")
                guard let size = Int(exactly: size), size >= 1 else {
                    throw cursor.malformed("tensor \"\(name)\" has a dimension of \(size)")
                }
                sizes.append(size)
            }
            let number = try cursor.integer(UInt32.self, "a tensor type")
            guard let type = GGMLType(rawValue: number) else {
                let link = try metadata.optionalString("general.base_model.0.repo_url") ?? ""
                let parts = link.split(at: "/").suffix(2)
                let instead =
                    parts.count == 2
                    ? PublishedFormats.instead(parts.joined(separator: "/")) : PublishedFormats.instead()
                throw UserError(
                    .unsupported, at: cursor.file.path,
                    "tensor \"\(name)\" has type \(GGMLType.name(of: number)), which is not read. \(GGMLType.supportedNames) "
                        + "are; or \(instead).")
            }
            let offset = try cursor.integer(UInt64.self, "a tensor offset")
            entries.append((name, sizes, type, offset))
        }
        return entries
    }

    private static func locate(
        _ entries: [Entry], cursor: GGUFCursor, alignment: Int
    ) throws -> [String: GGUFTensor] {
        let file = cursor.file
        // Cannot overflow: the position is within a file, the alignment small.
        let dataStart = (cursor.position + alignment - 1) / alignment * alignment
        let available = max(0, file.count - dataStart)
        var tensors: [String: GGUFTensor] = [:]
        for entry in entries {
            func fault(_ message: String) -> UserError {
                UserError(.malformed, at: file.path, "tensor \"\(entry.name)\" \(message).")
            }
            let columns = entry.sizes[0]
            guard columns % entry.type.blockLength == 0 else {
                throw fault("has rows of \(columns) values, not a multiple of \(entry.type.blockLength)")
            }
            var rows = 1
            var size = columns / entry.type.blockLength
            var overflow = false
            for factor in entry.sizes.dropFirst() + [entry.type.blockSize] {
                let (product, overflows) = size.multipliedReportingOverflow(by: factor)
                (size, overflow) = (product, overflow || overflows)
            }
            guard !overflow else { throw fault("has a shape whose product overflows") }
            for factor in entry.sizes.dropFirst() { rows *= factor }  // At most `size`, checked above.
            guard let offset = Int(exactly: entry.offset), offset % alignment == 0 else {
                throw fault("has the offset \(entry.offset), which is not a multiple of \(alignment)")
            }
            guard offset <= available, size <= available - offset else {
                throw fault(
                    "takes \(size) bytes from byte \(offset) of the data on, but the file holds only "
                        + "\(available): the file is cut short")
            }
            let begin = dataStart + offset
            let tensor = GGUFTensor(
                name: entry.name, type: entry.type, rows: rows, columns: columns,
                isVector: entry.sizes.count == 1, range: begin..<(begin + size), file: file)
            guard tensors.updateValue(tensor, forKey: entry.name) == nil else { throw fault("occurs twice") }
        }
        let ordered = tensors.values.sorted {
            ($0.range.lowerBound, $0.name) < ($1.range.lowerBound, $1.name)
        }
        for (first, second) in zip(ordered, ordered.dropFirst())
        where first.range.upperBound > second.range.lowerBound {
            throw UserError(
                .malformed, at: file.path, "tensors \"\(first.name)\" and \"\(second.name)\" overlap.")
        }
        return tensors
    }
}
