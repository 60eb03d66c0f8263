import Essentials
import JSON
import OperatingSystem
import Synchronization

/// Writes a safetensors file: front to back, the header first, then the tensors in the order announced; or the
/// tensors' bytes in any order.
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
    /// Bytes that were put in their places.
    private let placed = Atomic(0)
    private let expected: Int
    /// Where each tensor begins in the file.
    private let starts: [Int]

    /// - Parameter path: for messages.
    init(_ file: Platform.NewFile, path: String, tensors: [Announcement]) {
        self.file = file
        self.path = path
        var header = Array(Self.header(tensors).utf8)
        // Padded, so that the tensors of a file that is mapped are aligned.
        while header.count % 8 != 0 { header.append(UInt8(ascii: " ")) }
        var end = 8 + header.count
        starts = tensors.map { tensor in
            defer { end += tensor.byteCount }
            return end
        }
        expected = end
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

    /// Writes a part of a tensor, whose number is its place among those announced. May be called from any thread,
    /// with each byte once.
    func put(_ bytes: UnsafeRawBufferPointer, tensor: Int, at offset: Int) throws {
        try write(bytes, at: starts[tensor] + offset)
        placed.add(bytes.count, ordering: .relaxed)
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
        do throws(Platform.Failure) { try file.write(bytes, at: offset) } catch {
            throw ModelError(.resources, path: path, "can't be written: \(error.reason).")
        }
    }

    private func flush() throws {
        try buffer.withUnsafeBytes { try write($0, at: written) }
        written += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes the rest and waits until all of it is on disk. Returns the file's size.
    func finish() throws -> Int {
        try flush()
        let written = written + placed.load(ordering: .relaxed)
        precondition(written == expected, "the tensors written are not those announced")
        do throws(Platform.Failure) { try file.sync() } catch {
            throw ModelError(.resources, path: path, "can't be written: \(error.reason).")
        }
        return written
    }
}
