import Foundation

/// Where the tests' files are.
enum TestFolder {
    private static let target = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The package's own folder.
    static let package = target.deletingLastPathComponent().deletingLastPathComponent()

    /// A file of `Fixtures`.
    static func fixture(_ name: String) -> URL { target.appending(path: "Fixtures/\(name)") }
}
