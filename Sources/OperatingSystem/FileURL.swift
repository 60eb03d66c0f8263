import Essentials

extension String {
    /// The path of a file URL, byte for byte.
    package init(filePathOf url: URL) {
        self = url.withUnsafeFileSystemRepresentation { $0.map { String(cPath: $0) } } ?? url.path
    }
}
