import Foundation
import Testing

/// Wrong lines and places, through the program and with a real model.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct BadInputTests {
    private struct Row: Decodable {
        struct Failure: Decodable {
            var code: String
            var message: String
            var line: Int
        }
        var id: String
        var error: Failure?
        var text: String?
    }

    private func rows(_ job: DemoJob) throws -> [Row] {
        try (job.results ?? []).map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
    }

    /// A line of each kind that can be wrong, and two good ones around them.
    private static let lines: [(bytes: Data, code: String?)] = [
        (Data("{\"id\":\"first\",\"prompt\":\"hi\"}".utf8), nil),
        (
            Data("{\"prompt\":\"".utf8) + Data(repeating: UInt8(ascii: "x"), count: 10 << 20)
                + Data("\"}".utf8),
            "prompt_too_long"
        ),
        (Data("{\"prompt\":\"".utf8) + Data([0xC3, 0x28, 0xFF]) + Data("\"}".utf8), "invalid_utf8"),
        (Data([0, 0, 0, 0]), "invalid_json"),
        (Data("{\"prompt\":\"a".utf8) + Data([0]) + Data("b\"}".utf8), "invalid_json"),
        (Data("{\"prompt\":".utf8), "invalid_json"),
        (Data(repeating: UInt8(ascii: "["), count: 1 << 20), "invalid_json"),
        (Data("[1, 2]".utf8), "invalid_json"),
        (Data("{\"prompt\":7}".utf8), "bad_field"),
        (Data("{\"prompt\":\"x\",\"max_tokens\":\"many\"}".utf8), "bad_field"),
        (Data("{\"prompt\":[1,99999999]}".utf8), "bad_prompt"),
        (Data("{\"id\":\"first\",\"prompt\":\"again\"}".utf8), "duplicate_id"),
        (Data("{\"question\":\"?\"}".utf8), "missing_prompt"),
        (Data("{\"id\":\"last\",\"prompt\":\"a\\u0000b\"}".utf8), nil),
    ]

    @Test func wrongLinesBecomeErrorsAndTheRestGoesOn() throws {
        let input = Self.lines.reduce(into: Data()) { $0 += $1.bytes + Data("\n".utf8) }
        let job = try DemoJob(input, ["--max-tokens", "2", "--workers", "3"])
        defer { job.remove() }
        let wrong = Self.lines.count { $0.code != nil }
        let strict = try job.run(["--max-failures", "\(wrong - 1)"])
        #expect(strict.status == 3, "\(strict.errors)")
        #expect(strict.errors.contains("failed lines: \(wrong); max_failures allows \(wrong - 1)"))
        #expect(strict.errors.contains("in.jsonl:3: invalid_utf8"), "\(strict.errors)")
        #expect(job.results == nil, "the output is not put in place")
        // The run ends early; what was under way then is saved.
        #expect(
            try job.files.filter { $0 != "out.jsonl.journal.inflight" } == ["in.jsonl", "out.jsonl.journal"])
        let result = try job.run(["--max-failures", "\(wrong)"])
        #expect(result.status == 0, "\(result.errors)")
        let rows = try rows(job)
        try #require(rows.count == Self.lines.count)
        for (number, (row, line)) in zip(rows, Self.lines).enumerated() {
            #expect(row.error?.code == line.code, "line \(number + 1): \(row.error?.message ?? "no error")")
            if let error = row.error { #expect(error.line == number + 1 && !error.message.isEmpty) }
            #expect((row.text == nil) == (line.code != nil))
        }
        #expect(try job.files == ["in.jsonl", "out.jsonl"])
    }

    @Test func noLinesGiveAnEmptyOutput() throws {
        for content in ["", "\n\n  \n", "\u{FEFF}"] {
            let job = try DemoJob(Data(content.utf8), [])
            defer { job.remove() }
            for _ in 1...2 {
                let result = try job.run()
                #expect(result.status == 0, "\(result.errors)")
                #expect(job.results == [])
                #expect(try job.files == ["in.jsonl", "out.jsonl"])
            }
        }
    }
}
