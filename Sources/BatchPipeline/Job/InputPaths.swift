import Foundations

extension JobSettings {
    /// The input's files: paths, and in the place of a pattern such as `data/*.jsonl` what matches it, in the order of
    /// the names. A file may well be called as a pattern is.
    package mutating func findInputs() {
        input = inputPatterns.flatMap { Self.isPattern($0) ? Files.matching($0) : [$0] }
    }

    private static func isPattern(_ path: String) -> Bool {
        path.utf8.contains { "*?[".utf8.contains($0) } && Files.kind(of: path) == nil
    }

    /// - Throws: `JobError` if the job names no input, or only patterns that nothing matches.
    func checkInputIsThere(_ kind: JobError.Kind, file: String?) throws {
        if awaitsInput, !inputPatterns.isEmpty { return }
        for pattern in inputPatterns where Self.isPattern(pattern) && Files.matching(pattern).isEmpty {
            throw JobError(.missingInput, at: pattern, "no file matches this pattern.")
        }
        guard input.isEmpty else { return }
        throw JobError(
            kind, at: file, "input is missing; give it in the job file (`input: ...`) or as --input.")
    }
}
