@testable import BatchPipeline
@testable import Jobs

extension ResultFormat {
    /// A second format: id and text, with a tab between them. It can't carry what a result is known by.
    static let tabbed = ResultFormat(word: "tabbed", start: "id\ttext\n") { _ in
        { encoder, output in
            let text =
                switch encoder.record.result.content {
                case .made(let made): made.cell("text") ?? ""
                case .failed(let failure): "(\(failure.error.message))"
                }
            // A text may have line feeds: a result is not always a line.
            output += "\(encoder.record.key.id)\t\(text)\n".utf8
        }
    }

    static let lean = jsonl.showing(.lean) ?? jsonl

    /// The format with a line of names of columns.
    static func csv(_ columns: [String] = GeneratedResult.allColumns, keeping names: [String]) -> Self {
        var format = csv
        format.layout = DelimitedOutput.header(columns, names, UInt8(ascii: ","))
        return format
    }

    /// What an output has of a result alone.
    func text(
        of result: GenerationResult, _ key: ResultKey = ResultKey(id: "a", contentHash: 1), samples: Int = 1
    ) -> String {
        var (encoder, bytes) = (makeEncoder(samples: samples), [UInt8]())
        encoder.append(ResultRecord(key: key, repetition: 0, run: "", result: result), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension GeneratedResult {
    static func answer(_ text: String, _ all: [Probability]? = nil) -> Self {
        Self(
            text: text, finishReason: .stop, probabilities: all, promptTokens: 3, completionTokens: 2, seed: 5
        )
    }
}

extension TestRun {
    /// What an undisturbed run writes in the second format.
    var tabbed: [UInt8] {
        var bytes = Array("id\ttext\n".utf8)
        for line in lines {
            switch line.result.content {
            case .made(let made): bytes += "\(line.id)\t\(made.cell("text") ?? "")\n".utf8
            case .failed(let failure): bytes += "\(line.id)\t(\(failure.error.message))\n".utf8
            }
        }
        return bytes
    }
}
