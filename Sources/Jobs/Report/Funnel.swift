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
