import JSON
import Testing

@testable import Jobs

/// What has changed in steps is told by its name.
@Suite struct StepChangesTests {
    private static let steps = [
        JobStep.named("question") { step in
            step.settings.prompt = "Ask."
            step.settings.samples = 3
            step.distinct = Distinctness("question.text", similarity: 0.8)
        },
        JobStep.named("judge") { $0.accept = "judge.text" },
    ]

    private func fingerprint(_ steps: [JobStep]) -> RunFingerprint {
        RunFingerprint([("job.steps", JSONWriter.list(steps.map(\.text)))])
    }

    @Test func changesAreNamed() {
        let old = fingerprint(Self.steps)
        #expect(old.comparesRows && !fingerprint([Self.steps[1]]).comparesRows)
        var steps = Self.steps
        steps[0].distinct?.similarity = 0.9
        steps[0].settings.samples = nil
        steps[1].accept = "true"
        steps[1].settings.system = "Judge."
        #expect(
            fingerprint(steps).changes(from: old) == [
                "steps: question: distinct: question.text near 0.8 -> question.text near 0.9",
                "steps: question: samples: 3 -> (not set)",
                "steps: judge: accept: judge.text -> true",
                "steps: judge: system: - -> [\"Judge.\"]",
            ])
        #expect(
            fingerprint([Self.steps[1], JobStep("answer")]).changes(from: old) == [
                "steps: answer is new", "steps: question is gone",
            ])
        #expect(fingerprint(Self.steps.reversed()).changes(from: old) == ["steps: in another order"])
    }
}
