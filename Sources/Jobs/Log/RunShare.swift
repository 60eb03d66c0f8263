import Errors

/// Number of an output's results that one run has made, or others with its settings.
package struct RunShare: Sendable, Equatable {
    /// The digest of its fingerprint.
    package var run: String
    package var results: Int
    /// Fingerprint of the run; nil if nobody knows any more.
    package var fingerprint: RunFingerprint?

    /// Differences to the results of another run, each with its value there and here.
    package func changes(to now: RunFingerprint) -> [String] {
        guard run != now.digest else { return [] }
        return fingerprint.map { now.changes(from: $0) } ?? [RunFingerprint.unknown]
    }
}

extension [RunShare] {
    /// With what is known of the runs, those of the run at hand first.
    func described(by known: (String) -> RunFingerprint?, first digest: String?) -> [RunShare] {
        map { RunShare(run: $0.run, results: $0.results, fingerprint: known($0.run)) }
            .sorted { ($0.run == digest ? 0 : 1, $0.run) < ($1.run == digest ? 0 : 1, $1.run) }
    }

    /// A sentence each, where results were not all made with the same settings; else none.
    /// - Parameter now: what is compared with; nil if that is not known.
    package func sentences(comparedWith now: RunFingerprint?) -> [Message] {
        guard count > 1 || now != nil && contains(where: { $0.run != now?.digest }) else { return [] }
        return map { share in
            let what: Message
            if share.run.isEmpty {
                what = "with \(RunFingerprint.unknown)"
            } else if let now {
                let changes = share.changes(to: now).map { "\($0)" as Message }.joined(separator: "; ")
                what =
                    share.run == now.digest
                    ? "with these settings" : "with other settings; changed since: \(changes)"
            } else {
                what = "by run \(share.run)"
            }
            let verb = share.results == 1 ? "was" : "were"
            return "\(counted(share.results, "result")) \(verb) made \(what)"
        }
    }
}
