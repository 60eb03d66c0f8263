import BatchEngine
import FoundationShim
import OperatingSystem

/// Saving and reporting while a run goes on.
extension JobRun {
    package func passed(_ report: PassReport, in loop: BatchLoop) throws {
        let share = report.seconds / Double(max(1, report.passRows))
        statistics.prefillSeconds += share * Double(report.prefillRows)
        statistics.decodeSeconds += share * Double(report.decodeRows)
        let before = timesBefore ?? report.timesBefore
        timesBefore = before
        statistics.compute = report.times - before
        statistics.completionTokens += report.tokens
        statistics.drafted += report.drafted
        statistics.acceptedDrafts += report.acceptedDrafts
        if !job.task.answers {
            statistics.scoringRows += report.prefillRows + report.decodeRows - report.tokens
        }
        statistics.preempted += report.preempted
        statistics.running = report.running
        try store.check()
        if (.now - lastSaving).seconds >= job.checkpointInterval { try save(loop.live(of: self)) }
        reportIfDue()
    }

    /// Saves what is under way. (What an earlier run saved of requests that still wait, the store keeps.)
    func save(_ live: [TokenSequence]) throws {
        let running = live.compactMap { sequence in
            open[sequence.request.number].map { ($0, sequence.decoding.saved.copied) }
        }
        let others = queue.begun.map { ($0, SavedDecoding()) }
        let records =
            (running + others).sorted { $0.0.label.position < $1.0.label.position }
            .compactMap { owner, saved in owner.record(saved) }
            + (gates?.held.map(\.record) ?? [])
        let count = feeder.count
        let progress = JobProgress(
            startedAt: startedAt, resultsTotal: count.isWhole ? count.positions : nil,
            doneThisRun: statistics.done, completionTokensThisRun: statistics.completionTokens)
        try store.handOver { store in
            store.log?.progress = progress
            try store.saveInFlight(records)
        }
        answers?.store.flush()
        lastSaving = .now
    }

    /// Counts lines for a fifth of a second on this thread, so that progress has the total of most inputs from the
    /// beginning.
    func countLines() {
        guard !follows, piped == nil else { return }
        let end = ContinuousClock.now + .milliseconds(200)
        let count = (try? job.countLines { .now < end }) ?? nil
        total.withLock { $0 = count }
    }

    /// Begins to count what takes longer. What goes wrong is left to the reader of the lines.
    func countOtherLines() {
        guard !follows, piped == nil, total.withLock(\.self) == nil else { return }
        try? WorkerThread.start("count", stackSize: 1 << 20) { [total, job, queue] in
            let count = try? job.countLines { !queue.isClosed }
            total.withLock { $0 = count ?? nil }
        }
    }

    func reportIfDue() {
        guard (.now - lastProgress).seconds >= 0.1 else { return }
        lastProgress = .now
        progress(currentStatistics)
    }

    var currentStatistics: RunStatistics {
        var statistics = statistics
        let count = feeder.count
        statistics.lines = count.read.count
        statistics.results = count.positions
        statistics.skipped = count.done
        statistics.passedOver = count.read.passedOver
        statistics.covered = count.covered
        statistics.missing = count.missing
        statistics.total =
            count.isWhole ? count.positions : total.withLock(\.self).map { $0 * job.sampleCount }
        statistics.seconds = (.now - started).seconds
        statistics.joules = energy?.joules()
        statistics.shortLines = gates?.quota?.shortLines ?? 0
        if let gates, let wanted = gates.wanted {
            (statistics.accepted, statistics.wanted, statistics.tally) = (gates.accepted, wanted, gates.tally)
            if let end = gates.end {
                (statistics.lines, statistics.results) = (end / job.sampleCount, end)
                // Rows beyond are in neither.
                (statistics.done, statistics.copied) = (gates.tally.values.reduce(0, +), 0)
            }
        }
        return statistics
    }
}

extension SavedDecoding {
    /// For another thread to read: the next token that is added here would make a copy anyway.
    fileprivate var copied: SavedDecoding {
        SavedDecoding(tokens: tokens.map(\.self), notes: notes.map(\.self))
    }
}
