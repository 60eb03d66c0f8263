import BatchEngine
import Foundation
import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

/// The bytes of results, in native outputs and in the log: a change of them is a change of the format.
@Suite struct ResultCodingTests {
    private static let key = ResultKey(id: "a\"b", sample: 1, contentHash: 0x12ab)
    private static let token: JSONObject = [
        "token": "é", "id": 7, "logprob": -0.1, "bytes": [195, 169],
    ]
    private static let whole = timed(
        .completion(
            "é\n", finishReason: .stopSequence, promptTokens: 5, completionTokens: 2, seed: -3,
            tokens: [7, 8],
            logprobs: [
                .object(JSONObject(token + [.init(name: "top_logprobs", value: [.object(token)])])),
                ["token": "", "id": 8, "logprob": -9999, "bytes": [], "top_logprobs": []],
            ], provenance: ["rope": "short"]),
        ["queued": 0, "prefill": 0.125, "decode": 1.5, "tokens_per_second": 26.67, "ended": 1790000000.125])
    private static let wholeText =
        #""text":"é\n","finish_reason":"stop_sequence","usage":{"prompt_tokens":5,"completion_tokens":2},"#
        + #""seed":-3,"tokens":[7,8],"logprobs":{"content":["#
        + #"{"token":"é","id":7,"logprob":-0.1,"bytes":[195,169],"top_logprobs":["#
        + #"{"token":"é","id":7,"logprob":-0.1,"bytes":[195,169]}]},"#
        + #"{"token":"","id":8,"logprob":-9999,"bytes":[],"top_logprobs":[]}]},"#
        + #""provenance":{"rope":"short"},"#
        + #""timing":{"queued":0,"prefill":0.125,"decode":1.5,"tokens_per_second":26.67,"ended":1790000000.125}"#
    private static let empty = timed(
        .completion("", finishReason: .stop, promptTokens: 1, completionTokens: 0),
        ["queued": 0, "prefill": 0.125, "decode": 1.5, "tokens_per_second": 0])
    private static let emptyText =
        #""text":"","finish_reason":"stop","usage":{"prompt_tokens":1,"completion_tokens":0},"seed":0,"#
        + #""timing":{"queued":0,"prefill":0.125,"decode":1.5,"tokens_per_second":0}"#
    private static let plain = GenerationResult.completion(
        "", finishReason: .length, promptTokens: 1, completionTokens: 1)
    private static let plainText =
        #""text":"","finish_reason":"length","usage":{"prompt_tokens":1,"completion_tokens":1},"seed":0"#
    private static let chosen = GenerationResult.completion(
        "b", finishReason: .stop, probabilities: [("a\"", 0.1), ("b", 1)], promptTokens: 1,
        completionTokens: 1)
    private static let chosenText =
        #""text":"b","finish_reason":"stop","probabilities":{"a\"":0.1,"b":1},"#
        + #""usage":{"prompt_tokens":1,"completion_tokens":1},"seed":0"#
    private static let failure = GenerationResult.failure(
        LineError(.promptTooLong, "Too long."), file: "in", line: 4)
    private static let failureText =
        #""error":{"code":"prompt_too_long","message":"Too long.","file":"in","line":4}"#
    /// -0.1 is added as the Float that it is.
    private static let score = GenerationResult.score(
        [-0.1, -1.5, -.infinity], tokens: [7, 8, 9], provenance: ["rope": "long"])
    private static let scoreText =
        #""logprob":-10000.60000000149,"mean":-3333.53333333383,"perplexity":null,"#
        + #""token_logprobs":[-0.1,-1.5,-9999],"tokens":[7,8,9],"provenance":{"rope":"long"}"#
    private static let scored = timed(
        .scores([score], isList: false, promptTokens: 5),
        ["queued": 0, "prefill": 0.125, "decode": 0, "tokens_per_second": 26.67],
        kept: ["text": [1], "repeat": "a"])
    private static let scoredText =
        scoreText + #","usage":{"prompt_tokens":5,"completion_tokens":3},"text":[1],"repeat":"a","#
        + #""timing":{"queued":0,"prefill":0.125,"decode":0,"tokens_per_second":26.67}"#
    private static let ranked = GenerationResult.scores(
        [score, GenerationResult.score([-0.5, 0]), GenerationResult.score([-0.25])], isList: true,
        promptTokens: 1)
    private static let rankedText =
        #""scores":[{"# + scoreText
        + #"},{"logprob":-0.5,"mean":-0.25,"perplexity":1.2840254166877414,"token_logprobs":[-0.5,0]},"#
        + #"{"logprob":-0.25,"mean":-0.25,"perplexity":1.2840254166877414,"token_logprobs":[-0.25]}],"#
        + #""best":1,"usage":{"prompt_tokens":1,"completion_tokens":6}"#
    /// The result of a job that scores, whose lines may keep what a completion has of its own.
    private static let scoreFailure = GenerationResult.failure(
        LineError(.badField, "No."), line: 4, kept: ["text": 1])
    private static let scoreFailureText =
        #""error":{"code":"bad_field","message":"No.","line":4},"text":1"#
    private static let invalid = GenerationResult.failure(
        LineError(.invalidAnswer, "No."), line: 4, text: "{\"a\":\n", kept: ["text": 1])
    private static let invalidText =
        #""error":{"code":"invalid_answer","message":"No.","line":4,"text":"{\"a\":\n"},"text":1"#
    private static let tail = #","line_hash":"00000000000012ab","run":"r-1""#

    private static func timed(
        _ result: GenerationResult, _ timing: JSONObject, kept: JSONObject = [:]
    ) -> GenerationResult {
        GenerationResult(result.own, timing: timing, kept: kept)
    }

    static let all: [(GenerationResult, String)] = [
        (whole, wholeText), (plain, plainText), (chosen, chosenText),
        (failure, failureText),
        (empty, emptyText),
        (scored, scoredText), (ranked, rankedText), (scoreFailure, scoreFailureText),
        (invalid, invalidText),
    ]

    @Test(arguments: all) func nativeLines(result: GenerationResult, text: String) throws {
        let data = try #require(ResultFormat.jsonl.showing(.data))
        // As in the log, but for the seed; and kept fields come first.
        let kept = result.kept.map { "\"\($0.name)\":\(JSONWriter.text(of: $0.value))," }.joined()
        var members = text.replacing(/"seed":-?\d+,?/, with: "")
        if !kept.isEmpty { members = members.replacing("," + kept.dropLast(), with: "", maxReplacements: 1) }
        for samples in [1, 2] {
            let head = #"{"id":"a\"b","# + (samples > 1 ? #""sample":1,"# : "")
            let expected = (head + kept + members).replacing(/,$/, with: "") + "}\n"
            #expect(ResultFormat.jsonl.text(of: result, Self.key, samples: samples) == expected)
            let timeless = expected.replacing(/,"timing":\{[^}]*}/, with: "")
            #expect(data.text(of: result, Self.key, samples: samples) == timeless)
        }
    }

    @Test(arguments: all) func resultRecords(result: GenerationResult, text: String) throws {
        for repetition in [0, 2] {
            let record = ResultRecord(key: Self.key, repetition: repetition, run: "r-1", result: result)
            let line = String(decoding: record.line, as: UTF8.self)
            let head = (repetition > 0 ? #","repeat":2"# : "") + #","id":"a\"b","sample":1,"#
            #expect(line.dropFirst(25) == head + text + Self.tail + "}")
            try record.line.withUnsafeBytes { bytes in
                #expect(ChecksummedLine.isValid(bytes))
                let read = try #require(ResultRecord(bytes))
                #expect(read.result == result && read.key == Self.key && read.repetition == repetition)
            }
        }
    }

    /// An answer that is not what was asked for is in each output.
    @Test func invalidAnswersAreShown() throws {
        let row = ResultFormat.csv(keeping: []).text(of: Self.invalid, Self.key)
        #expect(row == "\"a\"\"b\",1,\"{\"\"a\"\":\n\",,,,,invalid_answer,No.\n")
        let line = ResultFormat.openAI(model: "m").text(of: Self.invalid, Self.key)
        let response = try JSONValue(parsing: Array(line.utf8), limits: .line)["response"]
        #expect(response?.int("status_code") == 500)
        #expect(response?["body"]?["error"]?.string("text") == "{\"a\":\n")
    }

    @Test func whatIsNoResultIsRefused() {
        let wrong = [
            "", #""text":"a""#, Self.plainText.replacing(":1", with: ":-1"),
            Self.plainText.replacing(":1", with: ":99999999999"),
            Self.failureText.replacing("prompt_too_long", with: "no_such_code"),
            Self.failureText.replacing(#","line":4"#, with: ""), #""scores":[],"best":0"#,
        ]
        for text in wrong {
            let line = #"{"sum":"","id":"a","sample":0"# + (text.isEmpty ? "" : ",") + text + Self.tail + "}"
            #expect(Array(line.utf8).withUnsafeBytes { ResultRecord($0) } == nil, "\(text)")
        }
    }

    @Test func notesOfTokensAreReadBack() throws {
        for value: Float in [-0.1, -1e-30, -33_554_432, -16777217.5, 0, -1.1754944e-38, -0.33333334] {
            let choice = SampledToken(token: 1, logprob: value, top: [.init(id: 1, logprob: value)])
            let entry = LogprobEntry.json(choice, text: ScriptedModel())
            let note = JSONWriter.text(of: entry)
            #expect(LogprobEntry.json(of: note).map { JSONWriter.text(of: $0) } == note)
            #expect(entry["logprob"]?.number.map { Float($0) } == value)
        }
        for text in ["", "{}", "[1]", #"{"token":"a","id":1,"logprob":0,"bytes":[]}"#] {
            #expect(LogprobEntry.json(of: text) == nil)
        }
    }
}
