import CPhiKernels
import Errors

/// Some of a pass's rows of logits.
package struct LogitPiece {
    /// Indices among the pass's rows with logits.
    package let rows: Range<Int>
    /// [rows][stride]
    package let logits: UnsafeMutablePointer<Float>
    /// Room for as many floats.
    package let scratch: UnsafeMutablePointer<Float>
    package let stride: Int
    /// Number of logits in a row.
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

    /// Returns the same piece with other rows before it.
    package func moved(by count: Int) -> LogitPiece {
        LogitPiece(
            rows: rows.lowerBound + count..<rows.upperBound + count, logits: logits, scratch: scratch,
            stride: stride, count: self.count)
    }

    package func row(_ number: Int) -> UnsafeMutablePointer<Float> {
        logits + (number - rows.lowerBound) * stride
    }

    /// Whether all logits of a row are finite; else the largest is not the likeliest token. Takes microseconds, against
    /// milliseconds for computing the row.
    package func isFinite(_ number: Int) -> Bool {
        row(number).withMemoryRebound(to: UInt8.self, capacity: 4 * count) {
            phi_find_not_finite($0, UInt32(PHI_F32), count) == count
        }
    }
}

extension PassInput {
    /// Number of rows at the end whose logits are needed.
    var logitRows: Int {
        precondition(targetRows <= tokens.count && samplings.count <= tokens.count)
        return max(targetRows, samplings.count)
    }
}

/// Makes a pass's answers from its rows of logits as they arrive.
package final class LogitReader {
    /// Questions about a row, and their answers.
    private struct Row {
        var input: Int
        /// Indices among the input's targets.
        var targets: Range<Int>
        /// Index among the input's choices; negative if none.
        var choice: Int
        /// Its token, if that is a draft token.
        var draft: Int32?
        var found: SampledToken?
        var logprobs: [Float] = []
        var top: [TokenLogprob] = []
    }

    package let sampler: Sampler
    /// Calls a function with 0 ..< count, each index once, on threads that share the work.
    private let workers: (_ count: Int, (Int) -> Void) -> Void
    private let maskThread = MaskThread()
    private var inputs: [PassInput] = []
    private var rows: [Row] = []
    private var masks: PassMasks?
    package private(set) var answers: [PassAnswer] = []
    /// Time of all reading so far.
    package private(set) var seconds = 0.0

    package init(_ sampler: Sampler, _ workers: @escaping (_ count: Int, (Int) -> Void) -> Void) {
        self.sampler = sampler
        self.workers = workers
    }

    /// Prepares for the rows of these inputs, and starts making their masks.
    package func begin(_ inputs: [PassInput]) {
        answers = inputs.map {
            var answer = PassAnswer(logprobs: Array(repeating: .nan, count: $0.targets.count))
            if $0.alternatives > 0 { answer.alternatives = $0.targets.map { _ in [] } }
            return answer
        }
        self.inputs = inputs
        rows.removeAll(keepingCapacity: true)
        var hasConstraint = false
        // Binding an input to a name would copy it.
        for number in inputs.indices {
            let count = inputs[number].logitRows
            var place = 0
            for row in 0..<count {
                let asked = row - (count - inputs[number].targetRows)
                let range = asked < 0 ? 0..<0 : inputs[number].targetRange(ofRow: asked, from: place)
                place = range.upperBound
                let choice = row - (count - inputs[number].samplings.count)
                if choice >= 0, inputs[number].samplings[choice].isConstrained { hasConstraint = true }
                let tokens = inputs[number].tokens
                rows.append(
                    Row(
                        input: number, targets: range, choice: choice,
                        draft: choice > 0 ? tokens[tokens.endIndex - count + row] : nil))
            }
        }
        // Left over if the last pass failed.
        masks?.drop()
        masks = hasConstraint ? maskThread.begin(rows.map { sampling(of: $0)?.constraint }) : nil
    }

    /// Releases inputs and answers, whose storage the sequences share.
    package func end() {
        (inputs, answers, masks) = ([], [], nil)
        rows.removeAll(keepingCapacity: true)
    }

    private func sampling(of row: Row) -> SamplingRequest? {
        row.choice < 0 ? nil : inputs[row.input].samplings[row.choice]
    }

    /// Takes the next rows.
    package func read(_ piece: LogitPiece) {
        let start = Moment.now
        defer { seconds += .now - start }
        let (inputs, sampler, masks) = (inputs, sampler, masks)
        rows.withUnsafeMutableBufferPointer { buffer in
            nonisolated(unsafe) let rows = buffer
            workers(piece.rows.count) { number in
                let place = piece.rows.lowerBound + number
                // Binding a row to a name would copy it.
                let (input, range, choice) = (rows[place].input, rows[place].targets, rows[place].choice)
                let logits = piece.row(place)
                guard piece.isFinite(place) else {
                    if choice >= 0 { rows[place].found = SampledToken(fault: .notFinite) }
                    return
                }
                let scratch = piece.scratch + number * piece.stride
                if !range.isEmpty {
                    let targets = inputs[input].targets.dropFirst(range.lowerBound)
                    let wanted = targets.prefix(range.count).map { logits[Int($0)] }
                    let top = sampler.largest(
                        logits, count: piece.count, keep: inputs[input].alternatives
                    )
                    .map { (id: Int32($0), logit: logits[$0]) }
                    // In place if nobody needs the logits any more: that touches less memory.
                    let softmax = sampler.softmax(
                        logits, count: piece.count, scratch: choice < 0 ? logits : scratch)
                    rows[place].logprobs = wanted.map { softmax.logprob($0) }
                    rows[place].top = top.map {
                        TokenLogprob(id: $0.id, logprob: softmax.logprob($0.logit))
                    }
                }
                if choice >= 0 {
                    rows[place].found = sampler.choose(
                        logits, count: piece.count, scratch: scratch,
                        request: inputs[input].samplings[choice], mask: masks?.mask(of: place))
                }
            }
        }
        for row in rows[piece.rows] {
            // None if a logit is not finite.
            for (offset, logprob) in row.logprobs.enumerated() {
                answers[row.input].logprobs[row.targets.lowerBound + offset] = logprob
                if !row.top.isEmpty {
                    answers[row.input].alternatives[row.targets.lowerBound + offset] = row.top
                }
            }
            if let choice = row.found {
                answers[row.input].append(choice, after: row.draft, number: row.choice)
            }
        }
    }
}
