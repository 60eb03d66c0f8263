/// Counts and distributions of all results together.
package struct ReportStatistics: Sendable {
    /// Results of one outcome.
    package struct Status: Sendable {
        package var name: String
        package var isError: Bool
        package var count = 0
        /// The messages of errors.
        package var messages = CommonValues()
    }

    package private(set) var results = 0
    /// Lines of these results.
    package private(set) var lines = 0
    package private(set) var failed = 0
    package private(set) var promptTokens = 0
    package private(set) var completionTokens = 0
    package private(set) var prompts = Distribution()
    package private(set) var completions = Distribution()
    /// Of each of `ResultTime.all` that is no moment, by its name.
    package private(set) var times: [String: Distribution] = [:]
    /// Seconds from a request's readiness to its end.
    package private(set) var total = Distribution()
    package private(set) var throughput = ThroughputSeries()
    /// Finish reasons and errors in order of appearance.
    package private(set) var statuses: [Status] = []
    package private(set) var funnel: Funnel
    package private(set) var fields = FieldsOfResults()

    /// - Parameter steps: the job's, in order.
    package init(steps: [String] = []) { funnel = Funnel(steps) }

    package mutating func add(_ result: ReportedResult) {
        results += 1
        if result.sample == 0 { lines += 1 }
        if result.isFailed { failed += 1 }
        count(result)
        if let row = result.row { funnel.add(row) }
        fields.add(result.fields)
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

    private mutating func add(_ timing: GenerationResult.Timing, tokens: Int) {
        for time in ResultTime.all where time.unit != .moment {
            guard let value = timing[time] else { continue }
            if time.unit == .rate, value == 0 || timing.running == 0 { continue }
            times[time.name, default: Distribution()].add(value)
        }
        total.add(timing.seconds)
        // Speed counts the tokens that the last run made, not those of an equal request or of earlier runs.
        let speed = timing.tokensPerSecond ?? 0
        let made = timing.running > 0 ? (speed * timing.running).rounded() : speed > 0 ? Double(tokens) : 0
        if let ended = timing.ended {
            throughput.add(
                tokens: made, ended: ended, prefill: timing.prefill ?? 0, decode: timing.decode ?? 0)
        }
    }

    private mutating func count(_ result: ReportedResult) {
        let known = status(of: result)
        let place = known ?? statuses.count
        if known == nil { statuses.append(Status(name: result.status, isError: result.isFailed)) }
        statuses[place].count += 1
        if let message = result.message { statuses[place].messages.add(message) }
    }

    /// The index of a result's status in `statuses`.
    package func status(of result: ReportedResult) -> Int? {
        statuses.firstIndex { $0.name == result.status && $0.isError == result.isFailed }
    }
}

/// Rows made and dropped by each step, and rows left at the end.
package struct Funnel: Sendable, Equatable {
    package struct Step: Sendable, Equatable {
        package var name: String
        package var made = 0
        package var dropped = 0
        /// Rows dropped as similar to an earlier row.
        package var duplicates = 0
    }

    package private(set) var steps: [Step]
    package private(set) var accepted = 0

    /// - Parameter names: the steps in order, as far as known.
    package init(_ names: [String] = []) { steps = names.map { Step(name: $0) } }

    package mutating func add(_ row: StepsResult) {
        let names = row.steps.map(\.name)
        for (number, name) in names.enumerated() {
            steps[place(of: name, before: names[(number + 1)...])].made += 1
        }
        switch row.outcome {
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
package struct CommonValues: Sendable {
    package struct Entry: Sendable, Equatable {
        /// The beginning, if it is long.
        package var text: String
        package var count: Int
    }

    private var entries: [UInt64: Entry] = [:]
    /// Whether all are counted; else counts are lower bounds.
    private var isExact = true

    package init() {}

    /// Number of different texts; nil if unknown.
    package var distinct: Int? { isExact ? entries.count : nil }

    package mutating func add(_ text: String) {
        let name = ReportPrompts.hash(text)
        if let count = entries[name]?.count {
            entries[name]?.count = count + 1
            return
        }
        entries[name] = Entry(text: text.cut(to: 300), count: 1)
        guard entries.count > 512 else { return }
        isExact = false
        // Dropping at least half takes constant time per text.
        let middle = entries.values.map(\.count).sorted()[256]
        entries = entries.filter { $0.value.count > middle }
    }

    /// Returns the most common first; equally common ones in the order of their texts.
    package func top(_ most: Int) -> [Entry] {
        Array(entries.values.sorted { ($1.count, $0.text) < ($0.count, $1.text) }.prefix(most))
    }
}
