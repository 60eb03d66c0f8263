import JSON
import OperatingSystem

/// A safetensors file, mapped, with its header read and checked against the file.
///
/// The format (https://huggingface.co/docs/safetensors): 8 bytes little-endian header length, a JSON
/// header, then the tensors' bytes, without holes or overlap up to the end of the file.
package final class SafetensorsFile: Sendable {
    /// The longest header that is read, as in the reference implementation.
    package static let maximumHeaderLength = 100_000_000

    package let file: MappedFile
    /// The tensors, in the order of their bytes in the file.
    package let tensors: [TensorView]

    /// - Throws: `UserError`: `missing`, or `malformed` naming the tensor at fault.
    package init(path: String) throws {
        let file = try MappedFile(path: path)
        defer { withExtendedLifetime(file) {} }
        let header = try Self.header(of: file)
        var tensors: [TensorView] = []
        tensors.reserveCapacity(header.members.count)
        for member in header.members where member.name != "__metadata__" {
            tensors.append(
                try Self.tensor(member.name, member.value, in: file, dataStart: 8 + header.length))
        }
        // The second key keeps the order (and so every message) the same from run to run.
        tensors.sort {
            ($0.range.lowerBound, $0.range.upperBound, $0.name) < (
                $1.range.lowerBound, $1.range.upperBound, $1.name
            )
        }
        try Self.checkLayout(of: tensors, in: file, dataStart: 8 + header.length)
        self.file = file
        self.tensors = tensors
    }

    private static func malformed(_ file: MappedFile, _ message: String) -> UserError {
        UserError(.malformed, at: file.path, message)
    }

    private static func header(of file: MappedFile) throws -> (length: Int, members: JSONObject) {
        guard file.count >= 8 else {
            throw malformed(
                file, "is \(file.count) bytes long; a safetensors file begins with an 8-byte header length.")
        }
        let stated = UInt64(littleEndian: file.bytes.loadUnaligned(as: UInt64.self))
        guard stated <= UInt64(maximumHeaderLength) else {
            throw malformed(
                file,
                "states a header of \(stated) bytes; at most \(maximumHeaderLength) are allowed. "
                    + "This is not a safetensors file, or it is damaged.")
        }
        let length = Int(stated)
        guard length <= file.count - 8 else {
            throw malformed(
                file,
                "states a header of \(length) bytes, but only \(file.count - 8) follow: the file is cut short."
            )
        }
        let bytes = UnsafeRawBufferPointer(rebasing: file.bytes[8..<(8 + length)])
        do throws(JSONFault) {
            guard case .object(let members) = try JSONValue(parsing: bytes, limits: .file) else {
                throw JSONFault("it is not a JSON object")
            }
            return (length, members)
        } catch {
            throw malformed(file, "the header is damaged at byte \(8 + error.offset): \(error.message).")
        }
    }

    private static func tensor(
        _ name: String, _ entry: JSONValue, in file: MappedFile, dataStart: Int
    ) throws -> TensorView {
        func fault(_ message: String) -> UserError { malformed(file, "tensor \"\(name)\" \(message)") }
        guard case .object(let members) = entry else { throw fault("has no description in the header.") }
        guard case .string(let typeName)? = members["dtype"] else { throw fault("has no dtype.") }
        guard case .array(let sizes)? = members["shape"] else { throw fault("has no shape.") }
        guard sizes.count <= 8 else { throw fault("has \(sizes.count) dimensions; at most 8 are read.") }
        guard case .array(let offsets)? = members["data_offsets"], offsets.count == 2,
            case .int(let begin) = offsets[0], case .int(let end) = offsets[1]
        else { throw fault("has no data_offsets of the form [begin, end] with whole numbers.") }

        var shape: [Int] = []
        var count = 1
        for size in sizes {
            guard case .int(let size) = size, size >= 0 else {
                throw fault("has a shape that is not made of whole numbers from 0 on.")
            }
            let (product, overflow) = count.multipliedReportingOverflow(by: size)
            guard !overflow else { throw fault("has a shape whose product overflows.") }
            count = product
            shape.append(size)
        }
        let available = file.count - dataStart
        guard begin >= 0, begin <= end else {
            throw fault("has data_offsets [\(begin), \(end)]; 0 <= begin <= end is needed.")
        }
        guard end <= available else {
            throw fault(
                "ends at byte \(end) of the data, but the file holds only \(available): the file is cut short."
            )
        }
        let type = TensorType(name: typeName)
        if let itemSize = type.itemSize {
            let (expected, overflow) = count.multipliedReportingOverflow(by: itemSize)
            guard !overflow, expected == end - begin else {
                throw fault(
                    "has shape \(shape) of \(type), which is \(overflow ? "too many" : "\(expected)") bytes, "
                        + "but its data_offsets span \(end - begin).")
            }
        }
        return TensorView(
            name: name, type: type, shape: shape, range: (dataStart + begin)..<(dataStart + end), file: file)
    }

    /// No two tensors share bytes, and none are left over: a file that says otherwise was damaged.
    private static func checkLayout(of tensors: [TensorView], in file: MappedFile, dataStart: Int) throws {
        var end = dataStart
        var previous = ""
        for tensor in tensors {
            let begin = tensor.range.lowerBound
            guard begin >= end else {
                throw malformed(file, "tensors \"\(previous)\" and \"\(tensor.name)\" overlap.")
            }
            guard begin == end else {
                throw malformed(
                    file, "\(begin - end) bytes in front of tensor \"\(tensor.name)\" belong to no tensor.")
            }
            end = tensor.range.upperBound
            previous = tensor.name
        }
        guard end == file.count else {
            throw malformed(file, "\(file.count - end) bytes at the end belong to no tensor.")
        }
    }
}
