import BatchEngine

/// Some of a step's rows of logits.
struct LogitPiece {
    /// Which of the rows that were asked for, from 0.
    var rows: Range<Int>
    /// [rows][stride]
    let logits: UnsafeMutablePointer<Float>
    let stride: Int
    /// Logits of a row.
    let count: Int

    func row(_ number: Int) -> UnsafeMutablePointer<Float> {
        logits + (number - rows.lowerBound) * stride
    }
}

extension StepInput {
    /// After how many tokens, counted from the last one backwards, something is asked.
    var logitRows: Int {
        precondition(targets.count <= tokens.count)
        return max(targets.count, sampling == nil ? 0 : 1)
    }
}

/// Makes a step's answers of its rows of logits, as they come.
final class LogitReader {
    /// What is asked about a row.
    private struct Row {
        var input: Int
        /// Its place among the input's targets.
        var place: Int?
        var target: Int32?
        var sampling: SamplingRequest?
    }

    private let sampler: Sampler
    private let pool: ComputePool
    private let scratch = Buffer<Float>()
    private let maskThread = MaskThread()
    private var rows: [Row] = []
    private var masks: StepMasks?
    private(set) var answers: [StepAnswer] = []
    /// What all reading so far took.
    private(set) var seconds = 0.0

    init(_ sampler: Sampler, _ pool: ComputePool) {
        self.sampler = sampler
        self.pool = pool
    }

    /// Prepares for the rows of these inputs. From now on their masks are made.
    func begin(_ inputs: [StepInput]) {
        answers = inputs.map {
            StepAnswer(logprobs: Array(repeating: .nan, count: $0.targets.count))
        }
        rows = inputs.enumerated().flatMap { number, input in
            let count = input.logitRows
            let targets = Array(input.targets)
            return (0..<count).map { row in
                let place = row - (count - targets.count)
                return Row(
                    input: number, place: place < 0 ? nil : place, target: place < 0 ? nil : targets[place],
                    sampling: row == count - 1 ? input.sampling : nil)
            }
        }
        // Left over if the last step failed.
        masks?.drop()
        masks = maskThread.begin(rows.map { $0.sampling?.constraint })
    }

    /// - Throws: `ModelError` if there is no memory.
    func read(_ piece: LogitPiece) throws(ModelError) {
        var clock = Stopwatch()
        defer { seconds += clock.lap() }
        try scratch.reserve(piece.rows.count * piece.stride)
        let scratch = scratch.pointer
        var found = [(choice: TokenChoice?, logprob: Float)](
            repeating: (nil, .nan), count: piece.rows.count)
        let (rows, sampler, masks) = (rows, sampler, masks)
        found.withUnsafeMutableBufferPointer { found in
            nonisolated(unsafe) let found = found
            pool.run(piece.rows.count) { number in
                let place = piece.rows.lowerBound + number
                let row = rows[place]
                let logits = UnsafePointer(piece.row(place))
                guard FiniteLogits.check(logits, count: piece.count) else {
                    if row.sampling != nil { found[number].choice = TokenChoice(fault: .notFinite) }
                    return
                }
                let scratch = scratch + number * piece.stride
                if let target = row.target {
                    found[number].logprob = sampler.softmax(logits, count: piece.count, scratch: scratch)
                        .logprob(logits[Int(target)])
                }
                if let sampling = row.sampling {
                    found[number].choice = sampler.choose(
                        logits, count: piece.count, scratch: scratch, request: sampling,
                        mask: masks?.mask(of: place))
                }
            }
        }
        for (row, (choice, logprob)) in zip(rows[piece.rows], found) {
            if let place = row.place { answers[row.input].logprobs[place] = logprob }
            if row.sampling != nil { answers[row.input].choice = choice }
        }
    }
}
