extension Files {
    /// Joins paths like `Paths.join`, but resolves `..` after a folder that is no link.
    package static func joined(_ folder: String, _ name: String) -> String {
        var (folder, rest) = (folder, name.utf8[...])
        while true {
            if rest.starts(with: "./".utf8), rest.count > 2 {
                rest = rest.dropFirst(2).drop { $0 == UInt8(ascii: "/") }
                continue
            }
            let last = Paths.name(of: folder)
            guard rest.starts(with: "../".utf8), rest.count > 3, !["", ".", ".."].contains(last),
                kind(of: folder) == .folder, !isLink(folder)
            else { break }
            folder = Paths.folder(of: folder)
            rest = rest.dropFirst(3).drop { $0 == UInt8(ascii: "/") }
        }
        return Paths.join(folder, String(Substring(rest)))
    }
}
