import Foundation
import Foundations

/// Bytes of a file or of stdin, as they come: a read returns what is there rather than wait for more.
final class ByteSource {
    let name: String
    private var descriptor: Int32
    private let isOurs: Bool
    /// Of a regular file: where it ended when it was opened, and where we are.
    private let expectedEnd: Int?
    private var position = 0

    /// - Parameter path: a file, or `-` for stdin.
    /// - Throws: `JobError` of kind `missingInput`.
    init(path: String) throws {
        if path == "-" {
            (name, descriptor, isOurs) = ("stdin", 0, false)
            position = max(0, Int(lseek(descriptor, 0, SEEK_CUR)))
            expectedEnd = Self.size(of: descriptor)
            return
        }
        (name, isOurs) = (path, true)
        descriptor = open(path.cPath, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw JobError(.missingInput, at: path, "can't be read: \(String(cString: strerror(errno))).")
        }
        expectedEnd = Self.size(of: descriptor)
        if Files.status(of: descriptor)?.kind == .folder {
            close(descriptor)
            descriptor = -1
            throw JobError(.missingInput, at: path, "is a folder, not a file.")
        }
    }

    deinit {
        if isOurs, descriptor >= 0 { close(descriptor) }
    }

    /// Nil for what is no regular file.
    private static func size(of descriptor: Int32) -> Int? {
        guard let status = Files.status(of: descriptor), status.kind == .regular else { return nil }
        return status.size
    }

    /// - Returns: how many bytes were read; 0 at the end.
    /// - Throws: `JobError` of kind `inputOutput`.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            #if canImport(Darwin)
                let count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
            #else
                let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            #endif
            if count >= 0 {
                position += count
                if count == 0, let expectedEnd, position < expectedEnd {
                    throw JobError(
                        .inputOutput, at: name,
                        "became shorter while it was read: it had \(expectedEnd) bytes and ends at \(position) "
                            + "now. Run the same command again once it is whole; what is done is kept.")
                }
                return count
            }
            if errno == EINTR { continue }
            throw JobError(.inputOutput, at: name, "can't be read: \(String(cString: strerror(errno))).")
        }
    }

    /// Everything, but no more than `limit` bytes.
    func readAll(limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < limit {
            let count = try chunk.withUnsafeMutableBytes { try read(into: $0) }
            if count == 0 { break }
            bytes += chunk[..<min(count, limit - bytes.count)]
        }
        return bytes
    }
}
