import BatchPipeline
import Errors

/// State of a job, why, and what to do next.
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
    /// A command that a run does not refuse, or what must come before one.
    var next: Message?

    /// - Parameters:
    ///   - job: nil if the output alone is known.
    ///   - total: the results that the job will have, if that is known.
    ///   - freshness: nil if nothing is there, or it can't be told.
    ///   - command: what runs the job.
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
                let failures = status.failures
                let allowed = failures.map {
                    (job?.maxFailures ?? $0.limit).allowed(of: (total ?? status.done) / (job?.samples ?? 1))
                }
                kind = failures.map(\.lines) ?? 0 > allowed ?? 0 ? .failed : .complete
                if kind == .failed {
                    reason =
                        "\(counted(failures?.lines ?? 0, "line")) failed; max_failures allows \(allowed ?? 0)"
                    next =
                        "mend the lines and run \(command) again, do them again with redo --failed, or allow more with --max-failures"
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
        // `--limit` leaves lines without results although the input is the same.
        if changed == 0, gone == 0 {
            return "results are missing: \(new), of lines that came later or that --limit left"
        }
        let counts = [(new, "new"), (changed, "changed"), (gone, "gone")].filter { $0.0 > 0 }
        return
            "the input has changed; results: \(counts.map { "\($0.0) \($0.1)" as Message }.joined(separator: ", "))"
    }

    /// Why a run would be refused, and what would not be; nil if it just goes on.
    fileprivate func obstacle(to command: Message) -> (reason: Message, next: Message)? {
        let settings: Message =
            "settings differ: \(changes.map { "\($0)" as Message }.joined(separator: "; "))"
        let again: Message =
            (concernsSteps ? "makes only what the changed steps concern again" : "begins again")
            + "; what is there stays under another name"
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
