import Errors
import Jobs
import OperatingSystem

/// State of earlier results, and whether a run would resume them: the rules of a run, read only.
package struct JobFreshness: Sendable, Equatable {
    /// Fingerprint of the job's results now; nil if its model is not on this machine.
    package var now: RunFingerprint?
    /// Differences in the model or the settings, with both values if known.
    package var changes: [String] = []
    /// Whether only the steps differ.
    package var concernsSteps = false
    /// Reason why no earlier result can be used; nil if they can.
    package var unknown: Message?
    /// Results that are missing, whose lines changed, and whose lines are gone.
    package var new = 0
    package var changed = 0
    package var gone = 0
    /// Reason to write the output again from its log; nil if there is none.
    package var rewrite: Message?
    /// Whether so many results would be removed that a run asks for permission.
    package var losesTooMany = false
    /// Whether the input has no lines, in which case results are never replaced.
    package var hasNoLines = false

    package var isFresh: Bool {
        changes.isEmpty && unknown == nil && rewrite == nil && new == 0 && changed == 0 && gone == 0
    }

    /// Reads existing results and, unless it can be read only once, the input.
    /// - Parameters:
    ///   - cache: has hashes of the model's files; without it they are all read.
    ///   - comparesLines: whether the input is read and compared.
    /// - Returns: nil if there are no results.
    /// - Throws: `UserError` if a file can't be read.
    package init?(_ job: JobSettings, cache: WeightCacheLocation, comparesLines: Bool = true) throws {
        let job = try job.asFinished(in: job.output)
        let system = FileSystem.real
        let paths = try OutputPaths(output: job.output, in: system)
        let output = try File.openIfPresent(paths.output, .read, in: system)
        let claims = ClaimTable()
        let log: OutputLog?
        do {
            log = try OutputLog.find(of: job.output, into: claims.index)
        } catch let error as UserError where error.kind == .mismatch {
            (log, unknown) = (nil, "\(error)")
        }
        guard output != nil || log != nil || unknown != nil else { return nil }
        now = try job.runFingerprint(cache: cache)
        if let begun = log?.begun { compare(with: begun.fingerprint) }
        let accepted =
            log?.begun?.accepted
            ?? (log?.finished?.header).flatMap { $0.fingerprint == now ? $0.accepted : nil } ?? []
        if let finished = log?.finished {
            var digests: Set<String> = []
            try log?.readPacked {
                digests.insert($0)
                return true
            }
            let format = job.outputFormat
            if try log?.fits(paths.output, in: system) != true {
                rewrite = "\(paths.output) is not as it was written"
            } else if finished.header.format != format.nameInLog || finished.header.layout != format.layout {
                rewrite = "the format has changed, or what results show"
            }
            let others = digests.filter { $0 != now?.digest && !accepted.contains($0) }
            if changes.isEmpty, now != nil, let other = others.min() {
                changes = [RunFingerprint.unknown]
                if let old = log?.run(other) { compare(with: old) }
            }
        } else if let output, unknown == nil, log?.begun?.isRestarted != true, try output.info().size > 0 {
            unknown = "\(paths.output) has no log \(paths.log)"
        }
        let outcome = try log?.readPlain()
        claims.begin()
        // Then the new settings apply.
        if log?.isOpen == true, output == nil, claims.earlier.found == 0, outcome?.inFlight.isEmpty == true {
            changes = []
        }
        guard comparesLines, try job.canReadTwice() else { return }
        // Each result is claimed as a run does.
        var lines = try JobLines(job, earlier: log?.lines ?? [])
        while let line = try lines.next() {
            for sample in 0..<line.samples(in: job) {
                _ = claims.claim(line.key(sample, filed: claims.hashes))
            }
        }
        let report = claims.report
        (new, changed, gone) = (report.new + report.redone, report.changed, report.gone)
        hasNoLines = claims.count == 0
        losesTooMany =
            claims.earlier.losesTooMany || !lines.read.unfinished.isEmpty && claims.earlier.gone > 0
    }

    private mutating func compare(with old: RunFingerprint) {
        guard let now else { return }
        changes = now.changes(from: old)
        concernsSteps = !changes.isEmpty && now.hasSteps
    }
}

extension JobSettings {
    /// Returns the fingerprint of a run on this machine; nil if the model is no longer there.
    /// - Throws: `UserError` if its folder can't be read.
    func runFingerprint(cache: WeightCacheLocation) throws -> RunFingerprint? {
        guard Files.kind(of: model) == .folder else { return nil }
        return try RunFingerprint(job: self, engine: engine.identity(cache: cache), cache: cache)
    }
}
