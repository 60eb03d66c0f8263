/// What a report says of all results together.
package struct ReportStatistics: Sendable {
    /// Results that ended in the same way.
    package struct Status: Sendable {
        package var name: String
        package var isError: Bool
        package var count = 0
        /// Those of errors.
        package var messages = CommonValues()
    }

    package private(set) var results = 0
    /// Lines that these results are of.
    package private(set) var lines = 0
    package private(set) var failed = 0
    package private(set) var promptTokens = 0
    package private(set) var completionTokens = 0
    package private(set) var prompts = Distribution()
    package private(set) var completions = Distribution()
    // Seconds.
    package private(set) var queued = Distribution()
    package private(set) var prefill = Distribution()
    package private(set) var decode = Distribution()
    package private(set) var total = Distribution()
    /// Completion tokens a second of each result alone.
    package private(set) var speed = Distribution()
    package private(set) var throughput = ThroughputSeries()
    /// Results of which a part was made by an earlier run, when nobody measured it.
    package private(set) var resumed = 0
    /// Finish reasons, and after them errors; each by the first that came.
    package private(set) var statuses: [Status] = []
    package private(set) var funnel: Funnel
    package private(set) var fields = FieldsOfResults()
    package private(set) var model: String?
    private var places: [String: Int] = [:]
    /// How many error codes and finish reasons are told apart; files of others may have any.
    private static let statusLimit = 200

    /// - Parameter steps: the job's, in their order.
    package init(steps: [String] = []) { funnel = Funnel(steps) }

    package mutating func add(_ result: ReportedResult) {
        results += 1
        if result.sample == 0 { lines += 1 }
        if result.isFailed { failed += 1 }
        if model == nil { model = result.model }
        count(result)
        funnel.add(result)
        fields.add(result.fields)
        if let tokens = result.promptTokens, tokens >= 0 {
            // The samples of a line have one prompt.
            if result.sample == 0 { promptTokens = Self.sum(promptTokens, tokens) }
            prompts.add(Double(tokens))
        }
        if let tokens = result.completionTokens ?? result.lineCompletionTokens, tokens >= 0 {
            completionTokens = Self.sum(completionTokens, tokens)
            if result.completionTokens != nil { completions.add(Double(tokens)) }
        }
        if let timing = result.timing { add(timing, tokens: result.completionTokens ?? 0) }
    }

    private static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, isOver) = a.addingReportingOverflow(b)
        return isOver ? .max : sum
    }

    private mutating func add(_ timing: GenerationResult.Timing, tokens: Int) {
        queued.add(timing.queued)
        prefill.add(timing.prefill)
        decode.add(timing.decode)
        total.add(timing.seconds)
        let running = timing.prefill + timing.decode
        // The speed is of the tokens that the last run made.
        var made = Double(tokens)
        if timing.tokensPerSecond == 0 {
            // Those of an equal request, or of earlier runs.
            made = 0
        } else if running > 0 {
            speed.add(timing.tokensPerSecond)
            let measured = (timing.tokensPerSecond * running).rounded()
            if measured < made - max(1, made * 0.02) {
                made = measured
                resumed += 1
            }
        }
        if let ended = timing.ended {
            throughput.add(tokens: made, ended: ended, prefill: timing.prefill, decode: timing.decode)
        }
    }

    private mutating func count(_ result: ReportedResult) {
        let place = place(of: result.status, result.isFailed)
        statuses[place].count += 1
        if result.isFailed { statuses[place].messages.add(result.message ?? "") }
    }

    private mutating func place(of name: String, _ isError: Bool) -> Int {
        let key = (isError ? "e" : "r") + name
        if let place = places[key] { return place }
        if statuses.count >= Self.statusLimit, name != "others" { return place(of: "others", isError) }
        places[key] = statuses.count
        statuses.append(Status(name: name, isError: isError))
        return statuses.count - 1
    }

    /// The place of a result's status in `statuses`.
    package func status(of result: ReportedResult) -> Int {
        places[(result.isFailed ? "e" : "r") + result.status]
            ?? places[(result.isFailed ? "e" : "r") + "others"] ?? 0
    }
}

extension GenerationResult.Timing {
    /// From when the request was ready to its end.
    package var seconds: Double { queued + prefill + decode }
}

/// How far rows that have steps got: of each step how many rows it made and dropped, and how many came through.
package struct Funnel: Sendable, Equatable {
    package struct Step: Sendable, Equatable {
        package var name: String
        package var made = 0
        package var dropped = 0
        /// Those of the dropped that were too much like an earlier row.
        package var duplicates = 0
    }

    package private(set) var steps: [Step]
    package private(set) var accepted = 0
    /// How many steps are told apart; files of others may have any.
    private static let stepLimit = 200

    /// - Parameter names: the steps in their order, as far as it is known.
    package init(_ names: [String] = []) { steps = names.map { Step(name: $0) } }

    /// - Parameter row: a result that has steps; others count nowhere.
    package mutating func add(_ row: ReportedResult) {
        guard let outcome = row.outcome else { return }
        for (number, name) in row.steps.enumerated() {
            steps[place(of: name, before: row.steps[(number + 1)...])].made += 1
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

    /// A step that is new comes before those that come later in the row, as it may have been passed over so far.
    private mutating func place(of name: String, before later: ArraySlice<String>) -> Int {
        if let place = steps.firstIndex(where: { $0.name == name }) { return place }
        if steps.count >= Self.stepLimit, name != "others" { return place(of: "others", before: []) }
        let place = steps.firstIndex { later.contains($0.name) } ?? steps.count
        steps.insert(Step(name: name), at: place)
        return place
    }
}

/// How often texts come, of which there may be very many: those that come most often are counted, and others let go.
package struct CommonValues: Sendable {
    package struct Entry: Sendable, Equatable {
        /// The beginning, if it is long.
        package var text: String
        package var count: Int
    }

    private static let limit = 512
    private static let textLimit = 300

    private var entries: [UInt64: Entry] = [:]
    /// All are counted. If not, counts are the least that they can be.
    package private(set) var isExact = true

    package init() {}

    /// How many there are; nil if that is not known.
    package var distinct: Int? { isExact ? entries.count : nil }

    package mutating func add(_ text: String) {
        let name = ReportPrompts.hash(text)
        let count = entries[name]?.count ?? 0
        if count > 0 {
            entries[name]?.count = count + 1
            return
        }
        entries[name] = Entry(text: ReportPrompts.cut(text, to: Self.textLimit), count: 1)
        guard entries.count > Self.limit else { return }
        isExact = false
        // At least half of them go, so that it takes little time in all.
        let middle = entries.values.map(\.count).sorted()[Self.limit / 2]
        entries = entries.filter { $0.value.count > middle }
    }

    /// The most common first; of equals, in the order of their texts.
    package func top(_ most: Int) -> [Entry] {
        let sorted = entries.values.sorted { ($1.count, $0.text) < ($0.count, $1.text) }
        return Array(sorted.prefix(most))
    }
}
