import BatchEngine
import FoundationShim

/// End of a job.
extension JobRun {
    /// The status, and the number of positions of an output that is to be put in place; nil leaves all resumable.
    private typealias Ending = (status: RunOutcome.Status, endedEarly: Bool, positions: Int?)

    package func completed() {
        // Asked to stop at the last moment: then the next run puts the results in place.
        guard stopFlag.beginEnd() else { return abandoned([], error: nil) }
        end([]) {
            var count = feeder.count
            if let end = gates?.end {
                (count.positions, count.lines) = (end, end / job.sampleCount)
                // Lines that failed beyond those that are needed are none of the job's.
                statistics.failed -= failedPositions.count { $0 >= end }
            }
            let allowed = (job.maxFailures ?? .count(0)).allowed(of: count.lines)
            let hasFailed = statistics.failed > allowed
            if gates?.end == nil {
                if !follows, let half = count.unfinished.first {
                    guard hasFailed else { throw UserError(half) }
                    return (.tooManyFailures(allowed: allowed), true, nil)
                }
                if let wanted = gates?.wanted {
                    return (.tooFewAccepted(accepted: gates?.accepted ?? 0, wanted: wanted), false, nil)
                }
            }
            return (hasFailed ? .tooManyFailures(allowed: allowed) : .complete, false, count.positions)
        }
    }

    package func abandoned(_ live: [TokenSequence], error: (any Error)?) {
        end(live) {
            if let error { throw error }
            try save(live)
            guard endsEarly, !stopFlag.isSet, let limit = job.maxFailures else {
                return (.interrupted, false, nil)
            }
            let lines = total.withLock(\.self) ?? feeder.count.lines
            return (.tooManyFailures(allowed: limit.allowed(of: lines)), true, nil)
        }
    }

    private func end(_ live: [TokenSequence], _ body: () throws -> Ending) {
        defer {
            queue.close()
            answers?.store.flush()
            if let result { ended(result) }
        }
        do {
            let ending = try body()
            try store.close { store in
                guard let positions = ending.positions else { return try store.suspend() }
                store.log?.failures = AllowedFailures(
                    lines: statistics.failed, limit: job.maxFailures ?? .count(0))
                try store.finish(count: positions)
            }
            result = .success(
                RunOutcome(
                    status: ending.status, endedEarly: ending.endedEarly, statistics: currentStatistics,
                    failures: failures, input: feeder.count, inputs: followed?.paths ?? job.input))
        } catch {
            // The first error is the one to tell; saving may well fail for the same reason.
            try? store.settle()
            try? save(live)
            try? store.close { try $0.suspend() }
            result = .failure(error)
        }
    }
}
