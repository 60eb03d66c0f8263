import Errors
import OperatingSystem

/// Joins the finished outputs of all shards of a job to what one run of it would have made.
///
/// Results of shard I are those of every Nth line from the Ith on, so they are taken from the shards in turn. Nothing is
/// put in place before all of them are known to be whole, of one job and of one input.
package struct ShardMerge {
    package private(set) var lines = 0
    package private(set) var results = 0
    package private(set) var failed = 0
    /// The name under which another output that was there stays.
    package private(set) var keptName: String?
    package private(set) var warnings: [String] = []
    /// Failed lines, where they are more than may be.
    package private(set) var excess: UserError?

    /// - Parameters:
    ///   - output: the path that the job names; the shards lie beside it.
    ///   - count: how many shards there are.
    ///   - maxFailures: the lines that may fail in all of them; nil is what they were run with.
    /// - Throws: `UserError` naming the shard that is missing, not complete, damaged, or of another job or input.
    package init(output: String, count: Int, maxFailures: FailureLimit? = nil) throws {
        let system = FileSystem.real
        let shards = try (0..<count).map { try Shard(output, $0, of: count, in: system) }
        let first = shards[0].header
        for shard in shards
        where shard.header.format != first.format || shard.header.layout != first.layout
            || shard.header.fingerprint != first.fingerprint || shard.header.kept != first.kept
        {
            throw UserError(
                .mismatch, at: shard.path,
                "is of another job than \(shards[0].path): model or settings differ.")
        }
        var format = try shards[0].output.format()
        if format.table != nil { format.table = ParquetColumns(joining: shards.map(\.path)) }
        let total = try Self.checkLengths(shards)
        // Each has decided of its rows by itself.
        let wanted = shards[0].selection.wanted
        let joined =
            wanted != nil || first.fingerprint.comparesRows
            ? LineSelection(lines: shards.map(\.lines), wanted: wanted) : .all
        let header = LogHeader(
            format: format.nameInLog, layout: format.layout, fingerprint: first.fingerprint, kept: first.kept,
            lines: shards.reduce([]) { $0.adding($1.header.lines) }, pins: first.pins, shard: joined.name,
            input: try Self.checkInputs(shards),
            failures: checkFailures(shards, of: total, maxFailures, output))
        let place = try OutputPaths(output: output, in: system)
        let lock = try OutputLock(
            place, LogHeader(fingerprint: first.fingerprint, holder: .own), waiting: nil)
        defer { lock.release() }
        guard try !OutputLog(reading: lock.log).hasResults() else {
            throw UserError(.mismatch, at: place.log.path, "is of a run without shards that is not finished.")
        }
        let paths = try place.prepared()
        let samples = try shards.first { $0.lines > 0 }?.output.samples() ?? 1
        let writer = try OutputWriter(
            at: paths, header, replacing: lock.log, format: format, samples: samples)
        var ids = SeenIDs()
        while lines < total {
            let shard = shards[joined.place(of: lines) % count]
            guard try shard.appendLine(to: writer, &ids, &results, &failed) else { break }
            lines += 1
        }
        try writer.finish { isReplaced in
            guard isReplaced, try system.infoIfPresent(paths.output).map({ $0.size > 0 }) ?? false else {
                return
            }
            // Nobody knows whether what it holds is in the shards.
            keptName = try paths.keepOld(output: true, log: !lock.isNew)
            try system.syncFolder(paths.folder)
        }
        (lock.log, lock.isNew) = (writer.log, false)
        warnings = writer.warnings
    }

    // MARK: What must hold between them

    /// All shards have the same number of lines, the first ones perhaps one more; or each has those that it took until
    /// its share of rows was accepted.
    /// - Returns: the number of all lines.
    private static func checkLengths(_ shards: [Shard]) throws -> Int {
        let total = shards.reduce(0) { $0 + $1.lines }
        for (index, shard) in shards.enumerated() {
            let count = shard.lines
            guard shard.selection.wanted == shards[0].selection.wanted else {
                throw UserError(
                    .mismatch, at: shard.path,
                    "is its share of another number of accepted rows than \(shards[0].path): run it again with the same until."
                )
            }
            var wanted = LineSelection.shard(index: index, count: shards.count).count(of: total)
            if let lines = shard.selection.lines?.first { wanted = lines }
            guard count == wanted else {
                throw UserError(
                    .mismatch, at: shard.path,
                    "has results of \(counted(count, "line")), but \(wanted) of \(total) would be its share: the shards are not of one input. Run those again whose input was another one."
                )
            }
        }
        return total
    }

    /// All shards saw the same input.
    /// - Returns: the input; nil if a shard had enough rows, and has not seen all lines.
    private static func checkInputs(_ shards: [Shard]) throws -> InputSeen? {
        let told = shards.compactMap { shard in shard.header.input.map { (shard.path, $0) } }
        guard let (path, input) = told.first else { return nil }
        for (other, seen) in told where seen != input {
            let what: Message =
                seen.lines == input.lines
                ? "the same number of lines, \(seen.lines), but not the same ones"
                : "\(counted(seen.lines, "line")), and that one \(input.lines)"
            throw UserError(
                .mismatch, at: other,
                "saw another input than \(path): \(what). Run those shards again whose input is not the one meant; only lines that have changed are done anew."
            )
        }
        return told.count == shards.count ? input : nil
    }

    /// Returns the failures: the shards may have together what one run may have.
    private mutating func checkFailures(
        _ shards: [Shard], of lines: Int, _ own: FailureLimit?, _ output: String
    ) -> AllowedFailures {
        let failed = shards.reduce(0) { $0 + $1.failures.lines }
        let limits = shards.map(\.failures.limit)
        let limit = own ?? limits.max { $0.allowed(of: lines) < $1.allowed(of: lines) } ?? limits[0]
        let allowed = limit.allowed(of: lines)
        if failed > allowed {
            excess = UserError(
                .tooManyFailures, at: output,
                "has \(counted(failed, "failed line")); max_failures allows \(allowed) of the whole job. Mend the lines and run their shards again, or allow more with --max-failures \(failed)."
            )
        }
        return AllowedFailures(lines: failed, limit: limit)
    }
}

/// The finished output of one shard.
private final class Shard {
    let path: String
    var header: LogHeader { output.header }
    let output: FinishedOutput
    let failures: AllowedFailures
    let selection: LineSelection
    private(set) var lines = 0
    private var next = 0

    init(_ output: String, _ number: Int, of count: Int, in system: FileSystem) throws {
        path = OutputPaths.shard(number, of: count, output: output)
        let paths = try OutputPaths(output: path, in: system)
        if try OutputLock.probe(paths).isHeld {
            throw UserError(.locked, at: path, "is being written; wait for its run.")
        }
        guard try OutputLog.find(of: path)?.isOpen != true else {
            throw UserError(
                .mismatch, at: path, "is not complete: its run was stopped. Run this shard again.")
        }
        guard let finished = try FinishedOutput(path), let failures = finished.header.failures else {
            throw UserError(.mismatch, at: path, "is not there, or not complete. Run this shard.")
        }
        let header = finished.header
        let own = header.shard.flatMap { LineSelection(name: $0) }
        guard let own, own.shard == LineSelection.Shard(index: number, count: count) else {
            throw UserError(
                .mismatch, at: path,
                "has results of \(header.shard.map { "shard \($0)" } ?? "all lines"): it was renamed.")
        }
        // A shard that had enough rows has not seen all lines.
        guard header.input != nil || own.wanted != nil else {
            throw UserError(.mismatch, at: path, "doesn't say which input it saw. Run this shard again.")
        }
        (self.failures, self.output, selection) = (failures, finished, own)
        guard try finished.lost == 0 && finished.isAsWritten() else {
            throw UserError(
                .mismatch, at: path, "is not as it was written. Run this shard again.")
        }
        try finished.visit { record in
            if record.key.sample == 0 { lines += 1 }
            return true
        }
    }

    /// Hands all results of the next line over.
    /// - Parameter ids: those of the lines before, from whatever shard.
    /// - Returns: false if there is none.
    /// - Throws: `UserError` if its id is a line's before, and it is not the error that such a line gets.
    func appendLine(
        to writer: OutputWriter, _ ids: inout SeenIDs, _ results: inout Int, _ failed: inout Int
    ) throws -> Bool {
        guard next < output.count else { return false }
        var record = try output.record(next)
        guard ids.insert(record.key.id) || record.result.isFailed else {
            throw UserError(
                .mismatch, at: path,
                "has a result of the id \(record.key.id), and so has another shard: they are not of one input. Run those again whose input was another one."
            )
        }
        repeat {
            if record.result.isFailed { failed += 1 }
            try record.line.withUnsafeBytes { try writer.append(record, $0) }
            results += 1
            next += 1
            if next < output.count { record = try output.record(next) }
        } while next < output.count && record.key.sample > 0
        return true
    }
}
