import Foundation

/// Bytes of a file or of stdin, as they come: a read returns what is there rather than wait for more.
final class ByteSource {
    let name: String
    private var descriptor: Int32
    private let isOurs: Bool

    /// - Parameter path: a file, or `-` for stdin.
    /// - Throws: `JobError` of kind `missingInput`.
    init(path: String) throws {
        if path == "-" {
            (name, descriptor, isOurs) = ("stdin", 0, false)
            return
        }
        (name, isOurs) = (path, true)
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw JobError(.missingInput, at: path, "can't be read: \(String(cString: strerror(errno))).")
        }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            close(descriptor)
            descriptor = -1
            throw JobError(.missingInput, at: path, "is a folder, not a file.")
        }
    }

    deinit {
        if isOurs, descriptor >= 0 { close(descriptor) }
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
            if count >= 0 { return count }
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
