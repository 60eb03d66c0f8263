import Errors
import OperatingSystem

extension InputStore {
    /// Brings the file at an address of https or http.
    func page(
        _ address: String, _ stop: Stop, _ report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) throws -> DistantInput.File {
        let shown = Addresses.shown(address)
        let name = Paths.name(of: String(shown.prefix(until: "?")))
        if let fault = Paths.fault(inForeign: name) {
            throw HubError(.badName, shown, "its last part becomes a file's name, and \(fault).")
        }
        var (url, access) = (String(address.prefix(until: "#")), Access.nobody)
        let scheme = url.prefix(until: "/") + "//"
        let host = url.dropFirst(scheme.count).prefix(until: "/", "?")
        if let at = host.lastIndex(at: "@") {
            access = .basic(HubClient.unescaped(host[..<at]))
            url = String(scheme + url[url.utf8.index(after: at)...])
        }
        let client = try HubClient(settings: settings, patience: patience, stop: stop, access: access) {
            report(.pauses(reason: $0, seconds: $1))
        }
        let fetched = try PageDownload(
            client: client, url: url, shown: shown, folder: folder(of: address), name: name,
            tally: DownloadTally(total: nil, report: report), waits: { report(.waits(file: shown)) }
        ).run()
        return DistantInput.File(path: fetched.path, source: shown, version: fetched.tag)
    }

    /// Folder of all versions of the file at an address.
    func folder(of address: String) throws(HubError) -> String {
        if let folder = place(address, "") { return folder }
        throw HubError(
            .files, Addresses.shown(address),
            "there is no folder to keep it in while it is read: PHIBATCH_CACHE is off.")
    }

    /// Name of the version with a tag in that folder.
    static func version(_ tag: String, _ name: String) -> String {
        "\(FileHash.hexadecimal(SHA.sha256(of: tag.utf8).prefix(8)))/\(name)"
    }
}

/// Fetches the file at one address, whole and of one version:
///
///     FOLDER/VERSION/NAME    what is here
///     FOLDER/part            what is half here
///     FOLDER/part.tag        the tag (ETag, or Last-Modified) of what that is a part of
///     FOLDER/lock            held while something is fetched
///
/// An attempt that was broken off goes on by a range, if the file still has the same tag; else it begins anew.
private struct PageDownload {
    let client: HubClient
    /// Address that is asked.
    let url: String
    /// Address in messages, without what would let others in.
    let shown: String
    let folder: String
    let name: String
    let tally: DownloadTally
    /// Told when another process is fetching it.
    let waits: () -> Void

    private var partPath: String { Paths.join(folder, "part") }
    private var tagPath: String { partPath + ".tag" }

    /// - Returns: the file, and the version's tag.
    /// - Throws: `HubError` or `CancellationError`. What came is kept.
    func run() throws -> (path: String, tag: String) {
        do {
            // A file that takes a key is for this user only, and addresses may have one.
            let own = try OpenFolder(folder, mode: 0o700)
            let lock = try FileLock.taken("lock", in: own, client.stop, waits: waits)
            defer { withExtendedLifetime(lock) {} }
            let part = try PartFile("part", in: own)
            return try client.tries(shown, part) { try attempt(part, own) }
        } catch let error as Files.Failure {
            throw HubError(.files, folder, "can't be written: \(error.reason).")
        }
    }

    private func place(_ tag: String) -> String { Paths.join(folder, InputStore.version(tag, name)) }

    /// - Throws: `Retry` or `WebFailure` if another one may bring more, also if the object has changed.
    private func attempt(_ part: PartFile, _ own: OpenFolder) throws -> (path: String, tag: String) {
        let noted = Files.text(of: tagPath, limit: 1 << 12)
        var request = HubRequest(client: client)
        let condition = noted.flatMap(Self.condition)
        if let condition, part.size > 0 {
            request.fields = ["Range: bytes=\(part.size)-", condition]
        } else {
            try part.empty()
        }
        let start = part.size
        var (hasBegun, known) = (false, String?.none)
        func begin(_ response: HubResponse) throws {
            hasBegun = true
            if start > 0, response.status != 200, try !goesOn(response.head, noted, from: start) {
                try part.empty()
                throw Retry.later(
                    after: nil, "\(shown) has changed since its fetch began, and is fetched anew")
            }
            guard response.status == 200 else { return }
            try part.empty()
            let tag = Self.tag(response.head)
            if let tag, Files.kind(of: place(tag)) == .regular {
                known = place(tag)
                return
            }
            let size = response.head.number("Content-Length")
            if let size { try ModelDownload.checkRoom(size, at: folder, "PHIBATCH_CACHE") }
            tally.begins(shown, size)
            try own.write(tag ?? "", to: "part.tag")
        }
        let response = try request.send(to: url) { response, bytes in
            guard response.status < 300 else { return false }
            if !hasBegun { try begin(response) }
            guard known == nil else { return false }
            try part.append(bytes)
            tally.count(shown, here: part.size, fetched: bytes.count)
            return true
        }
        if start == 0 || ![206, 412, 416].contains(response.status) { try check(response) }
        if !hasBegun { try begin(response) }
        guard response.status == 200 || start > 0 else {
            throw HubError(
                .network, shown, "\(response.host) answers \(response.head.statusText), and no file.")
        }
        let tag = Self.tag(response.head) ?? noted
        if let known, let tag { return (known, tag) }
        if response.status == 206, let total = Self.total(response.head), total != part.size {
            throw Retry.later(after: nil, "\(response.host) sends less than the whole of \(shown)")
        }
        // Without a tag, what is in it says which version it is; nothing can go on then.
        let version = try tag ?? "sha256 \(FileHash(of: OpenFile.at(partPath)).sha256)"
        try part.move(to: InputStore.version(version, name))
        return (place(version), version)
    }

    /// - Throws: `Retry` or `HubError`, if it is no success.
    private func check(_ response: HubResponse) throws {
        guard response.status >= 300 else { return }
        try client.retryIfPassing(response)
        let said: Message = "\(response.host) answers \(response.head.statusText)."
        switch response.status {
        case 401, 403: throw HubError(.forbidden, shown, said)
        case 404, 410:
            throw HubError(.missing, shown, "there is no such file, or it may not be seen: \(said)")
        default: throw HubError(.network, shown, said)
        }
    }

    /// Whether an answer to a question for the rest is the rest of what is here.
    private func goesOn(_ head: ResponseHead, _ noted: String?, from start: Int) throws -> Bool {
        let range = head.first("Content-Range") ?? ""
        return head.status == 206 && range.hasPrefix("bytes \(start)-") && Self.tag(head) == noted
    }

    private static func total(_ head: ResponseHead) -> Int? {
        (head.first("Content-Range") ?? "").split(at: "/").last.flatMap(ResponseHead.number)
    }

    private static func tag(_ head: ResponseHead) -> String? {
        head.first("ETag") ?? head.first("Last-Modified")
    }

    /// The field by which only what has this tag is sent; nil of a tag that several contents may share.
    private static func condition(_ tag: String) -> String? {
        if tag.isEmpty || tag.hasPrefix("W/") { return nil }
        return tag.hasPrefix("\"") ? "If-Match: \(tag)" : "If-Unmodified-Since: \(tag)"
    }
}
