import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct MissingFieldsTests {
    private func warnings(_ keep: KeptFields, _ lines: String...) throws -> [String] {
        var missing = MissingFields()
        for (number, line) in lines.enumerated() {
            missing.note(
                try JSONValue(parsing: Array(line.utf8), limits: .line), at: "in:\(number + 1)", keep)
        }
        return missing.warnings(keep)
    }

    @Test func aLineOfWhichNothingIsKept() throws {
        let keep = KeptFields.fields([.init("prompt", as: "question")])
        #expect(try warnings(keep, "{\"prompt\": 1}", "{\"prompt\": null}") == [])
        let told = "in:2: keep: nothing is kept of this line, as it lacks prompt; so it is with 2 of 3 lines."
        #expect(try warnings(keep, "{\"prompt\": 1}", "{\"messages\": []}", "{\"x\": 1}") == [told])
    }

    @Test func aFieldThatNoLineHas() throws {
        let keep = KeptFields.fields([.init("id2"), .init("catgory")])
        let found = try warnings(keep, "{\"id2\": 1}", "{\"id2\": 2}")
        #expect(found == ["keep: no line has catgory, so results don't either."])
        // That only some lines have one of several is no slip.
        #expect(try warnings(keep, "{\"id2\": 1}", "{\"catgory\": 2}") == [])
        #expect(try warnings(.all, "{}") == [] && warnings(.none, "{}") == [] && warnings(keep) == [])
    }
}
