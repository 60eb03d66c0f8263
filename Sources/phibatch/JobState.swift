import BatchPipeline
import Errors

/// State of a job, its reason, and the next action.
struct JobState {
    enum Phase: String {
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

    let kind: Phase
    /// Nil if there is nothing to say.
    var reason: Message?
    /// A command that is not refused, or what must come before it.
    var next: Message?

    /// - Parameters:
    ///   - job: nil if only the output is known.
    ///   - total: number of results of the whole job, if known.
    ///   - freshness: nil if there are no results, or it is unknown.
    ///   - command: the command that runs the job.
    init(_ status: JobStatus, job: JobSettings?, total: Int?, freshness: JobFreshness?, command: Message) {
        let obstacle = freshness?.obstacle(to: command)
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
            if let obstacle {
                kind = .stopped
                (reason, next) = obstacle
            } else if status.failed > allowed, isTried || job?.maxFailures != nil {
                kind = .failed
                reason = "\(status.failed) results failed; max_failures allows \(allowed)"
                next =
                    "correct the lines and run \(command) again (only they are redone), or raise --max-failures"
            } else {
                kind = .stopped
                reason =
                    isTried
                    ? "all is done, but not put in place yet" : "a run ended before the end of the input"
                next = "\(command) goes on"
            }
        case .complete:
            guard let freshness, !freshness.isFresh else {
                let failures = status.failures
                let allowed = failures.map {
                    (job?.maxFailures ?? $0.limit).allowed(of: (total ?? status.done) / (job?.samples ?? 1))
                }
                kind = failures.map(\.lines) ?? 0 > allowed ?? 0 ? .failed : .complete
                if kind == .failed {
                    reason =
                        "\(counted(failures?.lines ?? 0, "line")) failed; max_failures allows \(allowed ?? 0)"
                    next =
                        "correct the lines and run \(command) again, repeat them with redo --failed, or raise --max-failures"
                }
                return
            }
            kind = .outOfDate
            (reason, next) =
                obstacle
                ?? (freshness.whatDiffers, "\(command) does what is new")
        }
    }
}

extension JobFreshness {
    fileprivate var whatDiffers: Message {
        if let rewrite, new == 0, changed == 0, gone == 0 { return rewrite }
        // `--limit` leaves lines without results.
        if changed == 0, gone == 0 {
            return "results are missing: \(new), of new lines or lines beyond --limit"
        }
        let counts = [(new, "new"), (changed, "changed"), (gone, "gone")].filter { $0.0 > 0 }
        return
            "the input has changed; results: \(counts.map { "\($0.0) \($0.1)" as Message }.joined(separator: ", "))"
    }

    /// Returns why a run would be refused, and a command that wouldn't be; nil if it just resumes.
    fileprivate func obstacle(to command: Message) -> (reason: Message, next: Message)? {
        let settings: Message =
            "settings differ: \(changes.map { "\($0)" as Message }.joined(separator: "; "))"
        let again: Message =
            (concernsSteps ? "repeats only what the change concerns" : "begins again")
            + "; earlier results stay under another name"
        if let unknown {
            let option: Message = concernsSteps ? "--if-changed restart" : "--restart"
            return (changes.isEmpty ? unknown : settings, "\(command) \(option) \(again)")
        }
        if hasNoLines {
            return (
                "the input has no lines", "give it lines; an input without lines never replaces results"
            )
        }
        if !changes.isEmpty {
            let prune = losesTooMany ? " --prune" as Message : ""
            return (
                settings,
                "\(command) --if-changed keep\(prune) does what is left with these settings; "
                    + "\(command) --if-changed restart \(again)"
            )
        }
        guard losesTooMany else { return nil }
        return (
            whatDiffers,
            "\(command) --prune does what is new, and lets those that are gone go from the output"
        )
    }
}
