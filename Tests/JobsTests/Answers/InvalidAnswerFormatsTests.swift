import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

/// An answer that is not what was asked for is in each output.
@Suite struct InvalidAnswerFormatsTests {
    private static let text = "{\"a\": \"x, y\"\n"
    private static let failure = GenerationResult.failure(
        LineError(.invalidAnswer, "Not valid."), line: 3, text: text)
    private static let key = ResultKey(id: "l", contentHash: 5)

    @Test func tables() {
        let row = ResultFormat.csv(keeping: []).text(of: Self.failure, Self.key)
        #expect(row == "l,0,\"{\"\"a\"\": \"\"x, y\"\"\n\",,,,,invalid_answer,Not valid.\n")
    }

    @Test func batchesOfOpenAI() throws {
        let row = ResultFormat.openAI(model: "m").text(of: Self.failure, Self.key)
        let response = try JSONValue(parsing: Array(row.utf8), limits: .line)["response"]
        #expect(response?.int("status_code") == 500)
        #expect(response?["body"]?["error"]?.string("text") == Self.text)
    }
}
