import Testing

@testable import Jobs

/// Tables of jobs with steps.
@Suite struct StepTableTests {
    private func encoded(_ result: GenerationResult, _ format: ResultFormat) -> String {
        var result = result
        result.kept = ["topic": "bees"]
        return format.text(of: result)
    }

    @Test func aTableHasTheColumnsOfEachStep() throws {
        let job = JobSettings.test(input: []) { job in
            job.keep = .fields([.init("topic")])
            job.steps = [
                JobStep("question"), JobStep("facts"),
                JobStep.named("judge") { $0.settings.choices = ["yes", "no"] },
                JobStep("fix"),
            ]
        }
        let table = ResultFormat.csv(job.task.columns(of: job), keeping: ["topic"])
        #expect(table.problem(with: job) == nil)
        let row = GenerationResult.row(
            [
                .step("question", .answer("Why, \"bee\"?")), .step("facts", .answer("{\n}")),
                .step("judge", .answer("no", [("no", 0.75)])),
            ], dropped: "judge", original: "r2")
        func columns(_ name: String) -> String {
            ["text", "finish_reason", "prompt_tokens", "completion_tokens", "seed"].map { "\(name).\($0)" }
                .joined(separator: ",")
        }
        #expect(
            table.layout
                == "id,sample,\(columns("question")),\(columns("facts")),\(columns("judge")),judge.probability,"
                + "judge.probabilities,\(columns("fix")),dropped,duplicate_of,error,error_message,topic\n")
        #expect(
            encoded(row, table)
                == "a,0,\"Why, \"\"bee\"\"?\",stop,3,2,5,\"{\n}\",stop,3,2,5,"
                + "no,stop,3,2,5,0.75,\"{\"\"no\"\":0.75}\",,,,,,judge,r2,,,bees\n")
        let failure = GenerationResult.failure(LineError(.badField, "facts: Not so."), line: 4)
        #expect(
            encoded(failure, table)
                == "a,0" + String(repeating: ",", count: 25) + "bad_field,facts: Not so.,bees\n")
    }

    @Test func aTableOfAnyColumnsMayHoldFailedLines() throws {
        let folder = try TestFolder()
        let table = ResultFormat.csv(["a.text", "dropped"], keeping: [])
        try folder.write(table.layout.utf8, to: "failed")
        try FailedLines.check(folder.path("failed"), in: .real)
        try folder.write("id,sample,text\n".utf8, to: "other")
        #expect(throws: UserError.self) {
            try FailedLines.check(folder.path("other"), in: .real)
        }
    }
}
