import JSON

/// Lines that a job makes: JSON objects with an id and picked fields, as if read from a file.
struct MadeRows: InputCursor {
    /// The input's name in messages.
    static let name = "rows"

    private let count: Int
    /// A longer line is not kept.
    private let limit: Int
    /// Sorted by name, so that a row's bytes don't depend on the job's order.
    private let picks: [(pick: Pick, stream: UInt64)]
    private var number = 0

    init(_ count: Int, _ picks: [Pick], seed: Int, limit: Int) {
        (self.count, self.limit) = (count, limit)
        self.picks = picks.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            .map { ($0, $0.stream(seed: seed)) }
    }

    mutating func next() -> InputRecord? {
        guard number < count else { return nil }
        number += 1
        let writer = JSONWriter.object { writer in
            writer.string("id", "row-\(number)")
            for (pick, stream) in picks {
                writer.raw(pick.name, pick.value(ofRow: number, stream: stream))
            }
        }
        let isKept = writer.bytes.count <= limit
        return InputRecord(
            bytes: isKept ? writer.bytes : [], excessLength: isKept ? nil : writer.bytes.count, number: number
        )
    }

    func content(of record: InputRecord) throws(LineError) -> LineContent {
        LineContent(fields: try PromptRecord.parseObject(record.bytes))
    }
}
