import JSON

/// phibatch's own format: one JSON object a line, in UTF-8.
///
///     {"id":"…"[,"sample":N]<kept>,<members>[,"timing":{…}]}
///
/// The members are those of `ResultCoding`. `sample` is present if a line has several results. Only `timing` differs
/// between two runs of a job; `data` has none.
package struct NativeResults: ResultFormat {
    package let name: String
    private let isTimed: Bool

    package init() { self.init("jsonl", isTimed: true) }
    static let data = NativeResults("jsonl+data", isTimed: false)

    private init(_ name: String, isTimed: Bool) { (self.name, self.isTimed) = (name, isTimed) }

    package func showing(_ detail: ResultDetail) -> (any ResultFormat)? { detail.lines }

    package func makeEncoder(for run: ResultRun) -> any ResultEncoder {
        RowEncoder(hasSamples: run.samples > 1) { [isTimed] result, writer in
            ResultCoding.write(isTimed ? result : result.withoutTiming, .row, to: &writer)
            return true
        }
    }
}

/// Encodes JSON rows that begin with the line's identity.
struct RowEncoder: ResultEncoder {
    let hasSamples: Bool
    /// Writes a result's members; returns false if the output has no row for it.
    let members: @Sendable (GenerationResult, inout JSONWriter) -> Bool

    mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8]) {
        var (writer, isThere) = (JSONWriter(), false)
        writer.object { writer in
            writer.string("id", place.key.id)
            if hasSamples { writer.int("sample", place.key.sample) }
            isThere = members(result, &writer)
        }
        if isThere { output += writer.bytes + [0x0A] }
    }
}
