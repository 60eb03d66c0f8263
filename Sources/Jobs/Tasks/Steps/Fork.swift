import BatchEngine
import JSON

/// Where a row becomes several, each of which goes on by itself. What is before it they have in common: they ask for the
/// same, with the same random streams, and it is computed once.
struct Fork: Sendable {
    /// How many rows come of one.
    let count: Int
    /// How many rows come of each of these, by the steps after this.
    let below: Int
    /// Which makes a list that has an item for each row; nil where the rows differ by their random streams alone.
    let items: LineTemplate?

    /// - Throws: `JobError` if the list is malformed.
    init(of step: JobStep, before later: ArraySlice<JobStep>) throws {
        count = step.samples
        below = Self.rows(of: later)
        items = try step.each.map { try LineTemplate("each (\(step.name))", "{{ \($0) | tojson }}") }
    }

    /// How many rows come of one by these steps.
    static func rows(of steps: ArraySlice<JobStep>) -> Int { steps.reduce(1) { $0 * $1.samples } }

    /// Which of the line's rows up to this step a row is one of, from 0. Those of one line follow each other, and so it
    /// holds for the positions of all lines' rows, too.
    func branch(of row: Int) -> Int { row / below }

    /// The item of one of the line's rows; nil if the list is shorter, or there is none.
    /// - Throws: `LineError` if it is no list.
    func item(of row: Int, in fields: JSONValue) throws(LineError) -> JSONValue? {
        guard let text = try items?.fill(from: fields) else { return nil }
        guard case .array(let list)? = try? JSONValue(parsing: Array(text.utf8), limits: .line) else {
            throw LineError(.templateError, "each must be a list, but is \(text.prefix(64)).")
        }
        let place = branch(of: row) % count
        guard place < list.count else { return Optional.none }
        return list[place]
    }
}
