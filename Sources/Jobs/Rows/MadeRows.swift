import JSON

/// Lines that a job makes: each a JSON object with an id and its picks, as if a file of them were the input.
struct MadeRows: InputCursor {
    /// As messages name what they come from.
    static let name = "rows"

    private let count: Int
    /// A longer one is not kept.
    private let limit: Int
    /// In the order of their names: a row's bytes don't depend on that of the job.
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
