import JSON

extension JobSettings {
    /// The input's name in messages if the job makes its lines.
    static let rowsName = "rows"

    /// Returns a source of lines that the job makes: JSON objects with an id and picked fields, as if read from a file.
    /// Nil if the job reads an input.
    /// - Parameter limit: a longer line is not kept.
    func madeRows(limit: Int) -> RecordSource? {
        guard let rows else { return nil }
        // Rows beyond the selection change nothing here.
        let count = selection.reach(in: rows)
        // Sorted by name, so that a row's bytes don't depend on the job's order.
        let picks = pick.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            .map { (pick: $0, stream: $0.stream(seed: request.seed ?? 0)) }
        var number = 0
        return {
            guard number < count else { return nil }
            number += 1
            let writer = JSONWriter.object { writer in
                writer.string("id", "row-\(number)")
                for (pick, stream) in picks {
                    writer.raw(pick.name, pick.value(ofRow: number, stream: stream))
                }
            }
            return InputRecord(writer.bytes, number: number, limit: limit)
        }
    }
}
