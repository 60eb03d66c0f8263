/// Says which rows go into the next step, and how carefully room is given away. A plain value: what has
/// happened goes in, what to do comes out.
///
/// Every sequence that has its prompt in the cache decodes one row a step; beside them, the prompts of
/// newcomers are prefilled in chunks, oldest first.
package struct Scheduler: Sendable {
    /// What one sequence brings into a step: its next `rows` rows; after the last one a token is chosen
    /// if `samples`.
    package struct Part: Sendable, Equatable {
        /// Among the running sequences.
        package var place: Int
        package var rows: Int
        package var samples: Bool
    }

    package let workers: Int
    /// The most prefill rows of a step; a step has at most `workers + prefillChunk` rows.
    package let prefillChunk: Int
    /// How much of `prefillChunk` is used: less on a slow machine, so that a step stays short and a run
    /// can be stopped between two of them.
    private var chunk: Int
    private var lastPrefill = 0

    /// A newcomer begins only if it and the others can still grow by so many tokens. More after one had to
    /// give way: what it computed may have to be computed again.
    package private(set) var lookahead: Int
    private let leastLookahead: Int
    private static let mostLookahead = 1 << 14

    package init(workers: Int, prefillChunk: Int, lookahead: Int = 64) {
        precondition(workers > 0 && prefillChunk > 0)
        self.lookahead = lookahead
        leastLookahead = lookahead
        self.workers = workers
        self.prefillChunk = prefillChunk
        chunk = prefillChunk
    }

    /// As many rows a step as make arithmetic the limit, not the reading of the weights: more of them
    /// where more threads share the memory's bandwidth. Fewer are admitted if the KV cache has no room
    /// for so many.
    package static func automaticWorkers(threads: Int) -> Int { min(128, max(32, 4 * threads)) }

    /// How many may begin before an older one that waits for a prefix, until it is waited for.
    package var overtakingLimit: Int { 4 * workers }

    /// A sequence had to give way.
    package mutating func gaveWay() { lookahead = min(max(1, 2 * lookahead), Self.mostLookahead) }

    /// A sequence came to its end: every eighth of the caution goes with it.
    package mutating func finished() { lookahead = max(lookahead * 7 / 8, leastLookahead) }

    /// The rows of the next step.
    /// - Parameter open: for each running sequence, oldest first, the rows that are still to be sent: one in a
    ///   completion, more in a prompt.
    package mutating func nextStep(_ open: some Sequence<Int>) -> [Part] {
        var parts: [Part] = []
        parts.reserveCapacity(workers)
        var room = chunk
        lastPrefill = 0
        for (place, open) in open.enumerated() {
            if open <= 1 {
                parts.append(Part(place: place, rows: 1, samples: true))
            } else if room > 0 {
                let rows = min(open, room)
                room -= rows
                lastPrefill += rows
                parts.append(Part(place: place, rows: rows, samples: rows == open))
            }
        }
        return parts
    }

    /// Adapts the chunk to the time of the last step. Results don't depend on it.
    package mutating func stepTook(_ seconds: Double) {
        if seconds > 1 && lastPrefill > 32 {
            chunk = min(prefillChunk, max(32, min(chunk, lastPrefill) / 2))
        } else if seconds < 0.4 && lastPrefill == chunk {
            chunk = min(prefillChunk, chunk * 2)
        }
    }
}
