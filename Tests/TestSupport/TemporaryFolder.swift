import Foundation

/// A folder that is gone when the test is.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @discardableResult package func write(_ text: String, to name: String) throws -> String {
        try write(text.utf8, to: name)
    }

    /// - Returns: its path.
    @discardableResult package func write(
        _ bytes: some Sequence<UInt8>, to name: String
    ) throws -> String {
        let file = path + "/" + name
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }
}
