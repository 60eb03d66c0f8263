import BatchPipeline
import JSON

/// Counts and distributions of all results together, in constant memory.
struct ReportStatistics {
    /// Results of one outcome.
    struct Status {
        var name: String
        var isError: Bool
        var count = 0
        /// The messages of errors.
        var messages = CommonValues()
    }

    private(set) var results = 0
    /// Lines of these results.
    private(set) var lines = 0
    private(set) var failed = 0
    private(set) var promptTokens = 0
    private(set) var completionTokens = 0
    private(set) var prompts = Distribution()
    private(set) var completions = Distribution()
    /// Of each of `ResultTime.all` that is no moment, by its name; and in all, from a request's readiness to its end.
    private(set) var times: [String: Distribution] = [:]
    private(set) var throughput = ThroughputSeries()
    /// Finish reasons and errors in order of appearance.
    private(set) var statuses: [Status] = []
    private(set) var funnel: Funnel
    /// Fields in order of appearance; at most 64, as an answer may have any.
    private(set) var fields: [FieldStatistics] = []
    private(set) var areFieldsCut = false

    /// - Parameter steps: the job's, in order.
    init(steps: [String] = []) { funnel = Funnel(steps) }

    mutating func add(_ result: ReportedResult) {
        results += 1
        if result.sample == 0 { lines += 1 }
        if result.isFailed { failed += 1 }
        let known = status(of: result)
        let place = known ?? statuses.count
        if known == nil { statuses.append(Status(name: result.status, isError: result.isFailed)) }
        statuses[place].count += 1
        if let message = result.message { statuses[place].messages.add(message) }
        if let outcome = result.result.outcome { funnel.add(result.result, outcome) }
        add(result.fields)
        if let tokens = result.promptTokens {
            // The samples of a line have one prompt.
            if result.sample == 0 { promptTokens &+= tokens }
            prompts.add(Double(tokens))
        }
        if let tokens = result.completionTokens {
            completionTokens &+= tokens
            completions.add(Double(tokens))
        }
        if let timing = result.timing { add(timing, tokens: result.completionTokens ?? 0) }
    }

    private mutating func add(_ timing: JSONObject, tokens: Int) {
        let running = ResultTime.running(timing)
        for time in ResultTime.all where time.unit != .moment {
            guard let value = timing[time.name]?.number else { continue }
            if time.unit == .rate, value == 0 || running == 0 { continue }
            times[time.name, default: Distribution()].add(value)
        }
        times["total", default: Distribution()].add(ResultTime.seconds(timing))
        // Speed counts the tokens that the last run made, not those of an equal request or of earlier runs.
        let speed = timing["tokens_per_second"]?.number ?? 0
        let made = running > 0 ? (speed * running).rounded() : speed > 0 ? Double(tokens) : 0
        if let ended = timing["ended"]?.number {
            throughput.add(
                tokens: made, ended: ended, prefill: timing["prefill"]?.number ?? 0,
                decode: timing["decode"]?.number ?? 0)
        }
    }

    /// The index of a result's status in `statuses`.
    func status(of result: ReportedResult) -> Int? {
        statuses.firstIndex { $0.name == result.status && $0.isError == result.isFailed }
    }

    mutating func add(_ values: [ReportedField]) {
        for (number, field) in values.enumerated() {
            // Most results have the same ones in the same order.
            let isNext = number < fields.count && fields[number].isOf(field)
            if let place = isNext ? number : fields.firstIndex(where: { $0.isOf(field) }) {
                fields[place].add(field.value)
            } else if fields.count < 64 {
                fields.append(FieldStatistics(path: field.path, isOfLine: field.isOfLine))
                fields[fields.count - 1].add(field.value)
            } else {
                areFieldsCut = true
            }
        }
    }
}

/// Statistics of one field's values in all results.
struct FieldStatistics {
    let path: [String]
    let isOfLine: Bool
    private(set) var count = 0
    /// Names of the values' kinds, in order of appearance.
    private(set) var kinds: [String] = []
    /// The most common texts, numbers, booleans and nulls.
    private(set) var values = CommonValues()
    private(set) var numbers = Distribution()
    private(set) var areWhole = true
    /// Characters of texts, and elements of lists.
    private(set) var lengths = Distribution()

    init(path: [String], isOfLine: Bool) { (self.path, self.isOfLine) = (path, isOfLine) }

    func isOf(_ field: ReportedField) -> Bool { field.isOfLine == isOfLine && field.path == path }

    mutating func add(_ value: JSONValue) {
        count += 1
        let kind: String
        switch value {
        case .object: kind = "object"
        case .array(let list):
            kind = "list"
            lengths.add(Double(list.count))
        case .string(let text):
            kind = "text"
            values.add(text)
            lengths.add(Double(text.unicodeScalars.count))
        case .null, .bool, .int, .number:
            kind = value == .null ? "null" : value.number == nil ? "boolean" : "number"
            values.add(JSONWriter.text(of: value))
            guard let number = value.number else { break }
            numbers.add(number)
            if value.integer == nil { areWhole = false }
        }
        if !kinds.contains(kind) { kinds.append(kind) }
    }
}

/// Rows made and dropped by each step, and rows left at the end.
struct Funnel {
    struct Step: Equatable {
        var name: String
        var made = 0
        var dropped = 0
        /// Rows dropped as similar to an earlier row.
        var duplicates = 0
    }

    private(set) var steps: [Step]
    private(set) var accepted = 0

    /// - Parameter names: the steps in order, as far as known.
    init(_ names: [String]) { steps = names.map { Step(name: $0) } }

    mutating func add(_ row: GenerationResult, _ outcome: RowOutcome) {
        let names = row.steps?.map(\.name) ?? []
        for (number, name) in names.enumerated() {
            steps[place(of: name, before: names[(number + 1)...])].made += 1
        }
        switch outcome {
        case .accepted: accepted += 1
        // It never got there.
        case .dropped(_, .noItem): break
        case .dropped(let name, let reason):
            let place = place(of: name, before: [])
            steps[place].dropped += 1
            if reason == .duplicate { steps[place].duplicates += 1 }
        }
    }

    /// Inserts a new step before those that follow in the row.
    private mutating func place(of name: String, before later: ArraySlice<String>) -> Int {
        if let place = steps.firstIndex(where: { $0.name == name }) { return place }
        let place = steps.firstIndex { later.contains($0.name) } ?? steps.count
        steps.insert(Step(name: name), at: place)
        return place
    }
}

/// Counts of the most common texts; rare ones are dropped if there are very many.
struct CommonValues {
    /// The texts, or their beginnings, by their hashes.
    private var counts: [UInt64: (text: String, count: Int)] = [:]
    /// Whether all are counted; else counts are lower bounds.
    private var isExact = true

    /// Number of different texts; nil if unknown.
    var distinct: Int? { isExact ? counts.count : nil }

    mutating func add(_ text: String) {
        let hash = Array(text.utf8).withUnsafeBytes { Checksum.crc64($0) }
        counts[hash, default: (text.cut(to: 300), 0)].count += 1
        guard counts.count > 512 else { return }
        isExact = false
        // Dropping at least half takes constant time per text.
        let middle = counts.values.map(\.count).sorted()[256]
        counts = counts.filter { $0.value.count > middle }
    }

    /// Returns the most common first; equally common ones in the order of their texts.
    func top(_ most: Int) -> [(text: String, count: Int)] {
        Array(counts.values.sorted { ($1.count, $0.text) < ($0.count, $1.text) }.prefix(most))
    }
}
