import Errors

/// A small file that is replaced as a whole, so that a reader sees one state of it, and that is never another's.
package struct ReplacedFile {
    package let path: String
    private let start: String

    /// - Parameters:
    ///   - start: what every such file begins with.
    ///   - what: how an error calls it.
    /// - Throws: `UserError` of kind `cannotWrite` if its folder is not there, or it is somebody else's file.
    package init(_ path: String, start: String, what: String) throws {
        (self.path, self.start) = (path, start)
        if let kind = Files.kind(of: path) {
            guard kind == .regular else {
                throw UserError(.cannotWrite, at: path, "is no file that a \(what) can be. Name another one.")
            }
            let file = try explaining(.cannotWrite, try File.regular(path))
            guard try file.info().size == 0 || file.begins(with: Array(start.utf8))
            else {
                throw UserError(
                    .cannotWrite, at: path, "is no \(what) of phibatch. Move it away, or name another one.")
            }
        }
        guard Files.kind(of: Paths.folder(of: path)) == .folder else {
            throw UserError(
                .cannotWrite, at: path, "the \(what) can't be written: there is no such folder.")
        }
    }

    /// - Parameter isDurable: on return the disk has it. Nobody else replaces it, so that a killed one's draft can go.
    /// - Throws: `UserError` if the file can't be replaced; the one before stays then.
    package func replace(with bytes: [UInt8], isDurable: Bool = false) throws {
        try replace(isDurable: isDurable) { put in try put(bytes) }
    }

    /// - Parameter write: writes the contents in pieces.
    package func replace(
        isDurable: Bool = false, _ write: (_ put: ([UInt8]) throws -> Void) throws -> Void
    ) throws {
        let draft = path + ".phibatch-" + (isDurable ? "new" : "\(ThisProcess.id)")
        if isDurable, let left = try File.openIfPresent(draft, .readOwn),
            case let found = try left.bytes(0..<start.utf8.count),
            start.utf8.starts(with: found) || found.allSatisfy({ $0 == 0 })
        {
            try left.remove()
        }
        let file = try explaining(.cannotWrite, try File.draft(draft))
        var offset = 0
        try write { bytes in
            try file.write(bytes, at: offset)
            offset += bytes.count
        }
        try file.move(to: path, isDurable: isDurable)
    }
}
