import Errors
import JSON
import OperatingSystem
import PhiText

/// Choice of a finished output's results that are to be made again.
package struct RedoChoice: Sendable {
    /// Returns whether a result is chosen; nil to go on with a redo that was interrupted.
    private var holds: (@Sendable (ResultRecord) throws -> Bool)?
    /// By this a redo that was interrupted is known again.
    private let hash: UInt64
    /// Ids that results must have, in UTF-8.
    private var ids: Set<[UInt8]> = []
    package private(set) var keepsSeed = false

    private init(_ text: String, holds: (@Sendable (ResultRecord) throws -> Bool)?) {
        (self.holds, hash) = (holds, SHA.short(of: text.utf8))
    }

    /// To go on with a redo that was interrupted.
    package init() { self.init("", holds: nil) }

    /// - Parameter condition: in the templates' language, over the members of a result.
    /// - Throws: `UserError` if it is malformed.
    package init(where condition: String) throws {
        do {
            let template = try TextTemplate("{% if \(condition) %}1{% endif %}", name: "--where")
            self.init("where \(condition)") { record in
                do { return try !template.render(Self.members(record)).isEmpty } catch let error as UserError
                {
                    throw UserError(.usage, "\(error) (the result \(record.key.id))")
                }
            }
        } catch let error as UserError {
            throw UserError(.usage, "\(error)")
        }
    }

    /// - Parameter list: an id a line. Empty lines count for nothing.
    package init(ids list: String) {
        let lines = list.utf8.split(separator: 0x0A).map { Array($0.last == 0x0D ? $0.dropLast() : $0) }
        let ids = Set(lines.filter { !$0.isEmpty })
        self.init("ids \(list)") { ids.contains(Array($0.key.id.utf8)) }
        self.ids = ids
    }

    /// Failed results, which are made again with the same seed.
    package static var failed: RedoChoice {
        var choice = RedoChoice("failed") { $0.result.isFailed }
        choice.keepsSeed = true
        return choice
    }

    /// The keys of a job's results that are chosen, and how many results there are.
    /// - Throws: `UserError` if the output is not there, an id is none of a result, or the condition asks of a result what
    ///   it doesn't have; `UserError` if the output is not complete, or can't be read.
    package func results(of job: JobSettings) throws -> (chosen: [ResultKey], total: Int) {
        guard let holds else {
            throw UserError(.usage, "say which results: --failed, --where CONDITION, or --ids FILE.")
        }
        let path = job.output
        let log = try OutputLog.find(of: path)
        if let log, try log.isOpen && (log.finished != nil || log.hasResults()) {
            throw UserError(
                .mismatch, at: path,
                "is not complete: its run, or an earlier redo, was stopped. Run the job to its end first.")
        }
        guard let output = try FinishedOutput(path) else {
            throw UserError(.missingInput, at: path, "there are no results yet. Run the job first.")
        }
        let isByLine = job.outputFormat.isByLine
        var (chosen, line, isWanted): ([ResultKey], [ResultKey], Bool) = ([], [], false)
        for number in 0..<output.count where output.index[number].repetition == 0 {
            let record = try output.record(number)
            // Results of a line that make one piece are made again together.
            if !isByLine || record.key.sample == 0 { (line, isWanted) = ([], false) }
            line.append(record.key)
            if !isWanted { isWanted = try holds(record) } else { line = [record.key] }
            if isWanted { chosen += line }
        }
        try checkIDs(chosen)
        return (chosen, output.count)
    }

    private func checkIDs(_ chosen: [ResultKey]) throws {
        let missing = ids.subtracting(chosen.map { Array($0.id.utf8) })
        guard let first = missing.min(by: { $0.lexicographicallyPrecedes($1) }) else { return }
        let more: Message = missing.count > 1 ? " (and \(counted(missing.count - 1, "other")) of --ids)" : ""
        throw UserError(.usage, "no result has the id \(String(decoding: first, as: UTF8.self))\(more).")
    }

    /// Members of a result that a condition sees: all that the log has, and in a job with steps what each made.
    private static func members(_ record: ResultRecord) -> [String: JSONValue] {
        let (key, result) = (record.key, record.result)
        var members = result.kept.reduce(into: result.own) { $0[$1.name] = $1.value }
        (members["id"], members["sample"]) = (.string(key.id), .int(key.sample))
        members["timing"] = result.timing.map { .object($0) }
        // With the members of answers that are objects, as conditions of steps see them.
        for step in result.steps ?? [] { members[step.name] = StepRow.value(of: step.value) }
        return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }

    // MARK: Stores

    /// Opens a job's store for a run that makes what is chosen again; or that goes on with that.
    /// - Parameters:
    ///   - note: told how many are chosen, and of how many results.
    ///   - open: called a second time where results have been marked.
    package func store(
        of job: JobSettings, note: (_ chosen: Int, _ total: Int) -> Void, open: () throws -> LogStore
    ) throws -> LogStore {
        let store = try open()
        if store.redo == hash || holds == nil && store.redo != nil { return store }
        do {
            let (chosen, total) = try results(of: job)
            note(chosen.count, total)
            if chosen.isEmpty { return store }
            try store.redo(keepsSeed ? chosen : chosen.map(\.again), choice: hash)
        } catch {
            try? store.suspend()
            throw error
        }
        return try open()
    }
}

extension JobSettings {
    /// Whether another seed can make another result, so far as the job says.
    package var draws: Bool {
        parts.contains {
            $0.task != .score && $0.request.temperature ?? 0 > 0 && $0.request.topK != 1
        }
    }
}
