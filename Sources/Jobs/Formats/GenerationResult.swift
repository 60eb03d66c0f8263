/// What came of one piece of work, whatever an output will look like. The journal stores it; a `ResultFormat` makes
/// bytes of an output of it.
package struct GenerationResult: Sendable, Equatable {
    package enum Content: Sendable {
        case made(any TaskResult)
        case failed(Failure)
    }

    package var content: Content
    /// The only part that differs between two runs of a job; nil if nobody measured it.
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

    /// A field of the line, carried along.
    package struct CarriedValue: Sendable, Equatable {
        package var name: String
        package var json: String
    }

    package struct NamedValue: Sendable, Equatable {
        package var name: String
        package var value: String
    }

    package struct Timing: Sendable, Equatable {
        /// Seconds from when the request was ready to its admission, from there to its first token, and from there
        /// to its end.
        package var queued: Double
        package var prefill: Double
        package var decode: Double
        /// The speed of the tokens that the last run made, from admission to the end.
        package var tokensPerSecond: Double
        /// When it ended, in seconds since 1970; nil where no clock was read.
        package var ended: Double?
    }

    package struct Failure: Sendable, Equatable {
        package var error: LineError
        /// The input's file; nil if there is but one.
        package var file: String?
        /// From 1, in its file.
        package var line: Int
        /// The answer that is not what was asked for; nil if there is none.
        package var text: String?

        package init(_ error: LineError, file: String? = nil, line: Int, text: String? = nil) {
            self.error = error
            self.file = file
            self.line = line
            self.text = text
        }
    }

    /// What the task made; nil if it failed.
    package var made: (any TaskResult)? {
        if case .made(let made) = content { made } else { nil }
    }

    package var isFailed: Bool { made == nil }
    /// A step has dropped it.
    var isDropped: Bool { made.map { !$0.isAccepted } ?? false }

    package var completionTokens: Int { made?.completionTokens ?? 0 }

    /// Without what differs between two runs of a job.
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
