extension JobSettings {
    /// Counts the lines of the input that a run would take up: all that are not blank, and no half line at an end.
    /// - Parameter goesOn: asked from time to time.
    /// - Returns: nil if the input is, or includes, stdin or another thing that can be read but once, or if the count
    ///   was not to go on.
    /// - Throws: `UserError` if a file can't be read.
    package func countLines(while goesOn: () -> Bool = { true }) throws -> Int? {
        if let rows { return selection.count(of: rows) }
        guard try canReadTwice() else { return nil }
        var reader = inputReader(columns: ["error"])
        var count = 0
        while let line = try reader.next() {
            if line.isHalf { continue }
            if errorLines == .skip, carriesError(line) { continue }
            count += 1
            if count % 16 == 0, !goesOn() { return nil }
        }
        return selection.count(of: count)
    }

    private func carriesError(_ line: InputRecord) -> Bool {
        guard line.has("\"error\"") else { return false }
        return (try? line.content()).flatMap { PreviousStep.error(in: $0.fields) } != nil
    }

    /// Whether the input is files alone, or made.
    package func canReadTwice() throws -> Bool {
        try input.allSatisfy { path in
            try path != "-" && FileSystem.real.infoIfPresent(path).map { $0.kind == .regular } ?? true
        }
    }
}

extension InputRecord {
    fileprivate func has(_ text: StaticString) -> Bool {
        bytes.withUnsafeBytes { text.firstOffset(in: $0) != nil }
    }
}
