import Faults
import OperatingSystem

/// What lies at addresses of https and in stores of objects.
extension InputStore {
    func objects(
        _ address: String, _ report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) async throws -> DistantInput {
        let stop = Stop()
        return try await ModelDownload.onThread("input") {
            ThisThread.blockBrokenPipes()
            let files =
                Addresses.scheme(of: address)?.hasPrefix("http") == true
                ? [try page(address, stop, report)] : try found(address, stop, report)
            let versions = files.map { "\($0.source)\n\($0.version ?? "")\n" }.joined()
            let version = FileHash.hexadecimal(SHA.sha256(of: versions.utf8).prefix(8))
            return DistantInput(address: address, version: version, files: files)
        } onCancel: {
            stop.set()
        }
    }

    private func client(
        _ access: Access, _ stop: Stop, _ report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) throws -> HubClient {
        try HubClient(settings: settings, patience: patience, stop: stop, access: access) {
            report(.pauses(reason: $0, seconds: $1))
        }
    }

    /// - Parameters:
    ///   - url: what is asked for.
    ///   - source: what it is called; what lets somebody in is left out of it.
    private func download(
        _ url: String, _ source: String, _ client: HubClient, _ tally: DownloadTally,
        _ report: @escaping @Sendable (ModelDownload.Event) -> Void,
        check: @escaping (HubResponse, [UInt8]) throws -> Void
    ) throws -> ObjectDownload {
        let shown = Addresses.shown(source)
        guard let folder = place(source, "") else {
            throw HubError(
                .files, shown, "there is no folder to keep it in while it is read: PHIBATCH_CACHE is off.")
        }
        let name = Paths.name(of: String(shown.prefix(until: "?")))
        if let fault = Paths.fault(inForeign: name) {
            throw HubError(.badName, shown, "its last part becomes a file's name, and \(fault).")
        }
        return ObjectDownload(
            client: client, url: url, shown: shown, folder: folder, name: name,
            tally: tally,
            check: check, waits: { report(.waits(file: shown)) })
    }

    /// What lies at an address of https or http.
    private func page(
        _ address: String, _ stop: Stop, _ report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) throws -> DistantInput.File {
        var (url, access) = (String(address.prefix(until: "#")), Access.nobody)
        let scheme = url.prefix(until: "/") + "//"
        let host = url.dropFirst(scheme.count).prefix(until: "/", "?")
        if let at = host.lastIndex(at: "@") {
            access = .basic(ObjectStore.plain(String(host[..<at]), plus: false))
            url = String(scheme + url[url.utf8.index(after: at)...])
        }
        let client = try client(access, stop, report)
        let fetched = try download(url, address, client, DownloadTally(total: nil, report: report), report) {
            response, _ in
            guard response.status >= 300 else { return }
            try client.retryIfPassing(response)
            throw ObjectStore.refusal(response, nil, address, nil)
        }.run()
        return DistantInput.File(path: fetched.path, source: Addresses.shown(address), version: fetched.tag)
    }

    /// What a store has at an address.
    private func found(
        _ address: String, _ stop: Stop, _ report: @escaping @Sendable (ModelDownload.Event) -> Void
    ) throws -> [DistantInput.File] {
        let object = try ObjectAddress(address)
        let cloud = try CloudSettings(scheme: object.scheme).withKey(settings, stop)
        let client = try client(cloud.access, stop, report)
        let store = ObjectStore(client: client, settings: cloud, bucket: object.bucket, scheme: object.scheme)
        @Sendable func each(_ key: String, _ tally: DownloadTally) throws -> ObjectDownload {
            let source = object.with(key: key)
            return try download(store.address(key: key), source, client, tally, report) {
                try store.check($0, $1, source)
            }
        }
        guard object.isPattern else {
            let fetched = try each(object.key, DownloadTally(total: nil, report: report)).run()
            return [DistantInput.File(path: fetched.path, source: address, version: fetched.tag)]
        }
        let entries = try store.list(object)
        guard !entries.isEmpty else {
            throw HubError(.missing, address, "no object in the bucket matches it.")
        }
        let missing = entries.filter {
            !((try? each($0.key, DownloadTally(total: 0) { _ in }).isHere($0.tag)) ?? false)
        }
        let bytes = missing.reduce(0) { $0 + $1.size }
        if let folder { try ModelDownload.checkRoom(bytes, at: folder, "PHIBATCH_CACHE") }
        report(.begins(address, files: entries.count, missing: bytes))
        let tally = DownloadTally(total: bytes, report: report)
        return try ModelDownload.each(entries, stop) { entry in
            let fetched = try each(entry.key, tally).run(tag: entry.tag)
            return DistantInput.File(
                path: fetched.path, source: object.with(key: entry.key), version: fetched.tag)
        }
    }
}
