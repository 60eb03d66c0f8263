import JSON

@testable import BatchPipeline
@testable import Jobs

extension ResultFormat {
    /// A second format: id and text, with a tab between them. It can't carry what a result is known by.
    static let tabbed = ResultFormat(word: "tabbed", start: "id\ttext\n") { _ in
        { encoder, output in
            // A text may have line feeds: a result is not always a line.
            output += "\(encoder.record.key.id)\t\(encoder.record.result.tabbed)\n".utf8
        }
    }

    static let lean = jsonl.showing(.lean) ?? jsonl

    /// The format with a line of names of columns.
    static func csv(_ columns: [String]? = nil, keeping names: [String]) -> Self {
        var format = csv
        let columns = columns ?? JobTask.generate.columns(of: JobSettings()) ?? []
        format.layout = ResultFormat.header(columns, names, UInt8(ascii: ","))
        return format
    }

    /// What an output has of a result alone.
    func text(
        of result: GenerationResult, _ key: ResultKey = ResultKey(id: "a", contentHash: 1), samples: Int = 1
    ) -> String {
        var (encoder, bytes) = (ResultEncoder(self, samples: samples), [UInt8]())
        encoder.append(ResultRecord(key: key, repetition: 0, run: "", result: result), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension GenerationResult {
    static func answer(_ text: String, _ all: [(String, Double)]? = nil) -> Self {
        .completion(
            text, finishReason: .stop, probabilities: all, promptTokens: 3, completionTokens: 2, seed: 5)
    }

    fileprivate var tabbed: String { failure.map { "(\($0.message))" } ?? text ?? "" }
}

extension JSONMember {
    /// The result of a step of a row.
    static func step(_ name: String, _ result: GenerationResult) -> Self {
        Self(name: name, value: .object(result.own))
    }
}

extension TestRun {
    /// What an undisturbed run writes in the second format.
    var tabbed: [UInt8] {
        var bytes = Array("id\ttext\n".utf8)
        for line in lines { bytes += "\(line.id)\t\(line.result.tabbed)\n".utf8 }
        return bytes
    }
}
