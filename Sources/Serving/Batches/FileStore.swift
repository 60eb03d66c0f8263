import Errors
import FoundationShim
import JSON
import Jobs
import OperatingSystem

/// Files sent by clients or made by batches, each under its id, with a record beside it that is its object in the API.
final class FileStore: Sendable {
    static let kind = "file"
    private static let suffix = ".json"

    let folder: String
    private let records: Mutex<[String: JSONObject]>

    /// - Throws: `UserError`.
    init(folder: String) throws {
        self.folder = folder
        records = Mutex(try Records.all(in: folder, of: Self.kind))
        let names = (try? Files.names(in: folder)) ?? []
        for name in names where name.hasSuffix(Upload.suffix) { try? Files.remove(Paths.join(folder, name)) }
    }

    func path(of id: String) -> String { Paths.join(folder, id) }

    func record(of id: String) throws(APIError) -> JSONObject {
        guard let record = records.withLock({ $0[id] }) else { throw .missing(Self.kind, id) }
        return record
    }

    /// Returns all records, newest first.
    func all(purpose: String?) -> [JSONObject] {
        Records.sorted(records.withLock { Array($0.values) }).filter { record in
            purpose.map { record["purpose"] == .string($0) } ?? true
        }
    }

    // MARK: Files come and go

    /// Adds a client's upload.
    func add(_ upload: Upload) throws(APIError) -> JSONObject {
        let content = try upload.content()
        do { try content.file.moveIntoPlace() } catch {
            throw APIError("The file can't be kept: \(error.reason).", status: 500, code: "storage")
        }
        return try keep(content.id, name: content.name, purpose: content.purpose, bytes: content.bytes)
    }

    /// Links a file made by a batch into this store.
    /// - Returns: its id; nil if it is empty.
    func adopt(_ path: String, id: String, name: String) throws(APIError) -> String? {
        guard let size = Sockets.size(of: path), size > 0 else { return nil }
        do throws(SystemError) { try POSIXFileSystem().link(path, to: self.path(of: id)) } catch {
            // It existed before a restart.
            guard Sockets.size(of: self.path(of: id)) == size else {
                throw APIError("The results can't be kept: \(error).", status: 500, code: "storage")
            }
        }
        _ = try keep(id, name: name, purpose: "batch_output", bytes: size)
        return id
    }

    private func keep(_ id: String, name: String, purpose: String, bytes: Int) throws(APIError) -> JSONObject
    {
        let record: JSONObject = [
            "id": .string(id), "object": "file", "bytes": .int(bytes), "created_at": .int(APIService.now),
            "filename": .string(name), "purpose": .string(purpose), "status": "processed",
        ]
        try Records.save(record, in: folder)
        records.withLock { $0[id] = record }
        return record
    }

    func remove(_ id: String) throws(APIError) {
        _ = try record(of: id)
        records.withLock { $0[id] = nil }
        for path in [path(of: id) + Self.suffix, path(of: id)] { try? Files.remove(path) }
    }
}

/// Objects of the API, each a small file that is replaced atomically.
enum Records {
    /// Returns the records in a folder, which is created if missing. Drafts of a killed process are removed.
    static func all(in folder: String, of kind: String) throws -> [String: JSONObject] {
        try explaining(
            .cannotWrite, at: folder, "the folder can't be made", try Files.makeFolder(folder, mode: 0o700))
        var found: [String: JSONObject] = [:]
        for name in (try? Files.names(in: folder)) ?? [] where name.hasPrefix(kind) {
            let path = Paths.join(folder, name)
            if name.contains(".json.phibatch-") { try? Files.remove(path) }
            guard name.hasSuffix(".json") else { continue }
            guard
                case .object(let record)? = try? JSONValue(parsing: Files.contents(of: path), limits: .line),
                case .string(let id)? = record["id"], id + ".json" == name
            else {
                throw UserError(.io, at: path, "is no record of a \(kind). Move it away.")
            }
            found[id] = record
        }
        return found
    }

    static func save(_ record: JSONObject, in folder: String) throws(APIError) {
        guard case .string(let id)? = record["id"] else { return }
        do {
            try ReplacedFile(Paths.join(folder, id + ".json"), start: "{\"id\":\"", what: "record")
                .replace(with: Array(JSONWriter.text(of: .object(record)).utf8), isDurable: true)
        } catch {
            throw APIError("The record can't be written: \(error)", status: 500, code: "storage")
        }
    }

    /// Sorts records, newest first.
    static func sorted(_ records: [JSONObject]) -> [JSONObject] {
        func key(_ record: JSONObject) -> (Int, String) {
            (record["created_at"]?.integer ?? 0, record["id"].map { JSONWriter.text(of: $0) } ?? "")
        }
        return records.sorted { key($0) > key($1) }
    }
}

extension APIError {
    static func missing(_ kind: String, _ id: String) -> APIError {
        APIError("There is no \(kind) `\(id.prefix(64))`.", status: 404, code: "not_found", param: "id")
    }
}
