import Essentials
import Faults
import JSON
import OperatingSystem

/// Puts files into a dataset's repository on the hub, in one commit, as huggingface_hub does: the repository is made if
/// it is not there, large files go to the hub's store first (Git LFS), and the commit names them.
package struct HubPush: Sendable {
    /// A file as it is to be.
    package struct Item: Sendable {
        /// Within the repository.
        package var name: String
        /// What is sent.
        package var path: String
        /// Stays as it is there, if it is.
        package var isLeft = false

        package init(name: String, path: String, isLeft: Bool = false) {
            (self.name, self.path, self.isLeft) = (name, path, isLeft)
        }
    }

    /// What has become of it.
    package struct Outcome: Sendable {
        package var page: String
        package var commit: String
        /// The names of items that were left as they are there.
        package var left: [String]
    }

    fileprivate static let large = "application/vnd.git-lfs+json"

    let settings: HubSettings
    var patience = Patience()

    package init(settings: HubSettings) { self.settings = settings }

    /// - Parameter summary: what the commit says.
    /// - Throws: `HubError`, also if it is to be private and is public; `CancellationError`.
    package func push(
        _ items: [Item], to id: RepositoryID, isPrivate: Bool, summary: String,
        report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) async throws -> Outcome {
        let stop = Stop()
        return try await ModelDownload.onThread("\(id)") {
            try push(items, id, isPrivate: isPrivate, summary, stop, report)
        } onCancel: {
            stop.set()
        }
    }

    private func push(
        _ items: [Item], _ id: RepositoryID, isPrivate: Bool, _ summary: String, _ stop: Stop,
        _ report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) throws -> Outcome {
        guard !settings.isOffline, settings.token != nil else {
            throw HubError(
                .forbidden, "\(id)",
                settings.isOffline
                    ? "nothing may be asked of the hub (HF_HUB_OFFLINE)."
                    : "there is no token; set HF_TOKEN to one of your account that may write.")
        }
        ThisThread.blockBrokenPipes()
        let client = try HubClient(settings: settings, patience: patience, stop: stop) {
            report(.pauses(reason: $0, seconds: $1))
        }
        report(.asks(endpoint: settings.endpoint))
        let hub = HubWriter(client: client, id: id)
        try hub.make(isPrivate: isPrivate)
        let listed = Set(try client.listing(id).paths)
        let left = items.filter { $0.isLeft && listed.contains($0.name) }.map(\.name)
        let files = try items.filter { !left.contains($0.name) }.map { try PushedFile($0) }
        let modes = try hub.modes(of: files)
        let large = files.filter { modes[$0.item.name] == "lfs" && $0.size > 0 }
        report(.sends("\(id)", files: files.count, bytes: files.reduce(0) { $0 + $1.size }))
        let tally = DownloadTally(total: large.reduce(0) { $0 + $1.size }, report: report)
        try hub.send(large, tally)
        let commit = try hub.commit(files, large: Set(large.map(\.item.name)), summary)
        return Outcome(page: "\(settings.endpoint)/\(id.page)", commit: commit, left: left)
    }
}

/// A file that is pushed, and what names its content.
struct PushedFile {
    let item: HubPush.Item
    let file: OpenFile
    let size: Int
    let sha256: String

    init(_ item: HubPush.Item) throws {
        do throws(FileFault) {
            file = try OpenFile.at(item.path)
            let hash = try FileHash(of: file)
            (self.item, size, sha256) = (item, hash.state.size, hash.sha256)
        } catch {
            throw HubError(.files, item.path, "\(error.reason).")
        }
    }

    /// The whole content, or its beginning.
    func bytes(limit: Int = .max) throws -> [UInt8] { try RequestBody(file, 0..<min(size, limit)).bytes() }
}

/// What is asked of the hub for one repository to be written.
private struct HubWriter {
    let client: HubClient
    let id: RepositoryID

    private var api: String { "\(client.settings.endpoint)/api/\(id.kind.plural)/\(id.name)" }
    private var revision: String { HubClient.escaped(id.revision, slashes: true) }

    private func post(
        _ address: String, _ value: JSONValue, as type: String = "application/json",
        accepts: (Int) -> Bool = { _ in false }
    ) throws -> JSONValue {
        try post(address, Array(JSONWriter.text(of: value).utf8), as: type, accepts: accepts)
    }

    private func post(
        _ address: String, _ bytes: [UInt8], as type: String, accepts: (Int) -> Bool = { _ in false }
    ) throws -> JSONValue {
        var request = HubRequest(client: client, method: "POST")
        request.fields = [
            "Content-Type: \(type)", "Accept: \(type == "application/x-ndjson" ? "*/*" : type)",
        ]
        request.body = RequestBody(bytes)
        let answer = try client.answer(request, address, id, accepts: accepts)
        return (try? JSONValue(parsing: answer, limits: .file)) ?? .null
    }

    /// Makes the repository, and the revision, unless they are there.
    func make(isPrivate: Bool) throws {
        let parts = id.name.split(separator: "/").map(String.init)
        var wanted: JSONObject = [
            "name": .string(parts[1]), "organization": .string(parts[0]), "type": .string(id.kind.rawValue),
        ]
        _ = wanted.insert(.bool(isPrivate), for: "private")
        _ = try post("\(client.settings.endpoint)/api/repos/create", .object(wanted)) { $0 == 409 }
        if isPrivate {
            let request = HubRequest(client: client, seconds: client.patience.answering)
            let found = try client.answer(request, api, id)
            guard (try? JSONValue(parsing: found, limits: .file))?["private"] == .bool(true) else {
                throw HubError(
                    .forbidden, "\(id)", "it is there already, and public, which --private does not change.")
            }
        }
        guard id.revision != RepositoryID.defaultRevision else { return }
        _ = try post("\(api)/branch/\(revision)", [:]) { $0 == 409 }
    }

    /// Which files go to the store, and which into the commit itself: "lfs" and "regular", by name.
    func modes(of files: [PushedFile]) throws -> [String: String] {
        let listed = try files.map { file -> JSONValue in
            [
                "path": .string(file.item.name), "size": .int(file.size),
                "sample": .string(Data(try file.bytes(limit: 512)).base64EncodedString()),
            ]
        }
        let answer = try post("\(api)/preupload/\(revision)", ["files": .array(listed)])
        guard case .array(let entries)? = answer["files"] else { throw strange("preupload") }
        var modes: [String: String] = [:]
        for entry in entries {
            guard case .string(let path)? = entry["path"], case .string(let mode)? = entry["uploadMode"]
            else {
                throw strange("preupload")
            }
            modes[path] = mode
        }
        return modes
    }

    private func strange(_ call: String) -> HubError {
        HubError(.damaged, "\(id)", "the hub's answer to \(call) is not that of a hub (HF_ENDPOINT).")
    }

    // MARK: Large files

    func send(_ files: [PushedFile], _ tally: DownloadTally) throws {
        guard !files.isEmpty else { return }
        let objects = files.map { file -> JSONValue in ["oid": .string(file.sha256), "size": .int(file.size)]
        }
        let answer = try post(
            "\(client.settings.endpoint)/\(id.page).git/info/lfs/objects/batch",
            [
                "operation": "upload", "transfers": ["basic", "multipart"], "objects": .array(objects),
                "hash_algo": "sha256", "ref": ["name": .string(id.revision)],
            ], as: HubPush.large)
        guard case .array(let actions)? = answer["objects"] else { throw strange("lfs/objects/batch") }
        for file in files {
            guard let action = actions.first(where: { $0["oid"] == .string(file.sha256) }) else {
                throw strange("lfs/objects/batch")
            }
            if let error = action["error"] {
                throw HubError(
                    .forbidden, "\(id)",
                    "the hub does not take \(file.item.name): \(JSONWriter.text(of: error)).")
            }
            // Without any, the content is there already.
            if let upload = action["actions"]?["upload"] {
                try send(file, upload, tally)
                try verify(file, action["actions"]?["verify"])
            }
            tally.count(file.item.name, here: file.size, fetched: 0)
        }
    }

    private func send(_ file: PushedFile, _ upload: JSONValue, _ tally: DownloadTally) throws {
        guard case .string(let address)? = upload["href"] else { throw strange("lfs/objects/batch") }
        let header = upload["header"]
        let chunk =
            switch header?["chunk_size"] {
            case .int(let size)?: size
            case .string(let text)?: ResponseHead.number(text) ?? 0
            default: 0
            }
        guard chunk > 0 else {
            _ = try put(file, 0..<file.size, address)
            tally.count(file.item.name, here: file.size, fetched: file.size)
            return
        }
        var parts: [JSONValue] = []
        for (number, start) in stride(from: 0, to: file.size, by: chunk).enumerated() {
            guard case .string(let place)? = header?.part(number + 1) else {
                throw strange("lfs/objects/batch")
            }
            let end = min(file.size, start + chunk)
            guard let tag = try put(file, start..<end, place) else {
                throw HubError(
                    .damaged, "\(id)", "the hub's store gives a part of \(file.item.name) no ETag.")
            }
            parts.append(["partNumber": .int(number + 1), "etag": .string(tag)])
            tally.count(file.item.name, here: end, fetched: end - start)
        }
        _ = try post(address, ["oid": .string(file.sha256), "parts": .array(parts)], as: HubPush.large)
    }

    /// - Returns: the ETag of what was sent.
    private func put(_ file: PushedFile, _ range: Range<Int>, _ address: String) throws -> String? {
        var request = HubRequest(client: client, method: "PUT")
        request.body = RequestBody(file.file, range)
        return try client.tries("\(id)") {
            let response = try request.send(to: address)
            guard response.status >= 300 else { return response.head.first("ETag") }
            try client.retryIfPassing(response)
            throw ObjectStore.refusal(response, nil, "\(id)", nil)
        }
    }

    private func verify(_ file: PushedFile, _ action: JSONValue?) throws {
        guard case .string(let address)? = action?["href"] else { return }
        _ = try post(address, ["oid": .string(file.sha256), "size": .int(file.size)])
    }

    // MARK: The commit

    /// - Returns: the commit.
    func commit(_ files: [PushedFile], large: Set<String>, _ summary: String) throws -> String {
        var lines: [JSONValue] = [
            ["key": "header", "value": ["summary": .string(summary), "description": ""]]
        ]
        for file in files {
            let name = JSONValue.string(file.item.name)
            if large.contains(file.item.name) {
                lines.append([
                    "key": "lfsFile",
                    "value": [
                        "path": name, "algo": "sha256", "oid": .string(file.sha256), "size": .int(file.size),
                    ],
                ])
            } else {
                let content = Data(try file.bytes()).base64EncodedString()
                lines.append([
                    "key": "file",
                    "value": ["content": .string(content), "path": name, "encoding": "base64"],
                ])
            }
        }
        let text = lines.map { JSONWriter.text(of: $0) + "\n" }.joined()
        let answer = try post("\(api)/commit/\(revision)", Array(text.utf8), as: "application/x-ndjson")
        guard case .string(let commit)? = answer["commitOid"] else { throw strange("commit") }
        return commit
    }
}

extension JSONValue {
    /// Where a part goes: its number is the name, with zeros before it or without.
    fileprivate func part(_ number: Int) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { ResponseHead.number($0.name) == number }?.value
    }
}
