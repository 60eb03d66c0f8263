import OperatingSystem

/// `hf://datasets/org/name[@revision][/files]`, as huggingface_hub's own file system has it. A slash in a revision is
/// written as `%2F`, but for those that begin with `refs/`.
struct DatasetAddress {
    let id: RepositoryID
    /// A split, a path, a folder or a pattern; empty if the address names none.
    let selector: String

    /// - Throws: `HubError` of kind `badName`.
    init(_ text: String) throws(HubError) {
        var parts = text.split(at: "/", keepingEmpty: true).dropFirst(2).map(String.init)
        guard parts.count >= 3, parts[0] == "datasets" else {
            throw HubError(.badName, text, "is no dataset; right is hf://datasets/org/name/split.")
        }
        if parts[2].hasSuffix("@refs"), parts.count >= 5 {
            parts[2] += "/" + parts[3...4].joined(separator: "/")
            parts.removeSubrange(3...4)
        }
        let name = "\(parts[1])/\(parts[2].replacing(each: "%2F", with: "/"))"
        guard let id = RepositoryID(name, kind: .dataset) else {
            throw HubError(
                .badName, text, "\(name) is no name of a dataset; right is org/name or org/name@revision.")
        }
        self.id = id
        selector = parts.dropFirst(3).joined(separator: "/")
    }
}
