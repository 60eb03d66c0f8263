import BatchPipeline
import Foundation
import PhiModel
import Testing

/// The programs of the DocC pages: that they compile against what is public is the test.
/// `ModelTests` and `JobTests` run the same calls.
private enum DocumentedPrograms {
    static func phiModel() async throws {
        let model = try await ModelContainer.load(folder: "models/smollm2-demo")
        for try await part in model.generate(.user("What is gravity?"), parameters: .init(maxTokens: 64)) {
            switch part {
            case .text(let text): print(text, terminator: "")
            case .reasoning: break
            case .end(let answer): print("\n\(answer.tokensPerSecond) tokens/s")
            }
        }

        let prompts = ["rain", "salt", "yeast"].map { Prompt.user("What is \($0)?") }
        for try await answer in model.answers(
            to: prompts, parameters: .init(temperature: 0.7, stop: ["\n\n"]))
        {
            print(answer.text)
        }
    }

    static func batchPipeline() async throws {
        let run = try BatchJob(file: "jobs/demo.yaml").run()
        for try await progress in run { print(progress.done, "of", progress.lines) }
        switch try await run.outcome.status {
        case .complete: print("the output is in place")
        case .tooManyFailures(let allowed): print("more than \(allowed) lines failed")
        case .tooFewAccepted(let accepted, _): print("only \(accepted) rows are accepted")
        case .interrupted: print("run it again to go on")
        }
    }
}

@Suite struct DocumentedProgramTests {
    @Test(arguments: [
        "Sources/PhiModel/PhiModel.docc/PhiModel.md",
        "Sources/BatchPipeline/BatchPipeline.docc/BatchPipeline.md",
    ])
    func whatIsShownIsWhatIsCompiled(page: String) throws {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: package.appendingPathComponent(page), encoding: .utf8)
        let compiled = Set(
            try String(contentsOfFile: #filePath, encoding: .utf8).split(separator: "\n").map(trimmed))
        let shown = text.components(separatedBy: "```swift\n").dropFirst()
            .flatMap { $0.components(separatedBy: "```")[0].split(separator: "\n").map(trimmed) }
        #expect(shown.count >= 4)
        for line in shown { #expect(compiled.contains(line), "\(page)") }
    }

    /// Without a comment at the line's end.
    private func trimmed(_ line: Substring) -> String {
        let code = line.firstRange(of: "  //").map { line[..<$0.lowerBound] } ?? line
        return code.trimmingCharacters(in: .whitespaces)
    }
}
