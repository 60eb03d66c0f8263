import BatchEngine
import Foundation
import Testing

@testable import Jobs

/// Answers to requests that score, made up.
struct MadeAnswer {
    let request: Request
    let key: RequestKey
    let ended: EndedRequest

    init(_ number: Int, length: Int = 3) throws {
        var request = Request(
            prompt: [Int32(number)], kind: Scoring(Array(repeating: 1, count: length)))
        request.asked = []
        self.request = request
        key = try #require(RequestKey(request, model: [7]))
        let logprobs = (0..<length).map { -Float(number) - Float($0) / 7 }
        let decoding = try #require(
            request.kind.decoding(
                SavedDecoding(logprobs: logprobs), after: request.prompt, vocabularySize: 9))
        ended = EndedRequest(request: request, decoding: decoding, provenance: ["rope": "\"short\"\n"])
    }

    var record: AnswerRecord {
        AnswerRecord(key: key, ended.decoding.saved, ended.provenance)
    }

    @discardableResult
    func add(to store: AnswerStore) -> Bool { store.add(ended, key) }
}

extension AnswerStore {
    convenience init(_ folder: String, limit: Int = 1 << 30) throws {
        try self.init(folder: folder, limit: limit, reserve: 0)
    }
}

extension TestFolder {
    /// The segments in the folder of answers, each with its bytes.
    func segments(_ name: String = "answers") throws -> [(path: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/" + name)
            .filter { $0.hasSuffix(AnswerStore.ending) }.sorted().map { file in
                let path = "\(path)/\(name)/\(file)"
                return (path, [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
            }
    }
}
