import Errors
import JSON
import OperatingSystem

/// One or several objects in a store (`s3://bucket/key`, `gs://bucket/key`, `az://container/name`), read and written by
/// a program on PATH: `aws` for S3, `gcloud` for Google's, or `rclone` for these and Azure's.
package struct ObjectStore: Sendable {
    /// State of an object. Each content has its own tag: an ETag, a generation, or the time of the last change.
    struct Entry: Sendable, Equatable {
        var key: String
        var size: Int
        var tag: String
    }

    private let program: InstalledProgram
    private let scheme: String
    private let bucket: String
    /// An object's key, a pattern, or a prefix up to a slash.
    let key: String

    /// - Throws: `UserError` if the address names no object, or the program is missing.
    init(_ address: String) throws(UserError) {
        scheme = Addresses.scheme(of: address) ?? ""
        let rest = address.dropFirst(scheme.utf8.count + 3)
        bucket = String(rest.prefix(until: "/"))
        key = String(rest.dropFirst(bucket.count + 1))
        let isName = bucket.utf8.allSatisfy { $0.isLetterOrDigit || ".-_".utf8.contains($0) }
        guard !bucket.isEmpty, isName, !key.isEmpty else {
            throw UserError(.badName, at: address, "names no object; write \(scheme)://bucket/key.")
        }
        let own = ["s3": "aws", "gs": "gcloud"][scheme]
        guard let program = own.flatMap(InstalledProgram.init) ?? InstalledProgram("rclone") else {
            let names: Message = own.map { "neither \($0) nor rclone is" } ?? "rclone is not"
            throw UserError(
                .network, at: address,
                "\(names) on PATH, by which it is reached. Install it (the AWS CLI, the Google Cloud CLI, or the package rclone)."
            )
        }
        self.program = program
    }

    /// Whether it may match several.
    var isPattern: Bool { Files.isPattern(key) || key.hasSuffix("/") }

    func address(_ key: String) -> String { "\(scheme)://\(bucket)/\(key)" }

    /// State of one object; nil, or an error of most programs, if there is none.
    func entry(_ key: String) throws -> Entry? { try entries(key).first }

    /// Lists the matching objects, in the order of their keys.
    func list() throws -> [Entry] {
        let isFolder = key.hasSuffix("/")
        let start = String(Substring(key.utf8.prefix { !"*?[".utf8.contains($0) }))
        let meant = try entries(start, isStart: true).filter {
            !$0.key.hasSuffix("/")
                && (isFolder ? $0.key.utf8.starts(with: key.utf8) : DatasetFiles.pattern(key, fits: $0.key))
        }
        return meant.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    func fetch(_ entry: Entry, to path: String) throws {
        try run(copying + [place(entry.key) + (program.name == "gcloud" ? "#\(entry.tag)" : ""), path])
    }

    /// - Parameter path: an absolute one.
    func send(_ path: String) throws { try run(copying + [path, place(key)]) }

    // MARK: Arguments and output

    private var copying: [String] {
        switch program.name {
        case "aws": ["s3", "cp", "--only-show-errors"]
        case "gcloud": ["storage", "cp", "--no-user-output-enabled"]
        default: ["copyto"] + options
        }
    }

    private static func variable(_ name: String) -> String? { ProgramCall.path(inVariable: name) }

    /// Options of `rclone` in place of unset variables: it asks where `aws` would.
    private var options: [String] {
        let endpoint = Self.variable("AWS_ENDPOINT_URL_S3") ?? Self.variable("AWS_ENDPOINT_URL")
        let all = [
            ("ENV_AUTH", "true"), ("NO_CHECK_BUCKET", "true"),
            ("PROVIDER", endpoint == nil ? "AWS" : "Other"),
            ("ENDPOINT", endpoint ?? ""),
        ]
        return all.filter { Self.variable("RCLONE_S3_\($0.0)") == nil }.map {
            "--s3-\($0.0.lowercased().replacing(each: "_", with: "-"))=\($0.1)"
        }
    }

    /// Address of a key in the program's form.
    private func place(_ key: String) -> String {
        guard program.name == "rclone" else { return address(key) }
        let isSet = ["ACCOUNT", "SAS_URL"].contains { Self.variable("RCLONE_AZUREBLOB_\($0)") != nil }
        let kinds = ["s3": "s3", "gs": "gcs", "az": isSet ? "azureblob" : "azureblob,env_auth"]
        return ":\(kinds[scheme] ?? ""):\(bucket)/\(key)"
    }

    /// Asks for the state of one object, or of all whose keys begin with a text.
    private func entries(_ key: String, isStart: Bool = false) throws -> [Entry] {
        var folder = ""
        let arguments: [String]
        switch program.name {
        case "aws":
            // As JSON: other parameters that begin with `file://` are read from a file.
            let json: JSONValue = ["Bucket": .string(bucket), isStart ? "Prefix" : "Key": .string(key)]
            arguments = [
                "s3api", isStart ? "list-objects-v2" : "head-object", "--output=json",
                isStart
                    ? "--query=Contents[].{name:Key,Size:Size,tag:ETag}"
                    : "--query={Size:ContentLength,tag:ETag}",
                "--cli-input-json", JSONWriter.text(of: json),
            ]
        case "gcloud":
            arguments = [
                "storage", "objects", "list", "--format=json(name,size,generation)",
                address(isStart ? key + "**" : key),
            ]
        default:
            // rclone only lists folders.
            folder = isStart ? String(key.utf8.lastIndex(of: 0x2F).map { key[...$0] } ?? "") : ""
            arguments =
                ["lsjson", isStart ? "-R" : "--stat", "--use-server-modtime", "--no-mimetype"]
                + ["--low-level-retries=3"] + options + [place(isStart ? folder : key)]
        }
        let printed = try run(arguments)
        guard let value = try? JSONValue(parsing: printed, limits: .file) else {
            throw UserError(.damaged, at: address(self.key), "\(program.name) prints no JSON.")
        }
        var values = [value]
        if case .array(let several) = value { values = several }
        return try values.compactMap { value in
            func first(_ names: String...) -> JSONValue? { names.lazy.compactMap { value[$0] }.first }
            if value == .null || value["IsDir"] == .bool(true) { return nil }
            guard case .int(let size)? = first("Size", "size"),
                case .string(var tag)? = first("tag", "generation", "ModTime")
            else {
                throw UserError(
                    .damaged, at: address(self.key),
                    "\(program.name) lists an object without size or version.")
            }
            // A listing has fractions of seconds, a single object's state has none.
            if program.name == "rclone" { tag = String(tag.prefix(19)) }
            var entry = Entry(key: key, size: size, tag: tag)
            if isStart, case .string(let name)? = first("name", "Path") { entry.key = folder + name }
            if let fault = Paths.fault(inForeign: entry.key), !entry.key.hasSuffix("/") {
                throw UserError(
                    .damaged, at: address(self.key), "the name of an object \(fault): \(entry.key)")
            }
            return entry
        }
    }

    @discardableResult private func run(_ arguments: [String]) throws(UserError) -> [UInt8] {
        try program.run(arguments, on: address(key))
    }
}

extension InputStore {
    /// Fetches the missing objects of an address.
    func objects(_ address: String) throws -> [DistantInput.File] {
        let store = try ObjectStore(address)
        let entries = store.isPattern ? try store.list() : try [store.entry(store.key)].compactMap { $0 }
        guard !entries.isEmpty else { throw UserError(.missing, at: address, "there is no such object.") }
        let found = try entries.map { entry in
            (
                entry, folder: try folder(of: store.address(entry.key)),
                name: Self.version(entry.tag, Paths.name(of: entry.key))
            )
        }
        let missing = found.filter { Files.kind(of: Paths.join($0.folder, $0.name)) == nil }
        let bytes = missing.reduce(0) { $0 + $1.0.size }
        if let folder { try HubClient.checkRoom(bytes, at: folder, "PHIBATCH_CACHE") }
        client.report(.begins(address, files: entries.count, missing: bytes))
        let tally = DownloadTally(total: bytes, report: client.report)
        _ = try client.each(missing) { entry, _, name in
            let source = store.address(entry.key)
            try locked(source, source) { own in
                // Programs leave drafts beside the file when killed.
                let drafts = Paths.join(own.path, "fetch")
                if Files.kind(of: drafts) == .folder { try Files.removeFolder(drafts) }
                try Files.makeFolder(drafts, mode: 0o700)
                try store.fetch(entry, to: Paths.join(drafts, "whole"))
                let whole = try PartFile("fetch/whole", in: own)
                guard whole.size == entry.size, try store.entry(entry.key) == entry else {
                    throw UserError(
                        .damaged, at: source, "changed while it was fetched; run the same command again.")
                }
                try whole.move(to: name)
                tally.count(source, here: entry.size, fetched: entry.size)
            }
        }
        return found.map { entry, folder, name in
            .init(path: Paths.join(folder, name), source: store.address(entry.key), version: entry.tag)
        }
    }
}

extension ObjectStore {
    /// Writes a file to a store in one step. FILE.upload notes the contents sent, and where.
    /// - Returns: false if the store had the same already.
    /// - Throws: `UserError`.
    package static func put(
        _ path: String, at address: String, isOffline: Bool, begins: (Int) -> Void
    ) throws -> Bool {
        let store = try ObjectStore(address)
        guard !store.isPattern else {
            throw UserError(.badName, at: address, "is a pattern, and no object's name.")
        }
        guard !isOffline else {
            throw UserError(.offline, at: address, "nothing may be sent (--offline, HF_HUB_OFFLINE).")
        }
        return try UserError.writing(path) {
            let file = try FileHash(of: .regular(path))
            let notes = path + ".upload"
            let noted = Files.text(of: notes, limit: 1 << 14)
            func note(_ entry: Entry) -> String { "\(address)\n\(file.sha256)\n\(entry.tag)" }
            if noted != nil, noted == (try? store.entry(store.key)).map(note) { return false }
            begins(file.state.size)
            try store.send(Files.destination(of: path))
            // gcloud puts it into an existing folder of that name.
            guard let there = try store.entry(store.key), there.size == file.state.size else {
                throw UserError(
                    .damaged, at: address, "is not what was sent there; does a folder have its name?")
            }
            try UserError.writing(notes) {
                try OpenFolder(Paths.folder(of: path)).write(note(there), to: Paths.name(of: notes))
            }
            return true
        }
    }
}
