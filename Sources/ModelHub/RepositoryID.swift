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
        let parts = text.split(at: "@", max: 1, keepingEmpty: true).map(String.init)
        let revision = parts.count == 2 ? parts[1] : Self.defaultRevision
        guard let name = parts.first, name.utf8.count <= 96,
            name.wholeMatch(of: /\w(?:[\w.\-]*\w)?\/\w(?:[\w.\-]*\w)?/.asciiOnlyWordCharacters()) != nil,
            !name.contains(/--|\.\.|\.git(?:\/|$)/),
            // It becomes a file's path within `refs`.
            revision.utf8.count <= 255,
            revision.wholeMatch(of: /[\w.\-]+(?:\/[\w.\-]+)*/.asciiOnlyWordCharacters()) != nil,
            !revision.contains(/(?:^|\/)\.\.?(?:\/|$)/)
        else { return nil }
        (self.kind, self.name, self.revision) = (kind, name, revision)
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
        // Names may not contain "--".
        guard let parts = folderName.wholeMatch(of: /models--(.+?)--(.+)/) else { return nil }
        self.init("\(parts.1)/\(parts.2)")
    }

    /// The same repository at a commit.
    func at(commit: String) -> RepositoryID { RepositoryID("\(name)@\(commit)", kind: kind) ?? self }

    /// Its path on the hub: a model's is its name.
    var page: String { kind == .model ? name : "\(kind.plural)/\(name)" }

    /// Whether the revision is a commit's full hash, which never changes its meaning.
    var isCommit: Bool { Self.isCommit(revision) }

    static func isCommit(_ text: String) -> Bool { text.wholeMatch(of: /[0-9a-f]{40}/) != nil }
}

extension UInt8 {
    var isLetterOrDigit: Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= self
    }
}
