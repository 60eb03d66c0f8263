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

    package init(_ made: any TaskResult, timing: Timing? = nil, kept: [CarriedValue] = []) {
        content = .made(made)
        self.timing = timing
        self.kept = kept
    }

    private init(_ failure: Failure, _ kept: [CarriedValue]) {
        content = .failed(failure)
        self.kept = kept
    }

    package static func failure(_ failure: Failure, kept: [CarriedValue] = []) -> GenerationResult {
        GenerationResult(failure, kept)
    }

    /// A field copied from the line.
    package struct CarriedValue: Sendable, Equatable {
        package var name: String
        package var json: String
    }

    package struct Failure: Sendable, Equatable {
        package var error: LineError
        /// The input's file; nil if there is only one.
        package var file: String?
        /// Line number in its file, from 1.
        package var line: Int
        /// The answer that broke its constraint; nil if there is none.
        package var text: String?

        package init(_ error: LineError, file: String? = nil, line: Int, text: String? = nil) {
            self.error = error
            self.file = file
            self.line = line
            self.text = text
        }
    }

    /// The task's result; nil if it failed.
    package var made: (any TaskResult)? {
        if case .made(let made) = content { made } else { nil }
    }

    package var isFailed: Bool { made == nil }
    /// Whether a step dropped it.
    var isDropped: Bool { made.map { !$0.isAccepted } ?? false }

    package var completionTokens: Int { made?.completionTokens ?? 0 }

    /// Without the part that differs between two runs of a job.
    package var withoutTiming: GenerationResult {
        var result = self
        result.timing = nil
        return result
    }
}

extension GenerationResult.Content: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.made(let a), .made(let b)): a.isEqual(to: b)
        case (.failed(let a), .failed(let b)): a == b
        default: false
        }
    }
}
