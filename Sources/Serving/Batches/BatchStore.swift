import BatchPipeline
import FoundationShim
import JSON
import Jobs
import OperatingSystem

/// Batches, each a job in its own folder, whose log lets it resume after any end of the server. A batch's record is
/// its object in the API.
final class BatchStore: Sendable {
    /// The most that run; further ones wait.
    private static let together = 4

    private struct BatchTable {
        var running: [String: StopFlag] = [:]
        /// Oldest first.
        var waiting: [String] = []
    }

    let files: RecordTable
    let records: RecordTable
    private let requests: RequestLines
    private let stopFlag: StopFlag
    private let state = Mutex(BatchTable())
    private let work = WorkQueue()
    /// Lock against other servers, held as long as the process lives.
    private let lock: File

    /// - Parameter stopFlag: the server's.
    /// - Throws: `UserError`.
    init(folder: String, _ requests: RequestLines, stopFlag: StopFlag) throws {
        records = try RecordTable(of: "batch", in: Paths.join(folder, "batches"))
        (self.requests, self.stopFlag) = (requests, stopFlag)
        lock = try Self.locked(folder)
        files = try RecordTable(of: "file", in: Paths.join(folder, "files"))
    }

    private static func locked(_ folder: String) throws -> File {
        let lock = try explaining(
            .cannotWrite, at: Paths.join(folder, "lock"), "can't be opened",
            try OpenFolder(folder, mode: 0o700).lock("lock"))
        if let lock { return lock }
        throw UserError(
            .cannotWrite, at: folder,
            "another server keeps its batches there. --folder names another folder.")
    }

    /// Resumes batches of an earlier server.
    func start() throws {
        try work.start("batches")
        for record in records.all.reversed() where Self.isOpen(record) {
            guard case .string(let id)? = record["id"] else { continue }
            work.put { [self] in begin(id) }
        }
    }

    /// Number of unfinished batches.
    var openCount: Int { records.all.count(where: Self.isOpen) }

    private static func isOpen(_ record: JSONObject) -> Bool {
        ["validating", "in_progress", "finalizing", "cancelling"].contains(record["status"])
    }

    // MARK: For clients

    /// - Parameter body: body of `POST /v1/batches`.
    func add(_ body: JSONObject) throws -> JSONObject {
        let known = ["input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after"]
        if let other = body.first(where: { !known.contains($0.name) && $0.value != .null }) {
            throw HTTPReply.error("`\(other.name.prefix(64))` is not supported.", param: other.name)
        }
        func needed(_ name: String) throws -> String {
            if let text = try JSONValue.object(body).text(name) { return text }
            throw HTTPReply.error("`\(name)` is missing.", param: name)
        }
        let (input, endpoint) = (try needed("input_file_id"), try needed("endpoint"))
        _ = try files[input]
        guard let endpoint = OpenAIRequest.Endpoint(rawValue: endpoint) else {
            let names = OpenAIRequest.Endpoint.allCases.map(\.rawValue).joined(separator: ", ")
            throw HTTPReply.error("`endpoint` must be one of \(names).", param: "endpoint")
        }
        let id = "batch_" + APIService.newID()
        var record: JSONObject = [
            "id": .string(id), "object": "batch", "endpoint": .string(endpoint.rawValue),
            "errors": nil, "input_file_id": .string(input),
            "completion_window": .string(try JSONValue.object(body).text("completion_window") ?? "24h"),
            "status": "validating",
            "output_file_id": nil, "error_file_id": nil, "created_at": .int(APIService.now),
        ]
        for name in [
            "in_progress_at", "expires_at", "finalizing_at", "completed_at", "failed_at", "expired_at",
            "cancelling_at",
            "cancelled_at",
        ] { record[name] = .null }
        record["request_counts"] = Self.counts()
        record["metadata"] = body["metadata"] ?? .null
        try records.save(record)
        work.put { [self] in begin(id) }
        return record
    }

    func cancel(_ id: String) throws -> JSONObject {
        let record = try records.change(id) { record throws in
            guard let status = record["status"], ["validating", "in_progress", "cancelling"].contains(status)
            else {
                throw HTTPReply.error("The batch has ended, and can't be cancelled any more.", status: 409)
            }
            if status != "cancelling" { Self.pass(&record, to: "cancelling") }
        }
        work.put { [self] in begin(id) }
        return record
    }

    /// Whether an unfinished batch needs a file.
    func needs(file: String) -> Bool {
        records.all.contains { Self.isOpen($0) && $0["input_file_id"] == .string(file) }
    }

    // MARK: The batches' thread

    private static func counts(total: Int = 0, completed: Int = 0, failed: Int = 0) -> JSONValue {
        ["total": .int(total), "completed": .int(completed), "failed": .int(failed)]
    }

    private static func pass(_ record: inout JSONObject, to status: String) {
        record["status"] = .string(status)
        record[status + "_at"] = .int(APIService.now)
    }

    private func place(of id: String, _ name: String) -> String {
        Paths.join(Paths.join(records.folder, id), name)
    }

    /// Begins a batch, makes it wait for others, or ends it if it is cancelled.
    private func begin(_ id: String) {
        let (flag, mayBegin) = state.withLock { state in
            let mayBegin = state.running.count < Self.together
            if !mayBegin, state.running[id] == nil, !state.waiting.contains(id) { state.waiting.append(id) }
            return (state.running[id], mayBegin)
        }
        guard let record = try? records[id], Self.isOpen(record), !stopFlag.isSet else { return }
        do {
            if record["status"] == "cancelling" {
                if let flag { _ = flag.set() } else { try keepWhatIsDone(id, record) }
            } else if flag == nil, mayBegin, case .string(let input)? = record["input_file_id"] {
                let job = try job(id, input: files.path(of: input))
                try run(id, job, total: job.settings.countLines() ?? 0)
            }
        } catch {
            ended(id, .failure(error))
        }
    }

    /// Writes the results of a cancelled batch to its files.
    private func keepWhatIsDone(_ id: String, _ record: JSONObject) throws {
        guard case .string(let input)? = record["input_file_id"] else { return }
        var job = try job(id, input: files.path(of: input))
        let places = try Self.linesWithResults(job.settings)
        guard !places.isEmpty else { return try finish(id) }
        job.settings.selection = .some(places)
        // Partly finished lines are cancelled.
        job.prunes = true
        try run(id, job, total: record["request_counts"]?["total"]?.integer ?? places.count)
    }

    /// Returns the places of the lines that have all their results, failed ones too, in what a stopped run has left.
    private static func linesWithResults(_ job: JobSettings) throws -> [Int] {
        guard let log = try JobStatus(output: job.output).log, log.isOpen else { return [] }
        var found: [String: Int] = [:]
        try log.visit { record in
            found[record.key.id, default: 0] += 1
            return true
        }
        var lines = try JobLines(job)
        var places: [Int] = []
        while let line = try lines.next() {
            if found[line.id] ?? 0 >= line.samples(in: job) { places.append(line.place) }
        }
        return places
    }

    private func run(_ id: String, _ job: BatchJob, total: Int) throws {
        try records.change(id) { record in
            guard record["status"] == "validating" else { return }
            Self.pass(&record, to: "in_progress")
            record["request_counts"] = Self.counts(total: total)
        }
        let flag = StopFlag(of: stopFlag)
        state.withLock { $0.running[id] = flag }
        try requests.join(job, stopFlag: flag) { [self] statistics in
            let failed = min(total, statistics.failed)
            let completed = min(total - failed, statistics.done + statistics.skipped)
            let counts = Self.counts(total: total, completed: completed, failed: failed)
            records.note(id, "request_counts", counts)
        } ended: { [self] result in
            work.put { [self] in ended(id, result) }
        }
    }

    private func job(_ id: String, input: String) throws -> BatchJob {
        var settings = requests.base.settings
        (settings.input, settings.output) = ([input], place(of: id, "output.jsonl"))
        settings.errors = place(of: id, "errors.jsonl")
        settings.maxFailures = .percent(100)
        var job = try BatchJob(settings)
        (job.cache, job.log) = (requests.base.cache, requests.base.log)
        // Existing results stay, whatever the options of this server.
        job.ifChanged = .keep
        return job
    }

    private func ended(_ id: String, _ result: Result<RunOutcome, any Error>) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.running[id] = nil
            return state.waiting
        }
        do {
            switch result {
            case .success(let outcome) where outcome.status == .complete: try finish(id)
            case .success where try records[id]["status"] == "cancelling":
                begin(id)
            // The next server resumes it.
            case .success where stopFlag.isSet: break
            case .success: throw UserError(.interrupted, "The run has ended before its time.")
            case .failure(let error): throw error
            }
        } catch {
            fail(id, "\(error)")
        }
        for next in waiting { begin(next) }
    }

    private func fail(_ id: String, _ message: String) {
        do {
            try records.change(id) { record in
                let error: JSONValue = [
                    "code": "failed", "message": .string(message), "param": nil, "line": nil,
                ]
                record["errors"] = ["object": "list", "data": [error]]
                Self.pass(&record, to: "failed")
            }
        } catch {
            // The next server tries again.
            requests.base.log.error("\(id): \(message) \(error)")
        }
    }

    private func finish(_ id: String) throws {
        let name = "file-" + id.dropFirst("batch_".count)
        var lines: [Int] = []
        var ids: [JSONValue] = []
        for kind in ["output", "errors"] {
            let path = place(of: id, kind + ".jsonl")
            var counted = JobSettings()
            counted.input = [path]
            counted.passesErrorLines = true
            lines.append(Files.kind(of: path) == nil ? 0 : try counted.countLines() ?? 0)
            let file = try files.adopt(path, id: "\(name)-\(kind)", name: "\(id)_\(kind).jsonl")
            ids.append(file.map { .string($0) } ?? .null)
        }
        try records.change(id) { [lines, ids] record in
            let isCancelled = record["status"] == "cancelling"
            (record["output_file_id"], record["error_file_id"]) = (ids[0], ids[1])
            let known = isCancelled ? record["request_counts"]?["total"]?.integer : nil
            record["request_counts"] = Self.counts(
                total: known ?? lines[0] + lines[1], completed: lines[0], failed: lines[1])
            if !isCancelled { record["finalizing_at"] = .int(APIService.now) }
            Self.pass(&record, to: isCancelled ? "cancelled" : "completed")
        }
    }
}
