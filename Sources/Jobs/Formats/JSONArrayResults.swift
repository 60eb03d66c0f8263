import Errors
import JSON

/// A JSON array of all results. Its elements are, byte for byte, the lines of the job's `ResultDetail`, one a line.
///
///     [
///     {"id":"…",…},
///     {"id":"…",…}
///     ]
///
/// Without results it is `[]`. The comma stands before a result, as the last one is not known in advance.
package struct JSONArrayResults: ResultFormat {
    package let nameEnds = ["json"]

    private let detail: ResultDetail

    package init(_ detail: ResultDetail = .full) { self.detail = detail }

    package var name: String { "json\(detail.nameEnd)" }
    package func showing(_ detail: ResultDetail) -> (any ResultFormat)? { Self(detail) }
    package func problem(with job: JobSettings) -> String? { detail.problem(job) }

    package func makeEncoder(for run: ResultRun) -> any ResultEncoder {
        Encoder(elements: NativeResults(detail).makeEncoder(for: run))
    }

    private struct Encoder: ResultEncoder {
        var elements: any ResultEncoder
        var isEmpty = true

        mutating func begin(_ output: inout [UInt8]) { output.append(UInt8(ascii: "[")) }

        mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8]) {
            var row: [UInt8] = []
            elements.append(result, at: place, to: &row)
            if row.isEmpty { return }
            // Its line feed belongs to the next one.
            output += (isEmpty ? "\n" : ",\n").utf8 + row.dropLast()
            isEmpty = false
        }

        mutating func end(_ output: inout [UInt8]) {
            output += (isEmpty ? "]\n" : "\n]\n").utf8
        }
    }
}
