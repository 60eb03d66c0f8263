import Faults
import JSON
import OperatingSystem

/// Which of a dataset's files an address means, by the hub's conventions: what `configs` at the head of its README says,
/// or else splits by the names of files and folders.
struct DatasetFiles {
    private static let ends = ["jsonl", "ndjson", "json", "csv", "tsv", "txt", "parquet"]
    private static let packings = ["gz", "zst"]
    private static let splits = [
        ("train", ["train", "training"]), ("validation", ["validation", "valid", "dev", "val"]),
        ("test", ["test", "testing", "eval", "evaluation"]),
    ]

    let id: RepositoryID
    /// Those that may hold lines, in order.
    let paths: [String]
    private let listed: [String]
    /// The README's head.
    let card: JSONValue?

    init(_ id: RepositoryID, _ listed: [String], card: JSONValue?) {
        self.id = id
        self.listed = listed.sorted()
        self.card = card
        paths = self.listed.filter { path in
            !path.split(at: "/").contains { $0.hasPrefix(".") || $0.hasPrefix("_") }
                && Self.format(of: path) != nil
        }
    }

    /// The ending that says what is in a file; nil if none of ours does.
    private static func format(of path: String) -> String? {
        var parts = Paths.name(of: path).lowercased().split(at: ".").map(String.init)
        guard parts.count > 1 else { return nil }
        if let last = parts.last, packings.contains(last) { parts.removeLast() }
        return parts.last.flatMap { ends.contains($0) ? $0 : nil }
    }

    /// - Throws: `HubError` if the selector means nothing, or more than one thing.
    func chosen(by selector: String) throws(HubError) -> [String] {
        // A file that is named is meant, whatever it holds.
        if listed.contains(selector) { return [selector] }
        if Files.isPattern(selector) {
            let found = listed.filter { Self.pattern(selector, fits: $0) }
            if found.isEmpty {
                throw HubError(.missing, "\(id)", "no file in it matches \(selector).\(listing)")
            }
            return found
        }
        let splits = configured ?? byName
        let meant = splits.filter { split in
            selector.isEmpty
                ? split.isDefault
                : [split.name, "\(split.config)/\(split.name)", split.config]
                    .contains(selector)
        }
        if meant.count == 1, !meant[0].paths.isEmpty { return try ofOneFormat(meant[0].paths) }
        if meant.count > 1 {
            let names = meant.map {
                selector.isEmpty || selector == $0.name ? $0.name : "\(selector)/\($0.name)"
            }
            throw HubError(
                .badName, "\(id)",
                "it has several splits; add one of them to the address: \(names.joined(separator: ", ")).")
        }
        let folder = selector.isEmpty ? paths : paths.filter { Paths.isWithin(selector, $0) }
        if !folder.isEmpty { return try ofOneFormat(folder) }
        let known = splits.map(\.name).joined(separator: ", ")
        let hint: Message = known.isEmpty ? "" : " Its splits: \(known)."
        throw HubError(
            .missing, "\(id)", "there is no split, file or folder \(selector) in it.\(hint)\(listing)")
    }

    private var listing: Message {
        listed.isEmpty
            ? " It has no files."
            : " Its files: \(listed.prefix(10).joined(separator: ", "))\(listed.count > 10 ? " and others" : "")."
    }

    private func ofOneFormat(_ paths: [String]) throws(HubError) -> [String] {
        let formats = Set(paths.compactMap(Self.format(of:))).sorted()
        guard formats.count > 1 else { return paths }
        throw HubError(
            .badName, "\(id)",
            "its files are of several formats (\(formats.joined(separator: ", "))); name those that are meant, as in \(Paths.folder(of: paths[0]))/*.\(formats[0])."
        )
    }

    // MARK: Splits

    private struct Split {
        var config = "default"
        var name: String
        var isDefault = true
        var paths: [String]
    }

    /// As the README says; nil if it says nothing of files.
    private var configured: [Split]? {
        guard case .array(let configs)? = card?["configs"] else { return nil }
        let isOnly = configs.count == 1
        let marked = configs.contains { $0["default"] == .bool(true) }
        var splits: [Split] = []
        for config in configs {
            guard case .string(let name)? = config["config_name"] else { continue }
            let isDefault = isOnly || (marked ? config["default"] == .bool(true) : name == "default")
            var folder = ""
            if case .string(let given)? = config["data_dir"] { folder = given + "/" }
            for (split, patterns) in Self.patterns(config["data_files"]) {
                let found = listed.filter { path in
                    patterns.contains { Self.pattern(folder + $0, fits: path) || folder + $0 == path }
                }
                splits.append(Split(config: name, name: split, isDefault: isDefault, paths: found))
            }
            if config["data_files"] == nil, !folder.isEmpty {
                let found = paths.filter { $0.hasPrefix(folder) }
                splits.append(Split(config: name, name: "train", isDefault: isDefault, paths: found))
            }
        }
        return splits.isEmpty ? nil : splits
    }

    /// `data_files` is a pattern, a list of them, or a list of `{split, path}`.
    private static func patterns(_ value: JSONValue?) -> [(split: String, patterns: [String])] {
        func texts(_ value: JSONValue?) -> [String] {
            switch value {
            case .string(let text)?: [text]
            case .array(let values)?: values.flatMap(texts)
            default: []
            }
        }
        if case .array(let entries)? = value, case .object? = entries.first {
            return entries.compactMap { entry in
                guard case .string(let split)? = entry["split"] else { return nil }
                return (split, texts(entry["path"]))
            }
        }
        let all = texts(value)
        return all.isEmpty ? [] : [("train", all)]
    }

    /// By words in the names of files, or else of folders; all are `train` where no name says anything.
    private var byName: [Split] {
        for part in [Paths.name(of:), Paths.folder(of:)] {
            let splits = Self.splits.compactMap { name, words -> Split? in
                let found = paths.filter { path in Self.words(part(path)).contains { words.contains($0) } }
                return found.isEmpty ? nil : Split(name: name, paths: found)
            }
            if !splits.isEmpty { return splits }
        }
        return paths.isEmpty ? [] : [Split(name: "train", paths: paths)]
    }

    private static func words(_ text: String) -> [String] {
        text.lowercased().split { !($0.isLetter && $0.isASCII) }.map(String.init)
    }

    /// `**` stands for any folders, or for all that is in them.
    static func pattern(_ pattern: String, fits path: String) -> Bool {
        fits(pattern.split(at: "/")[...], path.split(at: "/")[...])
    }

    private static func fits(_ pattern: ArraySlice<Substring>, _ path: ArraySlice<Substring>) -> Bool {
        guard let first = pattern.first else { return path.isEmpty }
        let rest = pattern.dropFirst()
        if first == "**" {
            if rest.isEmpty { return !path.isEmpty }
            return path.indices.contains { fits(rest, path[$0...]) }
        }
        guard let name = path.first, Files.pattern(String(first), fitsName: String(name)) else {
            return false
        }
        return fits(rest, path.dropFirst())
    }
}

extension JSONValue {
    /// The head of a README, between two lines of `---`, as text.
    static func cardHead(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self).replacing(each: "\r\n", with: "\n")
        guard text.hasPrefix("---\n"), let end = text.firstRange(of: "\n---") else { return nil }
        return String(text[..<end.lowerBound].dropFirst(4)) + "\n"
    }
}

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
