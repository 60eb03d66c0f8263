import Testing

@testable import Jobs

/// How far rows with steps got, as a report tells it.
@Suite struct FunnelTests {
    private static func row(_ steps: [String], dropped: String? = nil, original: String? = nil)
        -> ReportedResult
    {
        let made = GeneratedResult(text: "t", promptTokens: 1, completionTokens: 1)
        let result = StepsResult(steps.map { .init($0, made) }, dropped: dropped, original: original)
        return ReportedResult(GenerationResult(result), "a")
    }

    private static let rows = [
        row(["question", "judge"], dropped: "judge"), row(["question"], dropped: "question", original: "a"),
        row(["question", "repair", "judge", "answer"]), row(["question"], dropped: "question"),
        row(["question", "judge", "answer"]),
    ]

    @Test(arguments: [[], ["question", "repair", "judge", "answer"]])
    func stepsStandInTheirOrder(_ names: [String]) throws {
        var statistics = ReportStatistics(steps: names)
        for row in Self.rows { statistics.add(row) }
        #expect(
            statistics.funnel.steps == [
                .init(name: "question", made: 5, dropped: 2, duplicates: 1), .init(name: "repair", made: 1),
                .init(name: "judge", made: 3, dropped: 1), .init(name: "answer", made: 2),
            ])
        #expect(statistics.funnel.accepted == 2)
        #expect(
            statistics.statuses.map(\.name) == [
                "dropped by judge", "dropped by question, a duplicate", "accepted", "dropped by question",
            ])
    }
}
