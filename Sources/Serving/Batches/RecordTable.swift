import Errors
import FoundationShim
import JSON
import Jobs
import OperatingSystem

/// Objects of the API by their ids, each also a small file that is replaced atomically.
final class RecordTable: Sendable {
    private static let suffix = ".json"

    let folder: String
    private let kind: String
    private let records: Mutex<[String: JSONObject]>
    /// Held while a record changes.
    private let changing = Mutex()

    /// - Parameters:
    ///   - kind: begins ids.
    ///   - folder: created if missing. Drafts of a killed process are removed.
    /// - Throws: `UserError`.
    init(of kind: String, in folder: String) throws {
        try explaining(
            .cannotWrite, at: folder, "the folder can't be made", try Files.makeFolder(folder, mode: 0o700))
        var found: [String: JSONObject] = [:]
        for name in (try? Files.names(in: folder)) ?? [] where name.hasPrefix(kind) {
            let path = Paths.join(folder, name)
            if name.contains("\(Self.suffix).phibatch-") || name.hasSuffix(Upload.suffix) {
                try? Files.remove(path)
            }
            guard name.hasSuffix(Self.suffix) else { continue }
            guard
                case .object(let record)? = try? JSONValue(parsing: Files.contents(of: path), limits: .line),
                case .string(let id)? = record["id"], id + Self.suffix == name
            else {
                throw UserError(.io, at: path, "is no record of a \(kind). Move it away.")
            }
            found[id] = record
        }
        (self.kind, self.folder) = (kind, folder)
        records = Mutex(found)
    }

    subscript(_ id: String) -> JSONObject {
        get throws {
            guard let record = records.withLock({ $0[id] }) else { throw HTTPReply.missing(kind, id) }
            return record
        }
    }

    /// All records, newest first.
    var all: [JSONObject] {
        func key(_ record: JSONObject) -> (Int, String) {
            (record["created_at"]?.integer ?? 0, record["id"].map { JSONWriter.text(of: $0) } ?? "")
        }
        return records.withLock { Array($0.values) }.sorted { key($0) > key($1) }
    }

    /// Adds or replaces a record, on the disk first.
    func save(_ record: JSONObject) throws {
        guard case .string(let id)? = record["id"] else { return }
        try ReplacedFile(path(of: id) + Self.suffix, start: "{\"id\":\"", what: "record")
            .replace(with: Array(JSONWriter.text(of: .object(record)).utf8), isDurable: true)
        records.withLock { $0[id] = record }
    }

    /// Changes a record, on the disk first.
    @discardableResult func change(
        _ id: String, _ body: (inout JSONObject) throws -> Void
    ) throws -> JSONObject {
        changing.lock()
        defer { changing.unlock() }
        var record = try self[id]
        try body(&record)
        try save(record)
        return record
    }

    /// Sets a member that is not kept on the disk.
    func note(_ id: String, _ name: String, _ value: JSONValue) { records.withLock { $0[id]?[name] = value } }

    // MARK: Files sent by clients or made by batches, each beside its record

    func path(of id: String) -> String { Paths.join(folder, id) }

    /// Links a file made by a batch into this folder.
    /// - Returns: its id; nil if it is empty.
    func adopt(_ path: String, id: String, name: String) throws -> String? {
        guard let size = Files.info(of: path)?.size, size > 0 else { return nil }
        do throws(SystemError) { try FileSystem.real.link(path, to: self.path(of: id)) } catch {
            // It existed before a restart.
            guard Files.info(of: self.path(of: id))?.size == size else { throw error }
        }
        _ = try keep(id, name: name, purpose: "batch_output", bytes: size)
        return id
    }

    func keep(_ id: String, name: String, purpose: String, bytes: Int) throws -> JSONObject {
        let record: JSONObject = [
            "id": .string(id), "object": "file", "bytes": .int(bytes), "created_at": .int(APIService.now),
            "filename": .string(name), "purpose": .string(purpose), "status": "processed",
        ]
        try save(record)
        return record
    }

    func remove(_ id: String) {
        records.withLock { $0[id] = nil }
        for path in [path(of: id) + Self.suffix, path(of: id)] { try? Files.remove(path) }
    }
}
