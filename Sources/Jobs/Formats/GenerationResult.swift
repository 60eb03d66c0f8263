/// Result of one sample of a line, independent of the output's format. The log stores it, and a `ResultFormat`
/// writes it.
package struct GenerationResult: Sendable, Equatable {
    package enum Content: Sendable {
        case made(any TaskResult)
        case failed(Failure)
    }

    package var content: Content
    /// The only part that differs between two runs of a job; nil if it was not measured.
    package var timing: Timing?
    package var kept: [CarriedValue]

    package static func == (a: Self, b: Self) -> Bool {
        ResultCoding.bytes(of: a) == ResultCoding.bytes(of: b)
    }

    package init(_ made: any TaskResult, timing: Timing? = nil, kept: [CarriedValue] = []) {
        (content, self.timing, self.kept) = (.made(made), timing, kept)
    }

    private init(_ failure: Failure, _ kept: [CarriedValue]) {
        (content, self.kept) = (.failed(failure), kept)
    }

    package static func failure(_ failure: Failure, kept: [CarriedValue] = []) -> Self { Self(failure, kept) }

    /// A field copied from the line.
    package struct CarriedValue: Sendable, Equatable {
        package var name: String
        package var json: String
    }

    package struct Failure: Sendable {
        package var error: LineError
        /// The input's file; nil if there is only one.
        package var file: String?
        /// Line number in its file, from 1.
        package var line: Int
        /// The answer that broke its constraint; nil if there is none.
        package var text: String?

        package init(_ error: LineError, file: String? = nil, line: Int, text: String? = nil) {
            (self.error, self.file, self.line, self.text) = (error, file, line, text)
        }
    }

    /// The task's result; nil if it failed.
    package var made: (any TaskResult)? {
        if case .made(let made) = content { made } else { nil }
    }

    package var isFailed: Bool { made == nil }

    package var completionTokens: Int { made?.completionTokens ?? 0 }

    /// Without the part that differs between two runs of a job.
    package var withoutTiming: GenerationResult {
        var result = self
        result.timing = nil
        return result
    }
}
