import JSON
import Testing

@testable import Jobs
@testable import phibatch

extension ReportedResult {
    fileprivate init(_ result: GenerationResult) {
        self.init(result, ResultKey(id: "a", contentHash: 0))
    }
}

/// What a report knows of results, in memory that does not grow with them.
@Suite struct ReportStatisticsTests {
    @Test func statisticsAreThoseCountedByHand() {
        var statistics = ReportStatistics()
        for number in 1...4 {
            var answer = GenerationResult.completion(
                "x", finishReason: .stop, promptTokens: number, completionTokens: 10 * number, seed: 1)
            answer.timing = [
                "queued": 0, "prefill": 0, "decode": .int(number), "tokens_per_second": 10,
                "ended": .int(1000 + number),
            ]
            statistics.add(ReportedResult(answer))
        }
        let failure = ReportedResult(.failure(LineError(.promptTooLong, "Too long."), line: 4, text: "y"))
        #expect(failure.text == "y" && failure.status == "prompt_too_long")
        statistics.add(failure)
        #expect((statistics.promptTokens, statistics.completionTokens) == (10, 100))
        #expect(statistics.times["total"]?.percentiles([50, 99]) == [2, 4])
        #expect(statistics.times["tokens_per_second"]?.percentiles([50]) == [10])
        #expect(statistics.statuses.map(\.name) == ["stop", "prompt_too_long"])
        #expect(statistics.statuses.map(\.count) == [4, 1])
        #expect(statistics.statuses[1].messages.top(5).map(\.text) == ["Too long."])
        // All four end a second apart, and each began at 1000.
        #expect((statistics.throughput.first, statistics.throughput.last) == (1000, 1004))
        #expect(statistics.throughput.curve().rates.prefix(8).allSatisfy { $0.rate == 40 })
    }

    @Test func scoresHaveALineEach() {
        let scores = [GenerationResult.score([-0.5, -1]), GenerationResult.score([-0.25])]
        let result = ReportedResult(.scores(scores, isList: true, promptTokens: 3))
        #expect(result.status == "scored" && !result.isFailed)
        #expect(result.text == "0: mean -0.75, sum -1.5, tokens 2\n1: mean -0.25, sum -0.25, tokens 1")
        #expect((result.promptTokens, result.completionTokens) == (3, 3))
        #expect(result.facts.map(\.value) == ["1"])
    }

    @Test func theMostCommonOfVeryManyAreFound() {
        var values = CommonValues()
        for number in 0..<100_000 {
            values.add(number % 4 == 0 ? "often" : number % 10 == 1 ? "seldom" : "once \(number)")
        }
        let top = values.top(3)
        #expect(top.prefix(2).map(\.text) == ["often", "seldom"] && values.distinct == nil)
        // None is counted more often than it came, and what comes often is hardly lost.
        #expect((24_900...25_000).contains(top[0].count) && (9_900...10_000).contains(top[1].count))
        #expect(top[2].count < 10)
        var few = CommonValues()
        for text in ["b", "a", "b", String(repeating: "long", count: 1000)] { few.add(text) }
        #expect(few.distinct == 3 && few.top(9).map(\.count) == [2, 1, 1])
        #expect(few.top(9).allSatisfy { $0.text.utf8.count <= 300 })
    }

    @Test func fieldsAreTakenApartToADepthAndANumber() throws {
        let deep: JSONValue = ["a": ["b": ["c": ["d": ["e": 1]]]], "x": [:], "y": [["z": 1]]]
        let parts = ReportedField.parts(of: deep)
        #expect(parts.map { ReportedField.name(of: $0.path) } == ["a.b.c.d", "x", "y"])
        #expect(ReportedField.parts(ofAnswer: "[1]").map { ReportedField.name(of: $0.path) } == ["text"])
        var many = ReportStatistics()
        for number in 0..<200 {
            many.add([ReportedField(["f\(number)"], .int(number)), ReportedField([], nil)])
        }
        #expect(many.fields.count == 64 && many.areFieldsCut)
        #expect(many.fields[1].count == 200 && many.fields[1].kinds == ["null"])
        // Two origins are two fields.
        var two = ReportStatistics()
        two.add([ReportedField(["a"], 1), ReportedField(["a"], "text", isOfLine: true)])
        two.add([ReportedField(["a"], "text", isOfLine: true)])
        #expect(two.fields.map(\.count) == [1, 2] && two.fields.map(\.kinds) == [["number"], ["text"]])
    }

    private static func row(_ steps: [String], dropped: String? = nil, original: String? = nil)
        -> ReportedResult
    {
        let made = JSONValue.object(
            GenerationResult.completion("t", promptTokens: 1, completionTokens: 1).own)
        return ReportedResult(
            .row(
                steps.map { JSONMember(name: $0, value: made) }, dropped: dropped, original: original))
    }

    private static let rows = [
        row(["question", "judge"], dropped: "judge"), row(["question"], dropped: "question", original: "a"),
        row(["question", "repair", "judge", "answer"]), row(["question"], dropped: "question"),
        row(["question", "judge", "answer"]),
    ]

    /// How far rows with steps got.
    @Test(arguments: [[], ["question", "repair", "judge", "answer"]])
    func stepsStandInTheirOrder(_ names: [String]) {
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
