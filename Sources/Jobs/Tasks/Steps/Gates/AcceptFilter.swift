import FoundationShim
import JSON
import OperatingSystem

/// Decides in the order of the input, independent of timing, which rows are too similar to earlier ones, and when
/// enough are accepted.
struct AcceptFilter {
    /// A step that compares texts, and the texts that passed it, of which it keeps no copy.
    private struct Gate {
        /// Each row's id and text, and the row itself, or what was decided in an earlier run; nil if it ends before.
        var arrivals = InOrder<(id: String, text: String, held: StepRow?, original: String?)?>()
        /// Digests of texts, and the number of each one's row, if equal ones are looked for.
        private var equal: [[UInt8]: Int] = [:]
        private var similar: SimilarTexts?
        private var ids: [String] = []
        /// Number of rows made of one by later steps: they are consecutive, and share one text.
        let below: Int
        /// The last decision, and the branch that it is about.
        var last: (branch: Int, original: String?)?

        init(_ distinctness: Distinctness, below: Int) {
            similar = distinctness.similarity.map { SimilarTexts(similarity: $0) }
            self.below = below
        }

        /// - Parameter isKept: whether it passed in an earlier run, and stays.
        /// - Returns: the id of the first row that it resembles; nil if it passes.
        mutating func original(of text: String, _ id: String, _ position: Int, isKept: Bool = false)
            -> String?
        {
            let branch = position / below
            if let last, last.branch == branch { return last.original }
            let original = find(text, id, isKept: isKept)
            last = (branch, original)
            return original
        }

        /// Finds a similar text; adds this one if there is none.
        private mutating func find(_ text: String, _ id: String, isKept: Bool) -> String? {
            if similar == nil {
                let digest = SHA.sha256(of: text.utf8)
                if let number = equal[digest] { return ids[number] }
                equal[digest] = ids.count
            } else {
                let signature = SimilarTexts.signature(of: text)
                if !isKept, let number = similar?.first(like: signature) { return ids[number] }
                similar?.add(signature)
            }
            ids.append(id)
            return nil
        }
    }

    /// Number of rows that may begin after the first undecided one, which bounds those that wait.
    private static let window = 4096

    private var gates: [Gate]
    /// Nil if all rows of a line are wanted.
    private(set) var quota: RowQuota?
    /// Decisions to act on, each with the id of the row that it resembles; nil if it passes.
    private var decisions: Deque<(row: StepRow, original: String?)> = []
    /// Ended rows: whether they are accepted, and their outcome in this run.
    private var ends = InOrder<(isAccepted: Bool, tally: RowOutcome?)>()
    /// Outcomes of this run's rows, as far as all before them have ended, up to the end.
    private(set) var tally: [RowOutcome: Int] = [:]
    /// Number of accepted rows that is enough; nil for all.
    let wanted: Int?
    private let samples: Int
    /// Accepted rows, as far as all before them have ended.
    private(set) var accepted = 0
    /// The position after enough accepted rows; later rows are not needed.
    private(set) var end: Int?
    /// Number of rows that wait for earlier ones.
    private(set) var heldCount = 0

    /// - Returns: nil if there is nothing to decide.
    init?(_ job: JobSettings) {
        gates = job.steps.enumerated().compactMap { number, step in
            step.distinct.map {
                Gate($0, below: JobStep.rows(of: job.steps[(number + 1)...]))
            }
        }
        (wanted, samples) = (job.selection.ownWanted, job.sampleCount)
        quota = job.untilPerLine.map { [samples] in RowQuota($0, samples: samples) }
        if gates.isEmpty, wanted == nil, quota == nil { return nil }
    }

    /// Whether rows wait for those of earlier lines.
    private var ordersLines: Bool { !gates.isEmpty || wanted != nil }

    /// Whether all rows that are needed have ended.
    var isEnough: Bool { end.map { ends.next >= $0 } ?? false }

    /// The first position that may not begin yet.
    var positionLimit: Int {
        guard ordersLines else { return .max }
        let next = gates.reduce(ends.next) { min($0, $1.arrivals.next) }
        return min(end ?? .max, next + Self.window * (quota?.waitingRows ?? 1))
    }

    var held: [StepRow] { gates.flatMap { $0.arrivals.waiting.compactMap { $0?.held } } }

    // MARK: Rows

    mutating func hold(_ row: StepRow) {
        guard let gate = row.step.compared?.gate else { return }
        heldCount += 1
        gates[gate].arrivals.add((row.label.key.id, row.text, row, nil), at: row.label.position)
        decide()
    }

    /// Notes the end of a row, in this run or an earlier one.
    mutating func ended(_ position: Int, isAccepted: Bool, tally: RowOutcome? = nil) {
        quota?.ended(position, isAccepted: isAccepted)
        guard ordersLines else { return }
        for number in gates.indices { gates[number].arrivals.add(nil, at: position) }
        ends.add((isAccepted, tally), at: position)
        while end.map({ ends.next < $0 }) ?? true, let row = ends.pop() {
            if let tally = row.tally { self.tally[tally, default: 0] += 1 }
            guard row.isAccepted else { continue }
            accepted += 1
            // A line's samples stay together.
            if accepted == wanted { end = ((ends.next - 1) / samples + 1) * samples }
        }
        decide()
    }

    mutating func nextDecision() -> (row: StepRow, original: String?)? { decisions.popFirst() }

    /// Notes a row that ended before this run.
    mutating func take(_ row: PastRow) {
        for (gate, text, original) in row.texts {
            gates[gate].arrivals.add((row.id, text, nil, original), at: row.position)
        }
        ended(row.position, isAccepted: row.isAccepted)
    }

    private mutating func decide() {
        for number in gates.indices {
            while let arrival = gates[number].arrivals.pop() {
                guard let (id, text, held, original) = arrival else { continue }
                let position = gates[number].arrivals.next - 1
                if let held {
                    heldCount -= 1
                    decisions.append((held, gates[number].original(of: text, id, position)))
                } else if let original {
                    gates[number].last = (position / gates[number].below, original)
                } else {
                    _ = gates[number].original(of: text, id, position, isKept: true)
                }
            }
        }
    }

    /// Checks that an output's rows, taken in order, were decided as they would be now.
    /// - Returns: the difference in a row; nil if there is none.
    /// - Parameter failed: earlier rows without a result.
    mutating func fault(in row: PastRow, failed: Set<String>) -> (found: String?, right: String?)? {
        var fault: (String?, String?)?
        for (gate, text, found) in row.texts {
            if let found, failed.contains(found) { continue }
            let right = gates[gate].original(of: text, row.id, row.position)
            if fault == nil, right != found { fault = (found, right) }
        }
        if row.isAccepted { accepted += 1 }
        return fault
    }
}

/// A finished row where texts are compared.
struct PastRow: Sendable {
    let position: Int
    let id: String
    let isAccepted: Bool
    /// The text that each step has compared, and the id of the row that it resembles.
    private(set) var texts: [(gate: Int, text: String, original: String?)] = []

    /// - Parameter fields: the line's.
    init(_ result: GenerationResult?, _ plan: StepPlan, id: String, position: Int, fields: JSONValue?) {
        (self.id, self.position) = (id, position)
        isAccepted = result?.isAccepted ?? false
        guard let result, let steps = result.steps, var fields else { return }
        for step in plan.steps {
            let made = steps.first { $0.name == step.name }
            fields[step.name] = made.map { StepRow.value(of: $0.value) } ?? .null
            let isDropped = result.dropped == step.name
            guard made != nil, !isDropped || result.original != nil, let (template, gate) = step.compared,
                let text = try? template.fill(from: fields)
            else { continue }
            texts.append((gate, text, isDropped ? result.original : nil))
        }
    }
}

/// Numbered elements that come in any order, and leave in order from 0 on.
struct InOrder<Element> {
    /// The number of the next element to leave.
    private(set) var next = 0
    private var early: [Int: Element] = [:]

    /// Adds an element; a repeated one counts once.
    mutating func add(_ element: Element, at number: Int) {
        if number >= next, early[number] == nil { early[number] = element }
    }

    /// - Returns: nil if the next one has not come yet.
    mutating func pop() -> Element? {
        guard let element = early.removeValue(forKey: next) else { return nil }
        next += 1
        return element
    }

    /// Elements that wait for an earlier one.
    var waiting: some Sequence<Element> { early.values }
}

/// The number of accepted rows that ends a line, if the job sets it: further rows are not made.
///
/// A row begins once it is certain that it is needed, as too few of those before it are accepted, or may still be. So
/// none is made in vain, and timing decides nothing.
struct RowQuota {
    enum Need: Equatable {
        case needed, notNeeded
        /// It depends on rows in flight.
        case open
    }

    let wanted: Int
    private let samples: Int
    /// Lines with rows in flight, and how many of their rows ended accepted, and otherwise.
    private var lines: [Int: (accepted: Int, others: Int)] = [:]
    /// Lines whose rows all ended with too few accepted.
    private(set) var shortLines = 0

    init(_ wanted: Int, samples: Int) { (self.wanted, self.samples) = (wanted, samples) }

    /// Number of rows of a line that wait for each that runs.
    var waitingRows: Int { (samples + wanted - 1) / wanted }

    func need(of position: Int) -> Need {
        guard let line = lines[position / samples] else {
            return position % samples < wanted ? .needed : .open
        }
        if position % samples < wanted + line.others { return .needed }
        return line.accepted >= wanted ? .notNeeded : .open
    }

    /// Notes the end of a row, in this run or an earlier one.
    mutating func ended(_ position: Int, isAccepted: Bool) {
        var line = lines.removeValue(forKey: position / samples) ?? (0, 0)
        if isAccepted { line.accepted += 1 } else { line.others += 1 }
        if line.accepted + line.others < samples {
            lines[position / samples] = line
        } else if line.accepted < wanted {
            shortLines += 1
        }
    }
}
