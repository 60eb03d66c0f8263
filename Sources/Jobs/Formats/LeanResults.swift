import JSON

/// JSON lines that hold nothing but the data: what a result is known by, and how it came about, is in the output's
/// record.
///
///     {"id":"…"[,"sample":S],<data><kept>}
///     {"id":"…"[,"sample":S],"error":{…}<kept>}
///
/// The data are what the task's result takes for it (`TaskResult.writeData`). `sample` is there if a line has several
/// results. A row that was dropped has nothing in the output.
package struct LeanResults: ResultFormat {
    package let name = "jsonl+lean"
    package let recordsResults = true

    package init() {}

    package func leavesOut(_ result: GenerationResult) -> Bool { result.isDropped }
    package func showing(_ detail: ResultDetail) -> (any ResultFormat)? { detail.lines }

    package func makeEncoder(for run: ResultRun) -> any ResultEncoder { Encoder(hasSamples: run.samples > 1) }

    private struct Encoder: ResultEncoder {
        let hasSamples: Bool

        mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8]) {
            if result.isDropped { return }
            let writer = JSONWriter.object { writer in
                writer.string("id", place.key.id)
                if hasSamples { writer.int("sample", place.key.sample) }
                ResultCoding.writeData(of: result, to: &writer)
            }
            output += writer.bytes
            output.append(0x0a)
        }
    }
}
