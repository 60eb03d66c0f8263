import BatchEngine
import FoundationShim

/// End of a job.
extension JobRun {
    package func completed() {
        // Asked to stop at the last moment: then the next run puts the results in place.
        guard stopFlag.beginEnd() else { return abandoned([], error: nil) }
        end([]) {
            var count = feeder.count
            forgetFailuresBeyondEnough()
            if let end = gates?.end { (count.positions, count.lines) = (end, end / job.sampleCount) }
            let allowed = (job.maxFailures ?? .count(0)).allowed(of: count.lines)
            if gates?.end == nil {
                if !follows, let half = count.unfinished.first {
                    guard statistics.failed > allowed else { throw UserError(half) }
                    try store.close { try $0.suspend() }
                    return outcome(.tooManyFailures(allowed: allowed), endedEarly: true)
                }
                if let wanted = gates?.wanted {
                    try store.close { try $0.suspend() }
                    return outcome(.tooFewAccepted(accepted: gates?.accepted ?? 0, wanted: wanted))
                }
            }
            try store.close { [statistics, job] store in
                store.log?.failures = AllowedFailures(
                    lines: statistics.failed, limit: job.maxFailures ?? .count(0))
                try store.finish(count: count.positions)
            }
            return outcome(statistics.failed > allowed ? .tooManyFailures(allowed: allowed) : .complete)
        }
    }

    package func abandoned(_ live: [TokenSequence], error: (any Error)?) {
        end(live) {
            if let error { throw error }
            try save(live)
            try store.close { try $0.suspend() }
            guard endsEarly, !stopFlag.isSet, let limit = job.maxFailures else {
                return outcome(.interrupted)
            }
            let lines = total.lines ?? feeder.count.lines
            return outcome(.tooManyFailures(allowed: limit.allowed(of: lines)), endedEarly: true)
        }
    }

    private func end(_ live: [TokenSequence], _ body: () throws -> RunOutcome) {
        defer {
            queue.close()
            total.stop()
            // Remembered requests refer to their source, which is this job.
            equals = EqualRequests()
            answers?.store.flush()
            if let result { ended(result) }
        }
        do {
            result = .success(try body())
        } catch {
            // The first error is the one to tell; saving may well fail for the same reason.
            try? store.settle()
            try? save(live)
            try? store.close { try $0.suspend() }
            result = .failure(error)
        }
    }

    func outcome(_ status: RunOutcome.Status, endedEarly: Bool = false) -> RunOutcome {
        let count = feeder.count
        return RunOutcome(
            status: status, endedEarly: endedEarly, statistics: currentStatistics, failures: failures,
            unfinished: count.unfinished, inputs: followed?.paths ?? job.input,
            hasNumbered: count.numbered > 0,
            missingFields: count.missingFields, inputWarnings: count.warnings)
    }
}
