import FoundationShim
import JSON
import OperatingSystem

/// What is decided of rows in the order of the input, whichever is ready first: which are too much like earlier ones,
/// and when enough are accepted. So what comes of them does not depend on timing.
struct AcceptFilter {
    /// What is known of a row where texts are compared.
    private enum Arrival {
        case row(HeldRow)
        /// It was decided in an earlier run.
        case decided(PastRow, PastRow.Text)
        /// It does not get there.
        case absent
    }

    /// A step that compares texts.
    private struct Gate {
        var arrivals = InOrder<Arrival>()
        var kept: AcceptedTexts
        /// How many rows have come of one by the steps after it: they follow each other, and have one text.
        let below: Int
        /// What was decided last, and of which of these.
        var last: (branch: Int, original: String?)?

        /// - Parameter isKept: it passed in an earlier run, and stays.
        /// - Returns: the id of the row that it is like; nil if it passes.
        mutating func original(of text: String, _ id: String, _ position: Int, isKept: Bool = false)
            -> String?
        {
            let branch = position / below
            if let last, last.branch == branch { return last.original }
            let original = kept.take(text, of: id, isKept: isKept)
            last = (branch, original)
            return original
        }
    }

    struct Decision {
        var row: HeldRow
        /// The id of the row that it is like; nil of one that passes.
        var original: String?
    }

    /// How far beyond the first row that is not decided others may begin, so that what waits stays bounded.
    private static let window = 4096

    private var gates: [Gate]
    /// Nil where all rows of a line are wanted.
    private(set) var quota: RowQuota?
    /// What was decided, and is to be acted on.
    private var decisions: Queue<Decision> = []
    /// Rows that have come to their end: whether they are accepted, and what this run counts them as.
    private var ends = InOrder<(isAccepted: Bool, tally: RowOutcome?)>()
    /// What became of rows in this run, so far as all before them have come to their end, up to where it is enough.
    private(set) var tally: [RowOutcome: Int] = [:]
    /// How many accepted rows are enough; nil where all are wanted.
    let wanted: Int?
    private let samples: Int
    /// Accepted rows, so far as all before them have come to their end.
    private(set) var accepted = 0
    /// Enough rows are accepted before this position, and those from here on are not needed.
    private(set) var end: Int?
    /// How many rows wait for earlier ones.
    private(set) var heldCount = 0

    /// - Returns: nil if nothing is decided so.
    init?(_ job: JobSettings) {
        gates = job.steps.enumerated().compactMap { number, step in
            step.distinct.map {
                Gate(kept: AcceptedTexts($0), below: RowBranch.rows(of: job.steps[(number + 1)...]))
            }
        }
        (wanted, samples) = (job.selection.ownWanted, job.sampleCount)
        quota = job.untilPerLine.map { [samples] in RowQuota($0, samples: samples) }
        if gates.isEmpty, wanted == nil, quota == nil { return nil }
    }

    /// Whether rows wait for those of lines before theirs.
    private var ordersLines: Bool { !gates.isEmpty || wanted != nil }

    /// Whether all rows that are needed have come to their end.
    var isEnough: Bool { end.map { ends.next >= $0 } ?? false }

    /// Rows from this position on may not begin yet.
    var positionLimit: Int {
        guard ordersLines else { return .max }
        let next = gates.reduce(ends.next) { min($0, $1.arrivals.next) }
        return min(end ?? .max, next + Self.window * (quota?.waitingRows ?? 1))
    }

    var held: [HeldRow] {
        gates.flatMap { gate in
            gate.arrivals.waiting.compactMap { if case .row(let row) = $0 { row } else { nil } }
        }
    }

    // MARK: Rows

    mutating func hold(_ row: HeldRow) {
        heldCount += 1
        gates[row.gate].arrivals.add(.row(row), at: row.position)
        decide()
    }

    /// A row has come to its end, or was at it before this run.
    mutating func ended(_ position: Int, isAccepted: Bool, tally: RowOutcome? = nil) {
        quota?.ended(position, isAccepted: isAccepted)
        guard ordersLines else { return }
        for number in gates.indices { gates[number].arrivals.add(.absent, at: position) }
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

    mutating func nextDecision() -> Decision? { decisions.popFirst() }

    /// A row was at its end before this run.
    mutating func take(_ row: PastRow) {
        for text in row.texts {
            gates[text.gate].arrivals.add(.decided(row, text), at: row.position)
        }
        ended(row.position, isAccepted: row.isAccepted)
    }

    private mutating func decide() {
        for number in gates.indices {
            while let arrival = gates[number].arrivals.pop() {
                switch arrival {
                case .row(let row):
                    heldCount -= 1
                    let original = gates[number].original(of: row.text, row.id, row.position)
                    decisions.append(Decision(row: row, original: original))
                case .decided(let row, let text):
                    if let original = text.original {
                        gates[number].last = (row.position / gates[number].below, original)
                    } else {
                        _ = gates[number].original(of: text.text, row.id, row.position, isKept: true)
                    }
                case .absent: break
                }
            }
        }
    }

    /// Whether the rows of an output were decided as they would be now. They come in their order.
    /// - Returns: what is wrong with the row; nil if nothing is.
    /// - Parameter failed: rows before it that have no result.
    mutating func fault(in row: PastRow, failed: Set<String>) -> (found: String?, right: String?)? {
        var fault: (String?, String?)?
        for text in row.texts {
            if let original = text.original, failed.contains(original) { continue }
            let original = gates[text.gate].original(of: text.text, row.id, row.position)
            if fault == nil, original != text.original { fault = (text.original, original) }
        }
        if row.isAccepted { accepted += 1 }
        return fault
    }
}

/// A row whose way on is decided once all rows before it have got as far.
package struct HeldRow: Sendable {
    let row: StepRow
    /// Which of the steps that compare texts it is.
    let gate: Int
    let text: String

    var label: WorkLabel { row.label }
    var position: Int { label.position }
    var id: String { label.key.id }

    /// What comes of it.
    /// - Parameter original: the id of the row that it is too much like; nil if it passes.
    func decided(_ original: String?) -> WorkOutcome { row.compared(with: original) }

    /// As an earlier result says.
    func decided(as result: (any TaskResult)?) -> WorkOutcome {
        let known = result as? StepsResult
        return decided(known?.dropped == row.step.name ? known?.original : nil)
    }

    /// What is saved of it while it waits.
    var record: InFlightRecord {
        var record = InFlightRecord(key: label.key, tokens: [])
        record.row = row.savedSteps
        return record
    }
}

/// What a finished row says where texts are compared.
package struct PastRow: Sendable {
    struct Text: Sendable {
        var gate: Int
        var text: String
        /// The row that it was found to be like.
        var original: String?
    }

    var position: Int
    var id: String
    var isAccepted: Bool
    /// One for each step that has compared it.
    var texts: [Text] = []

    /// - Parameter fields: the line's.
    init(_ result: (any TaskResult)?, _ plan: StepPlan, id: String, position: Int, fields: JSONValue?) {
        (self.id, self.position) = (id, position)
        isAccepted = result?.isAccepted ?? false
        guard let result = result as? StepsResult, let fields else { return }
        texts = plan.comparedTexts(of: result, fields)
    }
}

/// Things that come in any order, each with its number, and are given out by their numbers from 0 on.
struct InOrder<Element> {
    /// The number of the next one that is given out.
    private(set) var next = 0
    private var early: [Int: Element] = [:]

    /// Takes one. What comes twice counts once.
    mutating func add(_ element: Element, at number: Int) {
        if number >= next, early[number] == nil { early[number] = element }
    }

    /// - Returns: nil if the next one has not come yet.
    mutating func pop() -> Element? {
        guard let element = early.removeValue(forKey: next) else { return nil }
        next += 1
        return element
    }

    /// Those that wait for an earlier one.
    var waiting: some Sequence<Element> { early.values }
}

/// The texts of rows that a step let pass, so far as is needed to find one that is like another: not the texts.
struct AcceptedTexts {
    private enum Texts {
        /// Their digests, and the number of the row of each.
        case equal([[UInt8]: Int])
        case similar(SimilarTexts)
    }

    private var texts: Texts
    private var ids: [String] = []

    init(_ distinctness: Distinctness) {
        texts = distinctness.similarity.map { .similar(SimilarTexts(similarity: $0)) } ?? .equal([:])
    }

    /// Takes a text, unless there is one that is like it.
    /// - Parameter isKept: it passed in an earlier run, and stays.
    /// - Returns: the id of the first row whose text it is like; nil if it is taken.
    mutating func take(_ text: String, of id: String, isKept: Bool = false) -> String? {
        switch texts {
        case .equal(var known):
            texts = .equal([:])
            defer { texts = .equal(known) }
            let digest = SHA.sha256(of: text.utf8)
            if let number = known[digest] { return ids[number] }
            known[digest] = ids.count
        case .similar(var known):
            let signature = MinHash(text)
            if !isKept, let number = known.first(like: signature) { return ids[number] }
            texts = .equal([:])
            known.add(signature)
            texts = .similar(known)
        }
        ids.append(id)
        return nil
    }
}

/// How many accepted rows of a line are enough, where a job says so: then the others are not made.
///
/// A row begins once it is certain that it is needed: fewer of those before it are accepted, or may yet be. So none is
/// made in vain, and which ones are made does not depend on which is ready first.
struct RowQuota {
    enum Need: Equatable {
        case needed, notNeeded
        /// It depends on rows that are under way.
        case open
    }

    /// What is known of a line of which not all rows have come to their end.
    private struct Line {
        var accepted = 0
        /// Those that came to their end without.
        var others = 0
    }

    let wanted: Int
    private let samples: Int
    private var lines: [Int: Line] = [:]
    /// Lines of which all rows have come to their end, and fewer are accepted.
    private(set) var shortLines = 0

    init(_ wanted: Int, samples: Int) { (self.wanted, self.samples) = (wanted, samples) }

    /// How many rows of a line wait for each that runs.
    var waitingRows: Int { (samples + wanted - 1) / wanted }

    func need(of position: Int) -> Need {
        guard let line = lines[position / samples] else {
            return position % samples < wanted ? .needed : .open
        }
        if position % samples < wanted + line.others { return .needed }
        return line.accepted >= wanted ? .notNeeded : .open
    }

    /// A row has come to its end, or was at it before this run.
    mutating func ended(_ position: Int, isAccepted: Bool) {
        var line = lines.removeValue(forKey: position / samples) ?? Line()
        if isAccepted { line.accepted += 1 } else { line.others += 1 }
        if line.accepted + line.others < samples {
            lines[position / samples] = line
        } else if line.accepted < wanted {
            shortLines += 1
        }
    }
}
