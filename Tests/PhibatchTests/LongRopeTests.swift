import Foundation
import Testing

/// A model with two sets of rotary factors: which one a completion has, and how a job decides.
@Suite(.enabled(if: Program.path != nil, "the program is not there"))
struct LongRopeTests {
    /// - Parameter length: the longest sequence with the short factors; nil for a model with one set.
    private static func job(_ lines: [String], switchingAt length: Int? = 64) throws -> DemoJob {
        var job = try DemoJob(lines, ["--threads", "1", "--tokens", "--logprobs", "0"])
        job.model = job.folder + "/model"
        let model = PlainModel()
        try model.write(to: job.model)
        guard let length else { return job }
        var configuration = model.configuration
        configuration["original_max_position_embeddings"] = length
        configuration["rope_scaling"] = [
            "type": "longrope", "short_factor": [Double](repeating: 1, count: 16),
            "long_factor": (0..<16).map { 1 + Double($0) },
        ]
        try JSONSerialization.data(withJSONObject: configuration, options: .sortedKeys)
            .write(to: URL(filePath: job.model + "/config.json"))
        return job
    }

    private static func line(_ id: String, _ prompt: Int, _ maxTokens: Int) -> String {
        let ids = (0..<prompt).map { "\(3 + $0 * 29 % 1900)" }.joined(separator: ",")
        return "{\"id\":\"\(id)\",\"prompt\":[\(ids)],\"max_tokens\":\(maxTokens)}"
    }

    private static let lines = [line("a", 60, 2), line("b", 60, 20)]

    /// The factors of each line, and its first token's log-probability.
    private func results(_ job: DemoJob, _ more: String...) throws -> (ropes: [String], first: [String]) {
        let run = try job.run(["--restart"] + more)
        #expect(run.status == 0, "\(run.errors)")
        let results = try #require(job.results)
        return (
            results.map { $0.firstMatch(of: /"rope":"(\w+)"/).map { String($0.1) } ?? "none" },
            results.map { $0.firstMatch(of: /"logprob":(-?[0-9.e-]+)/).map { String($0.1) } ?? "none" }
        )
    }

    @Test func theJobDecides() throws {
        let job = try Self.job(Self.lines)
        let auto = try results(job)
        #expect(auto.ropes == ["short", "long"] && auto.first[0] != auto.first[1])
        let short = try results(job, "--long-rope", "short")
        #expect(short.ropes == ["short", "short"] && short.first == [auto.first[0], auto.first[0]])
        let long = try results(job, "--long-rope", "long")
        #expect(long.ropes == ["long", "long"] && long.first == [auto.first[1], auto.first[1]])
    }

    @Test func checkWarnsWhereLinesLieOnBothSides() throws {
        let job = try Self.job(Self.lines + [Self.line("c", 70, 2)])
        func check(_ more: String...) throws -> Program.Result {
            try RunningProgram(["check", "--no-estimate"] + job.arguments(more), folder: job.folder).end()
        }
        let warned = try check()
        #expect(
            warned.status == 0
                && warned.output.contains(
                    "for more than 64 tokens, prompt and max_tokens together: 2 completions have those, 1 don't"
                ),
            "\(warned.output)\(warned.errors)")
        let json = try check("--json").output
        #expect(
            json.contains(#""rope":{"short_up_to":64,"short":1,"long":2}"#), "\(json)")
        for chosen in ["short", "long"] {
            #expect(try !check("--long-rope", chosen).output.contains("rotary"))
        }
    }

    @Test func itIsRefusedWhereItWouldHaveNoEffect() throws {
        let job = try Self.job(Self.lines, switchingAt: nil)
        for command in ["run", "check"] {
            let result = try RunningProgram(
                [command] + job.arguments(["--long-rope", "long"]), folder: job.folder
            )
            .end()
            #expect(result.status == 65, "\(result.errors)")
            #expect(
                result.errors.contains("long_rope is long, but the model has one set of rotary factors only"),
                "\(result.errors)")
        }
        #expect(try job.run(["--long-rope", "auto"]).status == 0)
    }
}
