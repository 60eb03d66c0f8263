import JSON
import Testing

@testable import Jobs

/// What a report knows of the fields of results, in memory that does not grow with them.
@Suite struct FieldStatisticsTests {
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
        var fields = FieldsOfResults()
        for number in 0..<200 {
            fields.add([ReportedField(["f\(number)"], .int(number)), ReportedField([], nil)])
        }
        #expect(fields.all.count == 64 && fields.isCut)
        #expect(fields.all[1].count == 200 && fields.all[1].kinds == ["null"])
        // Two origins are two fields.
        var two = FieldsOfResults()
        two.add([ReportedField(["a"], 1), ReportedField(["a"], "text", isOfLine: true)])
        two.add([ReportedField(["a"], "text", isOfLine: true)])
        #expect(two.all.map(\.count) == [1, 2])
    }
}
