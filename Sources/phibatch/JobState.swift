import BatchPipeline
import Foundations

/// Where a job stands, why, and what to do next.
struct JobState {
    enum Kind: String {
        case waiting, running, stopped, failed, complete
        case outOfDate = "out of date"

        /// The program's exit code.
        var code: Int32 {
            switch self {
            case .complete: 0
            case .waiting: 10
            case .running: 11
            case .stopped: 12
            case .failed: 13
            case .outOfDate: 14
            }
        }
    }

    let kind: Kind
    /// Nil where there is nothing to say.
    var reason: Message?
    var next: Message?

    /// - Parameters:
    ///   - job: nil if the output alone is known.
    ///   - total: the results that the job will have, if that is known.
    ///   - freshness: of a finished output; nil if it can't be told.
    ///   - command: what runs the job.
    init(_ status: JobStatus, job: JobSettings?, total: Int?, freshness: JobFreshness?, command: Message) {
        switch status.state {
        case .running:
            kind = .running
            reason = status.holder.map { "\($0.description)" }
        case .notStarted:
            kind = .waiting
            reason = "no run has begun"
            next = "\(command) begins"
        case .stopped:
            let samples = job?.samples ?? 1
            let lines = (total ?? status.progress?.resultsTotal).map { $0 / samples }
            let allowed = (job?.maxFailures ?? .count(0)).allowed(of: lines ?? 0) * samples
            let isTried = total.map { status.done >= $0 } ?? false
            if status.failed > allowed, isTried || job?.maxFailures != nil {
                kind = .failed
                reason = "\(status.failed) results failed; max_failures allows \(allowed)"
                next =
                    "mend the lines and run \(command) again (only they are redone), or allow more with --max-failures"
            } else {
                kind = .stopped
                reason =
                    isTried
                    ? "all is done, but not put in place yet" : "a run ended before the end of the input"
                next = "\(command) goes on"
            }
        case .complete:
            guard let freshness, !freshness.isFresh else {
                kind = .complete
                return
            }
            kind = .outOfDate
            if !freshness.changes.isEmpty {
                reason = "settings differ: \(freshness.changes.joined(separator: "; "))"
                next = "\(command) with --if-changed keep or --if-changed restart"
            } else {
                let counts = [
                    (freshness.new, "new"), (freshness.changed, "changed"), (freshness.gone, "gone"),
                ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
                reason = "the input has changed; results: \(counts)"
                next = "\(command) does what is new"
            }
        }
    }
}
