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
