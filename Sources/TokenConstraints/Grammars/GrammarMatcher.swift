import OperatingSystem

/// Checks finished texts against a grammar. Safe to use from several threads.
package final class GrammarMatcher: Sendable {
    package enum Verdict: Equatable, Sendable {
        case isText
        /// The grammar doesn't allow the byte at that index.
        case wrong(at: Int)
        /// The text is incomplete.
        case unfinished
        /// The check would take too long.
        case tooCostly
    }

    private let source: GrammarSource
    /// Used by one thread at a time, as a verdict counts its steps.
    private let pushdown = Mutex<Pushdown?>(nil)

    package init(_ source: GrammarSource) { self.source = source }

    /// - Throws: `ConstraintFault` for a grammar that has no texts, or is too large.
    package func verdict(on text: some Sequence<UInt8>) throws(ConstraintFault) -> Verdict {
        try pushdown.withLock { kept throws(ConstraintFault) in
            let pushdown: Pushdown
            if let kept, kept.bytes < ConstraintLimits.writerBytes {
                pushdown = kept
            } else {
                pushdown = Pushdown(try ProductionBuilder.productions(of: source, CompileEffort()))
                kept = pushdown
            }
            return Self.verdict(on: text, pushdown)
        }
    }

    private static func verdict(on text: some Sequence<UInt8>, _ pushdown: Pushdown) -> Verdict {
        let most = pushdown.visits + GrammarLimits.visits
        var state = pushdown.start
        for (place, byte) in text.enumerated() {
            state = pushdown.step(state, byte)
            if state < 0 { return .wrong(at: place) }
            if pushdown.visits > most { return .tooCostly }
        }
        return pushdown.isFinal(state) ? .isText : .unfinished
    }
}
