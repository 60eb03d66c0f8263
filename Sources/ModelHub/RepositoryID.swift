/// A repository of a model or a dataset on the hub, at a revision: `org/name[@revision]`.
package struct RepositoryID: Hashable, Sendable, CustomStringConvertible {
    package enum RepositoryType: String, Sendable {
        case model, dataset

        /// Begins the names of folders in the cache, and paths of the hub's API.
        var plural: String { rawValue + "s" }
    }

    package let kind: RepositoryType
    /// `org/name`.
    package let name: String
    /// A branch, a tag or a commit.
    package let revision: String

    package static let defaultRevision = "main"

    /// - Returns: nil if it isn't of the form: two parts of letters, digits, `-`, `_` and `.`.
    package init?(_ text: String, kind: RepositoryType = .model) {
        let parts = text.split(at: "@", max: 1, keepingEmpty: true)
        guard let name = parts.first, Self.isName(name) else { return nil }
        self.kind = kind
        self.name = String(name)
        revision = parts.count == 2 ? String(parts[1]) : Self.defaultRevision
        guard Self.isRevision(revision) else { return nil }
    }

    package var description: String {
        revision == Self.defaultRevision ? name : "\(name)@\(revision)"
    }

    /// Its folder in Hugging Face's cache.
    package var folderName: String {
        "\(kind.plural)--" + name.split(at: "/").joined(separator: "--")
    }

    /// The repository of a model folder, at its main revision.
    package init?(folderName: String) {
        let start = "models--"
        guard folderName.hasPrefix(start) else { return nil }
        // Names may not contain "--".
        let rest = folderName.dropFirst(start.count)
        guard let gap = rest.firstRange(of: "--") else { return nil }
        self.init("\(rest[..<gap.lowerBound])/\(rest[gap.upperBound...])")
    }

    private static func isName(_ text: Substring) -> Bool {
        let parts = text.split(at: "/", keepingEmpty: true)
        return parts.count == 2 && text.utf8.count <= 96 && parts.allSatisfy(isPart)
    }

    private static func isPart(_ part: Substring) -> Bool {
        guard let first = part.utf8.first, let last = part.utf8.last else { return false }
        return part.utf8.allSatisfy(isNameByte) && !part.contains("--") && !part.contains("..")
            && ![first, last].contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
            && !part.hasSuffix(".git")
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-_.".utf8.contains(byte)
    }

    /// It becomes a file's path within `refs`.
    private static func isRevision(_ text: String) -> Bool {
        text.utf8.count <= 255 && text.utf8.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: "/") }
            && text.split(at: "/", keepingEmpty: true)
                .allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
    }

    /// The same repository at a commit.
    func at(commit: String) -> RepositoryID { RepositoryID("\(name)@\(commit)", kind: kind) ?? self }

    /// Its path on the hub: a model's is its name.
    var page: String { kind == .model ? name : "\(kind.plural)/\(name)" }

    /// Whether the revision is a commit's full hash, which never changes its meaning.
    var isCommit: Bool { Self.isCommit(revision) }

    static func isCommit(_ text: String) -> Bool {
        text.utf8.count == 40 && text.utf8.allSatisfy(\.isHexadecimal)
    }
}

extension UInt8 {
    var isLetterOrDigit: Bool {
        let (letter, digit) = (self | 0x20, self)
        return UInt8(ascii: "a")...UInt8(ascii: "z") ~= letter
            || UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit
    }

    var isHexadecimal: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self
    }
}
