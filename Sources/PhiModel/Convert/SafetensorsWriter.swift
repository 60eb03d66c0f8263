import Foundations

/// Writes a safetensors file front to back: the header first, then the tensors in the order announced.
final class SafetensorsWriter {
    /// What the header says of a tensor.
    struct Announcement {
        let name: String
        let type: TensorType
        let shape: [Int]
        let byteCount: Int
    }

    private static let bufferSize = 4 << 20

    private let file: Platform.NewFile
    private let path: String
    private var buffer: [UInt8] = []
    private var written = 0
    private let expected: Int

    /// - Parameter path: for messages.
    init(_ file: Platform.NewFile, path: String, tensors: [Announcement]) {
        self.file = file
        self.path = path
        var header = Array(Self.header(tensors).utf8)
        // Padded, so that the tensors of a file that is mapped are aligned.
        while header.count % 8 != 0 { header.append(UInt8(ascii: " ")) }
        expected = 8 + header.count + tensors.reduce(0) { $0 + $1.byteCount }
        withUnsafeBytes(of: UInt64(header.count).littleEndian) { buffer.append(contentsOf: $0) }
        buffer.append(contentsOf: header)
    }

    private static func header(_ tensors: [Announcement]) -> String {
        var members: [(String, JSONValue)] = [
            ("__metadata__", .object(JSONObject([("format", .string("mlx"))])))
        ]
        var offset = 0
        for tensor in tensors {
            let end = offset + tensor.byteCount
            members.append(
                (
                    tensor.name,
                    .object(
                        JSONObject([
                            ("dtype", .string(tensor.type.description)),
                            ("shape", .array(tensor.shape.map { .int($0) })),
                            ("data_offsets", .array([.int(offset), .int(end)])),
                        ]))
                ))
            offset = end
        }
        return JSONValue.object(JSONObject(members)).indentedText
    }

    /// Lets `fill` append to the buffer, and writes it out when it is large.
    func append(_ fill: (inout [UInt8]) -> Void) throws {
        fill(&buffer)
        if buffer.count >= Self.bufferSize { try flush() }
    }

    private func flush() throws {
        do { try buffer.withUnsafeBytes { try file.write($0, at: written) } } catch let error
            as Platform.Failure
        {
            throw ModelError(.resources, path: path, "can't be written: \(error.reason).")
        }
        written += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes the rest and waits until all of it is on disk. Returns the file's size.
    func finish() throws -> Int {
        try flush()
        precondition(written == expected, "the tensors written are not those announced")
        do throws(Platform.Failure) { try file.sync() } catch {
            throw ModelError(.resources, path: path, "can't be written: \(error.reason).")
        }
        return written
    }
}
