/// Operations on paths by bytes, as in the system; in Swift's strings, a slash with a combining accent would be no
/// slash. Never accesses the file system.
package enum Paths {
    private static let slash = UInt8(ascii: "/")

    /// Returns the folder of a path: "." for a name alone, "/" for "/" itself.
    package static func folder(of path: String) -> String {
        let bytes = path.utf8
        let end = endOfName(path)
        guard let last = bytes[..<end].lastIndex(of: slash) else {
            return bytes.first == slash ? "/" : "."
        }
        // Repeated slashes don't belong to the folder.
        guard let folderEnd = bytes[..<last].lastIndex(where: { $0 != slash }) else { return "/" }
        return String(path[...folderEnd])
    }

    /// Returns the last part of a path, without trailing slashes; empty for "/".
    package static func name(of path: String) -> String {
        let end = endOfName(path)
        let start = path.utf8[..<end].lastIndex(of: slash).map { path.utf8.index(after: $0) }
        return String(path[(start ?? path.startIndex)..<end])
    }

    /// Resolves `name` relative to `folder`.
    package static func join(_ folder: String, _ name: String) -> String {
        if isAbsolute(name) || folder.isEmpty || areEqual(folder, ".") { return name }
        return namesFolder(folder) ? folder + name : folder + "/" + name
    }

    package static func isAbsolute(_ path: String) -> Bool { path.utf8.first == slash }

    /// Whether a path ends in a slash, and so can't be a file's.
    package static func namesFolder(_ path: String) -> Bool { path.utf8.last == slash }

    /// Whether `path` is in or below `folder`, if neither has links or dots.
    package static func isWithin(_ folder: String, _ path: String) -> Bool {
        let start = namesFolder(folder) ? folder : folder + "/"
        return path.utf8.count > start.utf8.count && path.utf8.starts(with: start.utf8)
    }

    /// Returns the fault of an untrusted relative path (from a hub's listing, an object's key, an index of weight
    /// files), as the end of a sentence that begins with the path; nil if it stays below a folder.
    package static func fault(inForeign path: String) -> String? {
        let bytes = path.pathBytes
        if bytes.isEmpty { return "is empty" }
        if bytes.first == slash { return "is an absolute path" }
        if path.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "has a control character"
        }
        for component in bytes.split(separator: slash, omittingEmptySubsequences: false) {
            if component.isEmpty { return "has an empty component" }
            if component.elementsEqual(".".utf8) { return "has the component \".\"" }
            if component.elementsEqual("..".utf8) { return "has the component \"..\"" }
            if component.count > 255 { return "has a component of more than 255 bytes" }
        }
        return nil
    }

    /// Compares bytes. (Strings are equal up to normalization.)
    package static func areEqual(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

    /// Returns the beginning of the trailing slashes.
    private static func endOfName(_ path: String) -> String.Index {
        path.utf8.lastIndex { $0 != slash }.map { path.utf8.index(after: $0) } ?? path.startIndex
    }
}
