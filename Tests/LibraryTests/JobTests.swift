import BatchPipeline
import PhiModel
import Testing

/// What the DocC pages show of a job.
@Suite(.enabled(if: DemoModel.folder != nil, DemoModel.missing)) struct JobTests {
    private func settings(_ folder: JobFolder, output: String, lines: Int = 6) throws -> JobSettings {
        let input = (0..<lines).map { "{\"id\":\"line-\($0)\",\"prompt\":\"What is \($0) + \($0)?\"}\n" }
            .joined()
        var settings = JobSettings()
        settings.model = try #require(DemoModel.folder)
        settings.input = [try folder.write(input, to: "prompts.jsonl")]
        settings.output = folder.file(output)
        settings.maxTokens = 12
        settings.temperature = 0.7
        return settings
    }

    @Test func aJobFileRunsAndShowsItsProgress() async throws {
        let folder = try JobFolder()
        let settings = try settings(folder, output: "out.jsonl")
        let job = try folder.write(
            """
            model: \(settings.model.hasPrefix("/") ? settings.model : "../" + settings.model)
            input: prompts.jsonl
            output: out.jsonl
            max_tokens: 12
            """, to: "job.yaml")
        let run = try BatchJob(file: job).run()
        var seen = 0
        for try await progress in run { seen = progress.done }
        let outcome = try await run.outcome
        #expect(outcome.status == .complete)
        #expect(outcome.statistics.lines == 6)
        #expect(outcome.statistics.done >= seen)
        #expect(try folder.results("out.jsonl").count == 6)
    }

    @Test func aJobOnALoadedModelGivesTheSameBytes() async throws {
        let folder = try JobFolder()
        _ = try await BatchJob(settings(folder, output: "own.jsonl")).run().outcome
        let model = try await ModelContainer.load(folder: try #require(DemoModel.folder))
        // Beside other work of the model.
        async let beside = model.answer(to: .user("What is rain?"), parameters: .init(maxTokens: 30))
        let outcome = try await BatchJob(settings(folder, output: "shared.jsonl")).run(on: model).outcome
        #expect(outcome.status == .complete)
        #expect(try folder.results("shared.jsonl") == folder.results("own.jsonl"))
        #expect(try await beside.text.isEmpty == false)
    }

    @Test func aCancelledJobGoesOnWhereItStopped() async throws {
        let folder = try JobFolder()
        _ = try await BatchJob(settings(folder, output: "whole.jsonl", lines: 40)).run().outcome
        let job = try BatchJob(settings(folder, output: "parts.jsonl", lines: 40))
        let model = try await ModelContainer.load(folder: try #require(DemoModel.folder), workers: 2)
        let task = Task {
            let run = job.run(on: model)
            // From inside: on a busy machine a task may not be heard of before the job is done.
            withUnsafeCurrentTask { $0?.cancel() }
            return try await run.outcome
        }
        let stopped = try await task.value
        #expect(stopped.status == .interrupted)
        #expect(stopped.statistics.done < 40)
        let finished = try await job.run().outcome
        #expect(finished.status == .complete)
        #expect(finished.statistics.skipped == stopped.statistics.done)
        #expect(try folder.results("parts.jsonl") == folder.results("whole.jsonl"))
    }

    /// Steps that are values are those of a job file.
    @Test func stepsAreValues() async throws {
        let folder = try JobFolder()
        var settings = try settings(folder, output: "rows.jsonl")
        var question = JobStep("question")
        question.settings.prompt = "{{ prompt }}"
        question.settings.samples = 2
        var judge = JobStep("judge")
        judge.settings.prompt = "{{ question.text }} Is that right?"
        judge.settings.choices = ["yes", "no"]
        judge.accept = "judge.probabilities.yes > 0.01"
        settings.steps = [question, judge]
        settings.until = 3
        let outcome = try await BatchJob(settings).run().outcome
        #expect(outcome.status == .complete && outcome.statistics.accepted == 4)
        let job = try folder.write(
            """
            model: \(settings.model.hasPrefix("/") ? settings.model : "../" + settings.model)
            input: prompts.jsonl
            output: said.jsonl
            max_tokens: 12
            temperature: 0.7
            until: 3
            steps:
              - {name: question, prompt: "{{ prompt }}", samples: 2}
              - name: judge
                prompt: "{{ question.text }} Is that right?"
                choices: ["yes", "no"]
                accept: judge.probabilities.yes > 0.01
            """, to: "steps.yaml")
        _ = try await BatchJob(file: job).run().outcome
        #expect(try folder.results("rows.jsonl") == folder.results("said.jsonl"))
        #expect(try folder.results("rows.jsonl").count == 4)
    }

    @Test func whatIsWrongIsSaidBeforeAnythingRuns() async throws {
        let folder = try JobFolder()
        var settings = try settings(folder, output: "out.jsonl")
        settings.topP = 7
        #expect(throws: UserError.self) { try BatchJob(settings) }
        settings.topP = nil
        settings.engine.threads = 1
        let model = try await ModelContainer.load(folder: try #require(DemoModel.folder))
        await #expect(throws: UserError.self) { try await BatchJob(settings).run(on: model).outcome }
        settings.engine.threads = nil
        settings.model = "no/such/folder"
        await #expect(throws: UserError.self) { try await BatchJob(settings).run().outcome }
    }
}
