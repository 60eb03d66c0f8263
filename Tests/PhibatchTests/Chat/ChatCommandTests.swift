import Foundation
import Testing

/// Tests `phibatch chat` in a pipe; "make attack CASE=terminal/chat" tries it at a terminal.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ChatCommandTests {
    private func chat(_ input: String, _ more: String...) throws -> Program.Result {
        try Program.run(
            ["chat", DemoJob.model ?? "", "--temperature", "0", "--max-tokens", "12", "--threads", "1"]
                + more,
            input: input)
    }

    @Test func linesOfAPipeAreTurns() throws {
        let twice = try chat("What is salt?\n\n/reset\nWhat is salt?\n/quit\nno")
        #expect(twice.status == 0, "\(twice.errors)")
        let half = twice.output.prefix(twice.output.count / 2)
        #expect(!half.isEmpty && twice.output == half + half, "\(twice.output)")
        #expect(
            twice.errors.matches(of: /12 tokens, [0-9.]+ tokens\/s; length: --max-tokens is 12\n/).count == 2)
        #expect(!twice.errors.contains("loading") && !twice.output.contains("> "))
        // A job has the same answer.
        let job = try Program.run(
            [
                "run", "--model", DemoJob.model ?? "", "--input", "-", "--output", "-", "--max-tokens", "12",
                "--threads", "1",
            ], input: #"{"prompt": "What is salt?"}"#)
        #expect(job.status == 0, "\(job.errors)")
        let answer = try JSONDecoder().decode(
            [String: String].self, from: Data("{\"text\":\"\(half.dropLast())\"}".utf8))
        #expect(job.output.contains("\"text\":\"\(answer["text"] ?? "")\""), "\(job.output) \(half)")
    }

    @Test func whatFailsShowsInTheStatus() throws {
        let long = String(repeating: "one two ", count: 5000)
        let result = try chat("/nothing\n\(long)\nHello")
        #expect(result.status == 3 && !result.output.isEmpty)
        #expect(
            result.errors.contains("/nothing is not a command")
                && result.errors.contains("the model's context holds"))
        let missing = try Program.run(["chat", "./none"], input: "Hi\n")
        #expect(missing.status == 69, "\(missing.errors)")
    }

    @Test func theEmbeddedModelIsFoundFromItsFolder() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path
        try FileManager.default.createDirectory(atPath: folder + "/models", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/models/smollm2-demo", withDestinationPath: DemoJob.model ?? "")
        let result = try Program.run(["chat", "--max-tokens", "2"], input: "Hello\n", folder: folder)
        #expect(result.status == 0 && !result.output.isEmpty, "\(result.errors)")
    }
}
