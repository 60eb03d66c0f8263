import Foundation
import JSON
import Testing

@testable import Jobs

/// `phibatch report`, run as users run it, on results that lie there.
@Suite(.enabled(if: Program.path != nil, "the phibatch program is not beside the tests"))
struct ReportCommandTests {
    /// Texts that would be HTML, end a script, or break its lines.
    private static let hostile =
        "</script><img src=x onerror=alert(1)><!-- <script>\u{2028}\u{0}\u{1b}[31m&lt;' \"\\"

    private let scratch: ScratchFolder
    private var folder: String { scratch.path }

    init() throws { scratch = try ScratchFolder() }

    private typealias Answer = (id: String, result: GenerationResult)

    private static func answer(
        _ id: String, _ text: String, _ tokens: Int, _ kept: JSONObject = [:]
    ) -> Answer {
        var answer = GenerationResult.completion(
            text, finishReason: .stop, promptTokens: 2, completionTokens: tokens, seed: 1)
        answer.timing = [
            "queued": 0, "prefill": 1, "decode": 1, "tokens_per_second": .int(tokens / 2),
            "ended": 1_790_000_000.5,
        ]
        answer.kept = kept
        return (id, answer)
    }

    /// The last has a field of the line whose name and value are hostile.
    private static let results: [Answer] = [
        answer("first", "Gravity pulls.", 4),
        answer(
            hostile, hostile, 6,
            [hostile: .string(hostile)]),
        ("bad", .failure(LineError(.badPrompt, "</script>"), line: 3)),
    ]

    private func write(_ outputs: [String: [Answer]], _ files: [String: String] = [:]) throws {
        for (name, text) in files {
            try Data(text.utf8).write(to: URL(filePath: folder + "/" + name))
        }
        for (name, answers) in outputs {
            var job = JobSettings()
            job.output = folder + "/" + name
            let store = try LogStore(job, fingerprint: RunFingerprint([("job.seed", "1")]))
            let keys = answers.map { ResultKey(id: $0.id, contentHash: 0xaa) }
            for (place, key) in keys.enumerated() { _ = try store.claim(key, position: place) }
            for (place, key) in keys.enumerated() {
                try store.append(answers[place].result, key: key, position: place)
            }
            try store.finish(count: keys.count)
        }
    }

    private func report(_ arguments: String...) throws -> Program.Result {
        try Program.run(["report"] + arguments, folder: folder)
    }

    private func page(_ name: String = "out.jsonl.html") throws -> String {
        try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    }

    /// The blocks of JSON that a page has of this kind.
    private func blocks(_ page: String, _ attribute: String) throws -> [JSONValue] {
        let start = "<script type=\"application/json\" \(attribute)>"
        return try page.components(separatedBy: start).dropFirst().map {
            let json = $0.components(separatedBy: "</script>").first ?? ""
            return try JSONValue(parsing: Array(json.utf8), limits: .file)
        }
    }

    /// The rows of a page's table; `texts` are their texts.
    private func rows(_ kind: String = "rows", of name: String = "out.jsonl.html") throws -> [[JSONValue]] {
        try blocks(page(name), "class=\"\(kind)\"").flatMap { piece in
            guard case .array(let rows) = piece else { throw CocoaError(.coderReadCorrupt) }
            return rows.map { row -> [JSONValue] in if case .array(let cells) = row { cells } else { [] } }
        }
    }

    @Test func thePageHasAllOfTheResults() throws {
        let prompt = "{\"id\":\"first\",\"prompt\":\"What is gravity?\"}"
        try write(["out.jsonl": Self.results], ["in.jsonl": prompt])
        let run = try report("out.jsonl")
        #expect(run.status == 0 && run.output.isEmpty)
        #expect(run.errors.contains("3 results is in out.jsonl.html"))
        let data = try blocks(page(), "id=\"report\"")[0]
        #expect(data["results"] == 3 && data["failed"] == 1 && data["completion_tokens"] == 10)
        #expect(data["throughput"]?["tokens"]?.number == 10)
        #expect(data["latency"]?["total"]?["p50"]?.number == 2)
        #expect(data["table"]?["prompts"] == false)
        let rows = try rows()
        #expect(rows.map { $0[8] } == [nil, .string(Self.hostile), nil])
        #expect(rows.map { $0[0] } == ["first", .string(Self.hostile), "bad"])
        #expect(rows.map { $0[3] } == [0, 0, 1])
        #expect(rows.map { $0[5] } == [4, 6, nil])
        let texts = try self.rows("texts")
        #expect(texts.map { $0[1] } == ["Gravity pulls.", .string(Self.hostile), nil])
        #expect(texts.map { $0[2] } == [nil, nil, "</script>"])
        // With an input, whose line has another content than the one that the result is of.
        #expect(try report("out.jsonl", "--input", "in.jsonl", "-q").errors.isEmpty)
        #expect(try self.rows("texts").map { $0[0] } == [nil, nil, nil])
        #expect(try blocks(page(), "id=\"report\"")[0]["table"]?["without_prompt"] == 3)
    }

    /// Whatever the results say, the page has its own elements and no others, and its own script alone may run.
    @Test func textsFromResultsAreNeverHTML() throws {
        try write(["out.jsonl": Self.results, "plain.jsonl": [Self.answer("a", "b", 2)]])
        #expect(try report("out.jsonl").status == 0)
        #expect(try report("plain.jsonl").status == 0)
        let (hostile, plain) = (try page(), try page("plain.jsonl.html"))
        func tags(_ page: String) -> [String] {
            page.matches(of: /<[a-zA-Z\/!][^\s>]*/).map { String($0.0) }
        }
        #expect(tags(hostile) == tags(plain))
        #expect(hostile.contains("default-src 'none'; script-src 'sha256-"))
        for text in ["\u{2028}", "\u{1b}", "\u{0}", "innerHTML", "https:"] {
            #expect(!hostile.contains(text))
        }
    }

    @Test func whatIsNoReportIsNotReplaced() throws {
        try write(["out.jsonl": Self.results], ["mine.html": "<p>mine</p>"])
        let refused = try report("out.jsonl", "--output", "mine.html")
        #expect(refused.status == 73)
        #expect(refused.errors.contains("mine.html: is no report of phibatch"))
        #expect(try page("mine.html") == "<p>mine</p>")
        #expect(try report("out.jsonl", "-o", "out.jsonl").status == 73)
        #expect(try report("out.jsonl", "-o", "page.html", "--rows", "1").status == 0)
        let first = try page("page.html")
        #expect(try rows(of: "page.html").map { $0[0] } == ["first"])
        #expect(try blocks(first, "id=\"report\"")[0]["results"] == 3)
        #expect(try report("out.jsonl", "-o", "page.html").status == 0)
        #expect(try page("page.html") != first)
        let streamed = try report("out.jsonl", "-o", "-")
        #expect(streamed.status == 0 && streamed.output.hasPrefix("<!doctype html>"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 4)
    }

    @Test func wrongArgumentsAreNamed() throws {
        try write([:], ["csv": "a,b\n1,2\n"])
        let missing = try report("none.jsonl")
        #expect(missing.status == 66 && missing.errors.contains("none.jsonl: there are no such results."))
        #expect(try report().status == 64)
        #expect(try report("a", "b", "c").status == 64)
        #expect(try report("csv", "--rows", "-1").status == 64)
        #expect(try report("csv").status == 65)
    }
}
