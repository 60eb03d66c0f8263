/// Says which rows go into the next step, and how carefully room is given away. A plain value: what has
/// happened goes in, what to do comes out.
///
/// Every sequence that has its prompt in the cache decodes a row a step, or more where a constraint leaves no
/// choice between them; beside them, the prompts of newcomers are prefilled in chunks, oldest first.
package struct Scheduler: Sendable {
    /// What one running sequence has to send.
    package struct PendingRows: Sendable {
        package var rows: Int
        /// They are of its completion.
        package var isCompletion: Bool
        /// They are of a sequence that goes through a part of another one: even a single row may wait.
        package var isPart = false

        package init(rows: Int, isCompletion: Bool) {
            self.rows = rows
            self.isCompletion = isCompletion
        }
    }

    /// What one sequence brings into a step: its next `rows` rows; after the last one a token is chosen
    /// if `samples`.
    package struct ScheduledRows: Sendable, Equatable {
        /// Among the running sequences.
        package var place: Int
        package var rows: Int
        package var samples: Bool
        /// They are no chunk of a prompt.
        package var decodes: Bool
    }

    /// The most that run together.
    package let workers: Int
    /// The most prefill rows of a step, and of rows that come with others of their completion; a step has at most
    /// `workers + prefillChunk` rows.
    package let prefillChunk: Int
    /// How much of `prefillChunk` is used: less on a slow machine, so that a step stays short and a run
    /// can be stopped between two of them.
    private var chunk: Int
    /// What the last step used of it.
    private var lastUse = 0

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
    /// - Parameter open: what each running sequence has to send, one row at least, oldest first.
    package mutating func nextStep(_ open: some Sequence<PendingRows>) -> [ScheduledRows] {
        var parts: [ScheduledRows] = []
        parts.reserveCapacity(workers)
        var room = chunk
        // A completion always brings a row, and before prompts take the chunk, the others that it has.
        for decodes in [true, false] {
            for (place, open) in open.enumerated()
            where (open.isCompletion || open.rows == 1 && !open.isPart) == decodes {
                let certain = decodes ? 1 : 0
                let rows = min(open.rows, certain + room)
                guard rows > 0 else { continue }
                room -= rows - certain
                parts.append(
                    ScheduledRows(place: place, rows: rows, samples: rows == open.rows, decodes: decodes))
            }
        }
        lastUse = chunk - room
        parts.sort { $0.place < $1.place }
        return parts
    }

    /// Adapts the chunk to the time of the last step. Results don't depend on it.
    package mutating func stepTook(_ seconds: Double) {
        if seconds > 1 && lastUse > 32 {
            chunk = min(prefillChunk, max(32, min(chunk, lastUse) / 2))
        } else if seconds < 0.4 && lastUse == chunk {
            chunk = min(prefillChunk, chunk * 2)
        }
    }
}
