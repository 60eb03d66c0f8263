/// Says which rows go into the next step. A plain value: what has happened goes in, what to do comes out.
///
/// Requests are admitted strictly in the order of their arrival, so none can be overtaken for ever. Every
/// admitted request that has its prompt in the cache decodes one row a step; beside them, the prompts of
/// newcomers are prefilled in chunks, first come first served.
public struct Scheduler: Sendable {
    /// What one request brings into a step: its next `rows` rows; behind the last one a token is chosen
    /// if `samples`.
    public struct Part: Sendable, Equatable {
        public var request: Int
        public var rows: Int
        public var samples: Bool
    }

    private struct Running {
        var request: Int
        /// Rows still to be prefilled; 0 while decoding.
        var prefill: Int
    }

    public let workers: Int
    /// The most prefill rows of a step; a step has at most `workers + prefillChunk` rows.
    public let prefillChunk: Int
    /// How much of `prefillChunk` is used: less on a slow machine, so that a step stays short and a run
    /// can be stopped between two of them.
    private var chunk: Int
    private var running: [Running] = []
    private var lastPrefill = 0
    /// The model said `.later`: until a step is done or somebody leaves, asking again is in vain.
    private var waits = false

    public init(workers: Int, prefillChunk: Int) {
        precondition(workers > 0 && prefillChunk > 0)
        self.workers = workers
        self.prefillChunk = prefillChunk
        chunk = prefillChunk
    }

    public var isIdle: Bool { running.isEmpty }
    public var runningCount: Int { running.count }
    /// Whether the first in line may be offered to the model.
    public var canAdmit: Bool { running.count < workers && !waits }

    /// - Parameter rows: prompt rows not yet in the cache, at least 1.
    public mutating func admit(_ request: Int, rows: Int) {
        precondition(canAdmit && rows > 0)
        running.append(Running(request: request, prefill: rows))
    }

    /// The model had no room for the first in line.
    public mutating func postpone() { waits = true }

    public mutating func release(_ request: Int) {
        running.removeAll { $0.request == request }
        waits = false
    }

    /// The rows of the next step, counted as done.
    public mutating func nextStep() -> [Part] {
        var parts: [Part] = []
        var room = chunk
        lastPrefill = 0
        // A prefix that another request is filling may be there after this step.
        waits = false
        for index in running.indices {
            let open = running[index].prefill
            if open == 0 {
                parts.append(Part(request: running[index].request, rows: 1, samples: true))
            } else if room > 0 {
                let rows = min(open, room)
                room -= rows
                lastPrefill += rows
                running[index].prefill -= rows
                parts.append(Part(request: running[index].request, rows: rows, samples: rows == open))
            }
        }
        return parts
    }

    /// Adapts the chunk to the time of the last step. Results don't depend on it.
    public mutating func stepTook(_ seconds: Double) {
        if seconds > 1 && lastPrefill > 32 {
            chunk = min(prefillChunk, max(32, min(chunk, lastPrefill) / 2))
        } else if seconds < 0.4 && lastPrefill == chunk {
            chunk = min(prefillChunk, chunk * 2)
        }
    }
}
