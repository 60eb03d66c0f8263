import Foundation

/// A folder for the files of one input at a time, in memory where the system has such a place.
final class ScratchFolder: Sendable {
    let path: String

    init() throws {
        let memory = "/dev/shm"
        let base =
            FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
        path = base + "/phibatch-fuzz-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes the file, or removes it where there is nothing to write. Its old bytes may still be mapped,
    /// so it is a new file each time.
    @discardableResult
    func put(_ bytes: [UInt8], _ name: String, keepingEmpty: Bool = false) throws -> String {
        let file = path + "/" + name
        unlink(file)
        if bytes.isEmpty, !keepingEmpty { return file }
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        defer { close(descriptor) }
        guard bytes.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == bytes.count else {
            throw CocoaError(.fileWriteUnknown)
        }
        return file
    }

    func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }
}
