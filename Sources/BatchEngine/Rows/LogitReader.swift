/// Some of a step's rows of logits.
package struct LogitPiece {
    /// Which of the rows that were asked for, from 0.
    package let rows: Range<Int>
    /// [rows][stride]
    package let logits: UnsafeMutablePointer<Float>
    /// Room for as many floats.
    package let scratch: UnsafeMutablePointer<Float>
    package let stride: Int
    /// Logits of a row.
    package let count: Int

    package init(
        rows: Range<Int>, logits: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>,
        stride: Int, count: Int
    ) {
        self.rows = rows
        self.logits = logits
        self.scratch = scratch
        self.stride = stride
        self.count = count
    }

    /// The same, where others come before them.
    package func moved(by count: Int) -> LogitPiece {
        LogitPiece(
            rows: rows.lowerBound + count..<rows.upperBound + count, logits: logits, scratch: scratch,
            stride: stride, count: self.count)
    }

    package func row(_ number: Int) -> UnsafeMutablePointer<Float> {
        logits + (number - rows.lowerBound) * stride
    }
}

/// Threads that share work.
package protocol Workers: Sendable {
    /// Calls `body` with 0 ..< count, each index once; returns when all are done.
    func run(_ count: Int, _ body: (Int) -> Void)
}

extension StepInput {
    /// After how many tokens, counted from the last one backwards, something is asked.
    var logitRows: Int {
        precondition(targetRows <= tokens.count && samplings.count <= tokens.count)
        return max(targetRows, samplings.count)
    }
}

/// Makes a step's answers of its rows of logits, as they come.
package final class LogitReader {
    /// What is asked about a row.
    private struct Row {
        var input: Int
        var targets: ArraySlice<Int32>
        /// The place of the first among the input's targets.
        var place: Int
        var sampling: SamplingRequest?
        /// Which of the input's choices it gives.
        var number = 0
        /// Its token, if that is a guess.
        var guess: Int32?
    }

    package let sampler: Sampler
    private let workers: any Workers
    private let maskThread = MaskThread()
    private var rows: [Row] = []
    private var masks: StepMasks?
    package private(set) var answers: [StepAnswer] = []
    /// What all reading so far took.
    package private(set) var seconds = 0.0

    package init(_ sampler: Sampler, _ workers: any Workers) {
        self.sampler = sampler
        self.workers = workers
    }

    /// Prepares for the rows of these inputs. From now on their masks are made.
    package func begin(_ inputs: [StepInput]) {
        answers = inputs.map {
            StepAnswer(logprobs: Array(repeating: .nan, count: $0.targets.count))
        }
        rows.removeAll(keepingCapacity: true)
        var hasConstraint = false
        for (number, input) in inputs.enumerated() {
            let count = input.logitRows
            let targets = Array(input.targets)
            var place = 0
            for row in 0..<count {
                let asked = row - (count - input.targetRows)
                let range = asked < 0 ? 0..<0 : input.targetRange(ofRow: asked, from: place)
                place = range.upperBound
                let choice = row - (count - input.samplings.count)
                if choice >= 0, input.samplings[choice].constraint != nil { hasConstraint = true }
                rows.append(
                    Row(
                        input: number, targets: targets[range], place: range.lowerBound,
                        sampling: choice < 0 ? nil : input.samplings[choice], number: choice,
                        guess: choice > 0 ? input.tokens[input.tokens.endIndex - count + row] : nil))
            }
        }
        // Left over if the last step failed.
        masks?.drop()
        masks = hasConstraint ? maskThread.begin(rows.map { $0.sampling?.constraint }) : nil
    }

    /// Takes the rows that come next.
    package func read(_ piece: LogitPiece) {
        var clock = Stopwatch()
        defer { seconds += clock.lap() }
        var found = [(choice: TokenChoice?, logprobs: [Float])](
            repeating: (nil, []), count: piece.rows.count)
        let (rows, sampler, masks) = (rows, sampler, masks)
        found.withUnsafeMutableBufferPointer { found in
            nonisolated(unsafe) let found = found
            workers.run(piece.rows.count) { number in
                let place = piece.rows.lowerBound + number
                let logits = UnsafePointer(piece.row(place))
                guard FiniteLogits.check(logits, count: piece.count) else {
                    if rows[place].sampling != nil { found[number].choice = TokenChoice(fault: .notFinite) }
                    return
                }
                let scratch = piece.scratch + number * piece.stride
                if !rows[place].targets.isEmpty {
                    let softmax = sampler.softmax(logits, count: piece.count, scratch: scratch)
                    found[number].logprobs = rows[place].targets.map { softmax.logprob(logits[Int($0)]) }
                }
                if let sampling = rows[place].sampling {
                    found[number].choice = sampler.choose(
                        logits, count: piece.count, scratch: scratch, request: sampling,
                        mask: masks?.mask(of: place))
                }
            }
        }
        for (place, found) in zip(piece.rows, found) {
            let input = rows[place].input
            // None where a logit is not finite.
            for (offset, logprob) in found.logprobs.enumerated() {
                answers[input].logprobs[rows[place].place + offset] = logprob
            }
            guard let choice = found.choice else { continue }
            answers[input].append(choice, after: rows[place].guess, number: rows[place].number)
        }
    }
}
