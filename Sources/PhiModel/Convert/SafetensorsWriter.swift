import FoundationShim
import JSON
import OperatingSystem
import Synchronization

/// Writes a safetensors file, the tensors' bytes in any order.
final class SafetensorsWriter {
    /// A tensor in the header.
    struct Announcement {
        let name: String
        let type: TensorType
        let shape: [Int]
        let byteCount: Int

        init(name: String, type: TensorType, shape: [Int], byteCount: Int? = nil) {
            (self.name, self.type, self.shape) = (name, type, shape)
            self.byteCount = byteCount ?? shape.reduce(type.itemSize ?? 0, *)
        }

        /// The tensors of a layer in MLX's format: floats, or codes in words, and a scale and a bias for each group of
        /// columns.
        static func layer(
            _ path: String, suffix: String = "weight", shape: [Int], _ parameters: QuantizationParameters?,
            floats: TensorType
        ) -> [Announcement] {
            guard let parameters else {
                return [.init(name: "\(path).\(suffix)", type: floats, shape: shape)]
            }
            let (outer, columns) = (shape.dropLast(), shape.last ?? 1)
            func part(_ name: String, _ type: TensorType, _ width: Int) -> Announcement {
                Announcement(name: "\(path).\(name)", type: type, shape: outer + [width])
            }
            return [part("weight", .u32, columns * parameters.bits / 32)]
                + ["scales", "biases"].map { part($0, floats, columns / parameters.groupSize) }
        }
    }

    private let file: File
    private var start: [UInt8] = []
    /// Bytes that were put in their places.
    private let placed = Atomic(0)
    private let expected: Int
    /// Place of each tensor in the file.
    private let starts: [Int]

    init(_ file: File, tensors: [Announcement]) {
        self.file = file
        var header = Array(Self.header(tensors).utf8)
        // Padded, so that the tensors of a file that is mapped are aligned.
        while header.count % 8 != 0 { header.append(UInt8(ascii: " ")) }
        var end = 8 + header.count
        starts = tensors.map { tensor in
            defer { end += tensor.byteCount }
            return end
        }
        expected = end
        withUnsafeBytes(of: UInt64(header.count).littleEndian) { start.append(contentsOf: $0) }
        start.append(contentsOf: header)
    }

    private static func header(_ tensors: [Announcement]) -> String {
        var (members, offset): (JSONObject, Int) = (["__metadata__": ["format": "mlx"]], 0)
        for tensor in tensors {
            let end = offset + tensor.byteCount
            members[tensor.name] = [
                "dtype": .string(tensor.type.description), "shape": .array(tensor.shape.map { .int($0) }),
                "data_offsets": [.int(offset), .int(end)],
            ]
            offset = end
        }
        return JSONValue.object(members).indentedText
    }

    /// Writes a part of a tensor, whose number is its place among those announced. May be called from any thread,
    /// with each byte once.
    func put(_ bytes: UnsafeRawBufferPointer, tensor: Int, at offset: Int) throws {
        try write(bytes, at: starts[tensor] + offset)
        placed.add(bytes.count, ordering: .relaxed)
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
        try explaining(.resources, try file.write(bytes, at: offset))
    }

    /// Writes the header and waits until all is on disk. Returns the file's size.
    func finish() throws -> Int {
        try start.withUnsafeBytes { try write($0, at: 0) }
        let written = start.count + placed.load(ordering: .relaxed)
        precondition(written == expected, "the tensors written are not those announced")
        try explaining(.resources, try file.sync())
        return written
    }
}
