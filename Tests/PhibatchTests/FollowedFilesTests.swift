import Testing

@testable import phibatch

/// Files of a followed input, from one round to the next.
@Suite struct FollowedFilesTests {
    @Test func whatChangesNumbersOfLines() throws {
        let known = ["q/b", "q/d"]
        #expect(ProgramJobs.shift(from: known, to: known) == nil)
        #expect(ProgramJobs.shift(from: known, to: known + ["q/e"]) == nil)
        let earlier = try #require(ProgramJobs.shift(from: known, to: ["q/a"] + known))
        #expect(earlier.path == "q/a" && earlier.what.text.contains("sorts before q/b"))
        let between = try #require(ProgramJobs.shift(from: known, to: ["q/b", "q/c", "q/d"]))
        #expect(between.path == "q/c" && between.what.text.contains("sorts before q/d"))
        let gone = try #require(ProgramJobs.shift(from: known, to: ["q/b"]))
        #expect(gone.path == "q/d" && gone.what.text.contains("not there any more"))
    }
}
