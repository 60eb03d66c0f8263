/// A format for one part of the results: those of successful lines, or of failed ones (`errors` of a job).
package struct PartOfResults: ResultFormat {
    package let base: any ResultFormat
    /// Whether the part is that of failed lines.
    let ofFailedLines: Bool

    package static let nameEnd = "+errors"
    package var name: String { base.name + Self.nameEnd }
    package var isByLine: Bool { base.isByLine }
    package var layout: String { base.layout }

    package func problem(with job: JobSettings) -> String? { base.problem(with: job) }
    package func having(layout: String) -> any ResultFormat {
        Self(base: base.having(layout: layout), ofFailedLines: ofFailedLines)
    }

    package func makeEncoder(for run: ResultRun) -> any ResultEncoder {
        Encoder(encoder: base.makeEncoder(for: run), ofFailedLines: ofFailedLines)
    }

    private struct Encoder: ResultEncoder {
        var encoder: any ResultEncoder
        let ofFailedLines: Bool
        /// State before the current line, and its bytes so far.
        var before: (any ResultEncoder)?
        var bytes: [UInt8] = []
        var hasFailed = false

        var isHolding: Bool { encoder.isHolding }

        mutating func begin(_ output: inout [UInt8]) { encoder.begin(&output) }
        mutating func end(_ output: inout [UInt8]) { encoder.end(&output) }

        mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8]) {
            let start = before ?? encoder
            encoder.append(result, at: place, to: &bytes)
            hasFailed = hasFailed || result.isFailed
            guard !encoder.isHolding else {
                before = start
                return
            }
            if hasFailed == ofFailedLines { output += bytes } else { encoder = start }
            (before, bytes, hasFailed) = (nil, [], false)
        }
    }
}
