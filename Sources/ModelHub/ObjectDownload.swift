import Faults
import OperatingSystem

/// Fetches what lies at one address, whole and of one version:
///
///     FOLDER/VERSION/NAME    what is here
///     FOLDER/part            what is half here
///     FOLDER/part.tag        the tag (ETag, or Last-Modified) of what that is a part of
///     FOLDER/lock            held while something is fetched
///
/// An attempt that was broken off goes on by a range, if the object still has the same tag; else it begins anew.
struct ObjectDownload {
    let client: HubClient
    /// What is asked for.
    let url: String
    /// What it is called in messages, without what would let others in.
    let shown: String
    let folder: String
    let name: String
    let tally: DownloadTally
    /// What a refusal means; the bytes are the answer's.
    let check: (HubResponse, [UInt8]) throws -> Void
    /// Told when another process is fetching it.
    let waits: () -> Void

    private var partPath: String { Paths.join(folder, "part") }
    private var tagPath: String { partPath + ".tag" }

    /// - Parameter tag: which version it has now, where that is known.
    /// - Returns: the file, and the version's tag.
    /// - Throws: `HubError` or `CancellationError`. What came is kept.
    func run(tag: String? = nil) throws -> (path: String, tag: String) {
        if let tag, isHere(tag) { return (place(tag), tag) }
        do {
            // What takes a key to fetch is for this user only, and addresses may have one.
            let own = try OpenFolder(folder, mode: 0o700)
            let lock = try FileLock.taken("lock", in: own, client.stop, waits: waits)
            defer { withExtendedLifetime(lock) {} }
            let part = try PartFile("part", in: own)
            var (failures, furthest) = (0, 0)
            while true {
                do { return try attempt(part, own) } catch let error where Patience.isFinal(error) {
                    throw error
                } catch {
                    failures = part.size - furthest >= FileDownload.progress ? 1 : failures + 1
                    furthest = max(furthest, part.size)
                    try client.wait(after: failures, error, shown)
                }
            }
        } catch let error as Files.Failure {
            throw HubError(.files, folder, "can't be written: \(error.reason).")
        }
    }

    func isHere(_ tag: String) -> Bool { Files.kind(of: place(tag)) == .regular }

    /// Where the version with a tag is.
    private func place(_ tag: String) -> String { Paths.join(folder, relative(tag)) }

    private func relative(_ tag: String) -> String {
        "\(FileHash.hexadecimal(SHA.sha256(of: tag.utf8).prefix(8)))/\(name)"
    }

    /// - Throws: `Retry` or `WebFailure` if another one may bring more, also if the object has changed.
    private func attempt(_ part: PartFile, _ own: OpenFolder) throws -> (path: String, tag: String) {
        let noted = (try? Files.contents(of: tagPath, limit: 1 << 12)).map {
            String(decoding: $0, as: UTF8.self)
        }
        var request = HubRequest(client: client)
        let condition = noted.flatMap(Self.condition)
        if let condition, part.size > 0 {
            request.fields = ["Range: bytes=\(part.size)-", condition]
        } else {
            try part.empty()
        }
        let start = part.size
        var refused: [UInt8] = []
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
            if let tag, isHere(tag) {
                known = place(tag)
                return
            }
            let size = response.head.number("Content-Length")
            if let size { try ModelDownload.checkRoom(size, at: folder, "PHIBATCH_CACHE") }
            tally.begins(shown, size)
            try own.write(tag ?? "", to: "part.tag")
        }
        let response = try request.send(to: url) { response, bytes in
            guard response.status < 300 else {
                refused += bytes.prefix(1 << 16)
                return refused.count < 1 << 16
            }
            if !hasBegun { try begin(response) }
            guard known == nil else { return false }
            try part.append(bytes)
            tally.count(shown, here: part.size, fetched: bytes.count)
            return true
        }
        if start == 0 || ![206, 412, 416].contains(response.status) { try check(response, refused) }
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
        try part.move(to: relative(version))
        return (place(version), version)
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
