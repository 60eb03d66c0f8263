import Faults
import JSON
import OperatingSystem

/// Puts a file into a store of objects, `s3://bucket/key` or `gs://bucket/key`: it is there whole, or as it was before.
/// A large one goes in parts; what was sent of them is noted in FILE.upload, from where the next call goes on.
package struct ObjectUpload: Sendable {
    /// A store takes 10,000 at most.
    private static let partSize = 16 << 20

    let settings: HubSettings
    var patience = Patience()

    package init(settings: HubSettings) { self.settings = settings }

    /// - Returns: false if it was there already, the same.
    /// - Throws: `HubError` or `CancellationError`.
    package func put(
        _ path: String, at address: String, report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) async throws -> Bool {
        let stop = Stop()
        return try await ModelDownload.onThread(address) {
            try put(path, address, stop, report)
        } onCancel: {
            stop.set()
        }
    }

    private func put(
        _ path: String, _ address: String, _ stop: Stop,
        _ report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) throws -> Bool {
        let object = try ObjectAddress(address)
        guard !object.isPattern else {
            throw HubError(.badName, address, "names no object; right is \(object.scheme)://bucket/key.")
        }
        guard !settings.isOffline else {
            throw HubError(.offline, address, "nothing may be sent (--offline, HF_HUB_OFFLINE).")
        }
        let cloud = try CloudSettings(scheme: object.scheme).withKey(settings, stop)
        ThisThread.blockBrokenPipes()
        let client = try HubClient(settings: settings, patience: patience, stop: stop, access: cloud.access) {
            report(.pauses(reason: $0, seconds: $1))
        }
        let store = ObjectStore(client: client, settings: cloud, bucket: object.bucket, scheme: object.scheme)
        let file = try PushedFile(HubPush.Item(name: address, path: path))
        let place = store.address(key: object.key)
        report(.asks(endpoint: address))
        guard try store.note(of: place, object) != file.sha256 else { return false }
        report(.sends(address, files: 1, bytes: file.size))
        let tally = DownloadTally(total: file.size, report: report)
        let note = ["\(store.noteName): \(file.sha256)"]
        if file.size <= Self.partSize {
            _ = try store.answer(
                "PUT", place, of: address, fields: note, body: RequestBody(file.file, 0..<file.size))
            tally.count(address, here: file.size, fetched: file.size)
            return true
        }
        let parts = Parts(store: store, file: file, place: place, address: address, path: path + ".upload")
        do {
            try parts.send(size: max(Self.partSize, file.size / 9000 + 1), note, tally)
        } catch let error as HubError where error.kind == .missing && parts.isBegun {
            // The store has forgotten what was begun, or has joined it, and the answer was lost.
            try? Files.remove(parts.path)
            if try store.note(of: place, object) == file.sha256 { return true }
            try parts.send(size: max(Self.partSize, file.size / 9000 + 1), note, tally)
        }
        return true
    }

    /// A file in parts.
    private struct Parts {
        let store: ObjectStore
        let file: PushedFile
        let place: String
        let address: String
        /// Where it is noted how far it is.
        let path: String

        var isBegun: Bool { Files.kind(of: path) != nil }

        /// What an earlier attempt to send this has noted.
        private var noted: (id: String, tags: [String])? {
            guard let bytes = try? Files.contents(of: path, limit: 1 << 20),
                let json = try? JSONValue(parsing: bytes, limits: .file),
                json["address"] == .string(address), json["sha256"] == .string(file.sha256),
                case .string(let id)? = json["id"], case .array(let tags)? = json["parts"]
            else { return nil }
            return (id, tags.compactMap { if case .string(let tag) = $0 { tag } else { nil } })
        }

        private func write(_ id: String, _ tags: [String]) throws {
            let json: JSONValue = [
                "address": .string(address), "sha256": .string(file.sha256), "id": .string(id),
                "parts": .array(tags.map { .string($0) }),
            ]
            do {
                try OpenFolder(Paths.folder(of: path)).write(
                    JSONWriter.text(of: json) + "\n", to: Paths.name(of: path))
            } catch {
                throw HubError(.files, path, "can't be written: \(error.reason).")
            }
        }

        func send(size: Int, _ note: [String], _ tally: DownloadTally) throws {
            var (id, tags) = noted ?? ("", [])
            if id.isEmpty {
                let answer = XML(
                    try store.answer(
                        "POST", place + "?uploads=", of: address, fields: note, body: RequestBody([])))
                guard let begun = answer.first("UploadId") else {
                    throw HubError(.damaged, address, "the store's answer is not that of one (no UploadId).")
                }
                id = begun
                try write(id, tags)
            }
            let query = "uploadId=\(HubClient.escaped(id, slashes: true))"
            for (number, start) in stride(from: 0, to: file.size, by: size).enumerated().dropFirst(tags.count)
            {
                let end = min(file.size, start + size)
                var tag: String?
                _ = try store.answer(
                    "PUT", "\(place)?partNumber=\(number + 1)&\(query)", of: address,
                    body: RequestBody(file.file, start..<end)
                ) { tag = $0.first("ETag") }
                tags.append(tag ?? "")
                try write(id, tags)
                tally.count(address, here: end, fetched: end - start)
            }
            let list = tags.enumerated().map { number, tag in
                "<Part><PartNumber>\(number + 1)</PartNumber><ETag>\(tag)</ETag></Part>"
            }
            let body = "<CompleteMultipartUpload>\(list.joined())</CompleteMultipartUpload>"
            let answer = XML(
                try store.answer(
                    "POST", "\(place)?\(query)", of: address, body: RequestBody(Array(body.utf8))))
            // It may fail after the answer has begun.
            if let code = answer.first("Code") {
                throw HubError(.network, address, "the store could not join its parts: \(code).")
            }
            try? Files.remove(path)
        }
    }
}

extension ObjectStore {
    /// The name of the object's own member that has its SHA-256.
    fileprivate var noteName: String {
        if scheme == "gs", case .bearer = settings.access { return "x-goog-meta-sha256" }
        return "x-amz-meta-sha256"
    }

    /// What an object that is there says of its content; nil if there is none, or it can't be seen.
    fileprivate func note(of place: String, _ object: ObjectAddress) throws -> String? {
        try client.tries(object.with(key: object.key)) {
            let response = try HubRequest(client: client, method: "HEAD", seconds: client.patience.answering)
                .send(to: place)
            try client.retryIfPassing(response)
            return response.status == 200 ? response.head.first(noteName) : nil
        }
    }
}
