import JSON

extension JobSettings {
    static let rowsRange = 1...1_000_000_000

    /// An error of the rows that the job makes, as a sentence of its own; nil if all is well.
    var rowsProblem: String? {
        guard rows != nil else {
            return pick.isEmpty
                ? nil
                : "pick needs rows in place of an input: a job makes its lines (`rows: 1000` or --rows 1000), or reads them."
        }
        if !input.isEmpty || !inputPatterns.isEmpty {
            return "rows and input are both given; the job makes its lines, or reads them: keep one."
        }
        if inputFormat != InputFormat.auto {
            return "input_format says how an input is read, and with rows there is none; leave it out."
        }
        if idField != nil {
            return
                "id names a field of lines that are read, and rows have ids of their own (row-1, row-2, ...); leave it out."
        }
        if let step = steps.first(where: { step in pick.contains { $0.name == step.name } }) {
            return "pick: \(step.name) is the name of a step, too."
        }
        return nil
    }

    /// Reads the job's lines, or makes them: JSON objects with an id and picked fields, as if read from a file.
    /// - Parameters:
    ///   - limit: a longer record is only measured.
    ///   - columns: fields that are read; nil for all.
    ///   - follow: for an input that is read while it grows.
    package func inputReader(
        limit: Int = InputReader.defaultLimit, columns: Set<String>? = nil, follow: FollowedInput? = nil
    ) -> InputReader {
        guard let rows else {
            return InputReader(
                paths: input, format: inputFormat, limit: limit, columns: columns, follow: follow)
        }
        // Rows beyond the selection change nothing here.
        let count = selection.reach(in: rows)
        // Sorted by name, so that a row's bytes don't depend on the job's order.
        let picks = pick.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            .map { (pick: $0, stream: $0.stream(seed: request.seed ?? 0)) }
        var number = 0
        return InputReader("rows") {
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
