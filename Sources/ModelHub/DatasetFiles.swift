import Errors
import JSON
import OperatingSystem

/// The files of a dataset for an address, by the hub's conventions: `configs` at the head of its README, or else splits
/// by the names of files and folders.
struct DatasetFiles {
    private static let ends = ["jsonl", "ndjson", "json", "csv", "tsv", "txt", "parquet"]
    private static let packings = ["gz", "zst"]
    /// Names of splits, and their words in names of folders and files, between marks or digits.
    private static var splits: [(name: String, words: Regex<Substring>)] {
        [
            ("train", /(?:^|[-._ 0-9])(?:train|training)(?:[-._ 0-9]|$)/),
            ("validation", /(?:^|[-._ 0-9])(?:validation|valid|dev|val)(?:[-._ 0-9]|$)/),
            ("test", /(?:^|[-._ 0-9])(?:test|testing|eval|evaluation)(?:[-._ 0-9]|$)/),
        ]
    }
    /// Files that describe a dataset, and contain no lines.
    private static let descriptions = [
        "config.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json",
    ]

    let id: RepositoryID
    /// Paths of files that may contain lines, in order.
    let paths: [String]
    private let listed: [String]
    /// The README's head.
    let card: JSONValue?

    init(_ id: RepositoryID, _ listed: [String], card: JSONValue?) {
        self.id = id
        self.listed = listed.sorted()
        self.card = card
        paths = self.listed.filter { path in
            !path.split(at: "/").contains { $0.hasPrefix(".") || $0.hasPrefix("__") }
                && !Self.descriptions.contains(Paths.name(of: path)) && Self.format(of: path) != nil
        }
    }

    /// Returns the ending of a file's format; nil if it is none of ours.
    private static func format(of path: String) -> String? {
        var parts = Paths.name(of: path).lowercased().split(at: ".").map(String.init)
        guard parts.count > 1 else { return nil }
        if let last = parts.last, packings.contains(last) { parts.removeLast() }
        return parts.last.flatMap { ends.contains($0) ? $0 : nil }
    }

    /// - Throws: `UserError` if the selector is unknown or ambiguous.
    func chosen(by selector: String) throws(UserError) -> [String] {
        // A file named in full may have any format.
        if listed.contains(selector) { return [selector] }
        if Files.isPattern(selector) {
            let found = listed.filter { Self.pattern(selector, fits: $0) }
            if !found.isEmpty { return found }
            throw UserError(.missing, at: "\(id)", "no file in it matches \(selector).\(listing)")
        }
        let splits = configured ?? Self.named(paths)
        let hasDefault = splits.isEmpty || splits.contains(where: \.isDefault)
        func isNamed(_ split: Split) -> Bool {
            ["\(split.config)/\(split.name)", split.config].contains(selector)
        }
        let meant = splits.filter {
            isNamed($0)
                || ($0.isDefault || !hasDefault) && (selector.isEmpty || $0.name == selector)
        }
        if meant.count == 1, hasDefault || isNamed(meant[0]) {
            if !meant[0].paths.isEmpty { return try ofOneFormat(meant[0].paths) }
            throw UserError(
                .missing, at: "\(id)", "there are no files of its split \(meant[0].name).\(listing)")
        }
        if !meant.isEmpty {
            throw UserError(
                .badName, at: "\(id)",
                "it has several splits; add one of them to the address: \(Self.list(meant.map(address))).")
        }
        let folder = selector.isEmpty ? paths : paths.filter { Paths.isWithin(selector, $0) }
        if !folder.isEmpty { return try ofOneFormat(folder) }
        let known = Self.list(splits.map { $0.isDefault ? $0.name : "\($0.config)/\($0.name)" })
        let hint: Message = splits.isEmpty ? "" : " Its splits: \(known)."
        throw UserError(
            .missing, at: "\(id)", "there is no split, file or folder \(selector) in it.\(hint)\(listing)")
    }

    /// Returns the text after `hf://datasets/` for a split.
    private func address(_ split: Split) -> String {
        "\(id)/" + (split.config == Split.usual ? split.name : "\(split.config)/\(split.name)")
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(20).joined(separator: ", ") + (names.count > 20 ? " and others" : "")
    }

    private var listing: Message {
        listed.isEmpty ? " It has no files." : " Its files: \(Self.list(listed))."
    }

    private func ofOneFormat(_ paths: [String]) throws(UserError) -> [String] {
        let formats = Set(paths.compactMap(Self.format(of:))).sorted()
        guard formats.count > 1 else { return paths }
        throw UserError(
            .badName, at: "\(id)",
            "its files are of several formats (\(formats.joined(separator: ", "))); name those that are meant, as in \(Paths.folder(of: paths[0]))/*.\(formats[0])."
        )
    }

    // MARK: Splits

    private struct Split {
        static let usual = "default"
        var config = usual
        var name: String
        var isDefault = true
        var paths: [String]
    }

    /// As in the README; nil if it names no files.
    private var configured: [Split]? {
        guard case .array(let configs)? = card?["configs"] else { return nil }
        let isMarked = configs.contains { $0["default"] == .bool(true) }
        let splits = configs.flatMap { config -> [Split] in
            guard case .string(let name)? = config["config_name"] else { return [] }
            let isUsual = isMarked ? config["default"] == .bool(true) : name == Split.usual
            let isDefault = configs.count == 1 || isUsual
            var folder = ""
            if case .string(let given)? = config["data_dir"], !["", "."].contains(given) {
                folder = Paths.namesFolder(given) ? given : given + "/"
            }
            guard let data = config["data_files"] else {
                return Self.named(paths, in: folder).map {
                    Split(config: name, name: $0.name, isDefault: isDefault, paths: $0.paths)
                }
            }
            return Self.patterns(data).map { split, patterns in
                let found = listed.filter { path in
                    patterns.contains { folder + $0 == path }
                        || patterns.contains { Self.pattern(folder + $0, fits: path) } && paths.contains(path)
                }
                return Split(config: name, name: split, isDefault: isDefault, paths: found)
            }
        }
        return splits.isEmpty ? nil : splits
    }

    /// Reads `data_files`: a pattern, a list of them, or a list of `{split, path}`.
    private static func patterns(_ value: JSONValue) -> [(split: String, patterns: [String])] {
        func texts(_ value: JSONValue?) -> [String] {
            switch value {
            case .string(let text)?: [text]
            case .array(let values)?: values.flatMap(texts)
            default: []
            }
        }
        if case .array(let entries) = value, case .object? = entries.first {
            return entries.compactMap { entry in
                guard case .string(let split)? = entry["split"] else { return nil }
                return (split, texts(entry["path"]))
            }
        }
        let all = texts(value)
        return all.isEmpty ? [] : [("train", all)]
    }

    /// Finds splits by names, like the Python library `datasets`: `data/SPLIT-00000-of-00001`, or else words in the
    /// names of folders, or else of files; without any, all files are `train`.
    /// - Parameter folder: ends in a slash; other files are left out.
    private static func named(_ paths: [String], in folder: String = "") -> [Split] {
        let paths = paths.filter { $0.utf8.starts(with: folder.utf8) && $0.utf8.count > folder.utf8.count }
        func below(_ path: String) -> String { String(path.utf8.dropFirst(folder.utf8.count)) ?? path }
        let numbered = Dictionary(grouping: paths) { numberedSplit(below($0)) ?? "" }
        let names = numbered.keys.filter { !$0.isEmpty }
        if !names.isEmpty {
            let usual = Self.splits.map(\.name)
            return (usual.filter(names.contains) + names.filter { !usual.contains($0) }.sorted()).map {
                Split(name: $0, paths: numbered[$0] ?? [])
            }
        }
        for isFolder in [true, false] {
            let splits = Self.splits.compactMap { name, words -> Split? in
                let found = paths.filter { path in
                    let parts = below(path).split(at: "/")
                    return (isFolder ? parts.dropLast() : parts.suffix(1)).contains { $0.contains(words) }
                }
                return found.isEmpty ? nil : Split(name: name, paths: found)
            }
            if !splits.isEmpty { return splits }
        }
        return paths.isEmpty ? [] : [Split(name: "train", paths: paths)]
    }

    /// The split of `data/SPLIT-00000-of-00001*.*`; nil for another path.
    private static func numberedSplit(_ path: String) -> String? {
        path.wholeMatch(of: /data\/([^\/]+)-[0-9]{5}-of-[0-9]{5}[^\/]*\.[^\/]*/).map { String($0.1) }
    }

    /// Whether a path matches a pattern, in which `**` matches any folders and files.
    static func pattern(_ pattern: String, fits path: String) -> Bool {
        let (parts, names) = (pattern.split(at: "/"), path.split(at: "/"))
        var (at, place) = (0, 0)
        // The part after the last `**`, and the name up to which that matches.
        var last: (after: Int, place: Int)?
        while place < names.count {
            if at < parts.count, parts[at] == "**" {
                at += 1
                last = (at, place)
            } else if at < parts.count, Files.pattern(String(parts[at]), fitsName: String(names[place])) {
                (at, place) = (at + 1, place + 1)
            } else if let stars = last {
                last = (stars.after, stars.place + 1)
                (at, place) = (stars.after, stars.place + 1)
            } else {
                return false
            }
        }
        return at == parts.count
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

/// `hf://datasets/org/name[@revision][/files]`, as in huggingface_hub's file system. A slash in a revision is written
/// as `%2F`.
struct DatasetAddress {
    let id: RepositoryID
    /// A split, a path, a folder or a pattern; empty if the address names none.
    let selector: String

    /// - Throws: `UserError` of kind `badName`.
    init(_ text: String) throws(UserError) {
        let parts = text.split(at: "/", keepingEmpty: true).dropFirst(2).map(String.init)
        guard parts.count >= 3, parts[0] == "datasets" else {
            throw UserError(.badName, at: text, "is no dataset; write hf://datasets/org/name/split.")
        }
        let name = "\(parts[1])/\(parts[2].replacing(each: "%2F", with: "/"))"
        guard let id = RepositoryID(name, kind: .dataset) else {
            throw UserError(
                .badName, at: text, "\(name) is no name of a dataset; write org/name or org/name@revision."
            )
        }
        self.id = id
        selector = parts.dropFirst(3).joined(separator: "/")
    }
}
