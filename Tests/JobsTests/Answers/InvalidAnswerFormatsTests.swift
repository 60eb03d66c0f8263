import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

/// An answer that is not what was asked for is in each output, and in reports of it.
@Suite struct InvalidAnswerFormatsTests {
    private static let text = "{\"a\": \"x, y\"\n"
    private static let failure = GenerationResult.failure(
        .init(LineError(.invalidAnswer, "Not valid."), line: 3, text: text))
    private static let key = ResultKey(id: "l", contentHash: 5)

    private func encoded(_ format: some ResultFormat) -> [UInt8] {
        var encoder = format.makeEncoder(for: ResultRun(digest: "r-1", samples: 1))
        var bytes: [UInt8] = []
        encoder.append(Self.failure, at: ResultPlace(key: Self.key), to: &bytes)
        return bytes
    }

    @Test func tables() {
        let row = String(decoding: encoded(DelimitedOutput.csv), as: UTF8.self)
        #expect(row == "l,0,\"{\"\"a\"\": \"\"x, y\"\"\n\",,,,,invalid_answer,Not valid.\n")
    }

    @Test func batchesOfOpenAI() throws {
        let bytes = encoded(OpenAIResults(model: "m"))
        let response = try JSONValue(parsing: bytes, limits: .line)["response"]
        #expect(response?.int("status_code") == 500)
        #expect(response?["body"]?["error"]?.string("text") == Self.text)
        let reported = try bytes.withUnsafeBytes { try #require(ReportedResult.openAI($0)) }
        #expect(reported.first?.text == Self.text && reported.first?.status == "invalid_answer")
    }
}
