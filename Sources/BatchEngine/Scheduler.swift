/// Selects the rows of the next pass, and limits admission. A plain value: events go in, decisions come out.
///
/// Each sequence whose prompt is in the cache decodes one row a pass, or more if a constraint forces tokens. The
/// prompts of new sequences are prefilled in chunks beside them, oldest first.
package struct Scheduler: Sendable {
    /// Rows that a running sequence has to send.
    package struct PendingRows: Sendable {
        package var rows: Int
        /// Whether the rows are of its completion.
        package var isCompletion: Bool
        /// Whether the sequence computes a part of another one, so that even a single row may wait.
        package var isPart = false

        /// Whether the rows are not a chunk of a prompt.
        var decodes: Bool { isCompletion || rows == 1 && !isPart }
    }

    /// The most sequences that run together.
    package let workers: Int
    /// The most rows of prefill, and of completions beyond their first, in a pass. A pass has at most `workers +
    /// prefillChunk` rows.
    package let prefillChunk: Int
    /// Part of `prefillChunk` in use. On a slow machine it shrinks so that passes stay short, as a run can be stopped
    /// only between passes.
    private var chunk: Int
    /// Rows of it that the last pass used.
    private var lastUse = 0

    /// Tokens by which a new sequence and all others must still be able to grow at admission. It rises after a
    /// preemption, which may cause work to be repeated.
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

    /// Returns the number of rows per pass at which arithmetic is the limit, not reading the weights. It grows with the
    /// threads that share the memory's bandwidth. Fewer sequences are admitted if the KV cache is too small.
    package static func automaticWorkers(threads: Int) -> Int { min(128, max(32, 4 * threads)) }

    /// Sequences that may be admitted before an older one that waits for a prefix; after them, admission waits for it.
    package var overtakingLimit: Int { 4 * workers }

    /// Records a preemption.
    package mutating func gaveWay() { lookahead = min(max(1, 2 * lookahead), Self.mostLookahead) }

    /// Records the end of a sequence; the lookahead falls by an eighth.
    package mutating func finished() { lookahead = max(lookahead * 7 / 8, leastLookahead) }

    /// Returns the number of rows of each running sequence in the next pass, which may be 0 for prompts. A token is
    /// sampled where none are left.
    /// - Parameter open: pending rows of each, at least one, oldest first.
    package mutating func nextStep(_ open: [PendingRows]) -> [Int] {
        var step = Array(repeating: 0, count: open.count)
        var room = chunk
        // First each completion's next row, and its further ones; prompts take the rest of the chunk.
        for decodes in [true, false] {
            let certain = decodes ? 1 : 0
            for place in open.indices where open[place].decodes == decodes {
                step[place] = min(open[place].rows, certain + room)
                room -= step[place] - certain
            }
        }
        lastUse = chunk - room
        return step
    }

    /// Adapts the chunk to the duration of the last pass. Results don't depend on it.
    package mutating func passTook(_ seconds: Double) {
        if seconds > 1 && lastUse > 32 {
            chunk = min(prefillChunk, max(32, min(chunk, lastUse) / 2))
        } else if seconds < 0.4 && lastUse == chunk {
            chunk = min(prefillChunk, chunk * 2)
        }
    }
}
