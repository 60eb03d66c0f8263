import Testing

@testable import phibatch

@Suite struct ArgumentsTests {
    @Test(arguments: [
        (["score", "job.yaml"], "task: score"), (["schema", "a.json"], "phibatch check"),
        (["perplexity"], "phibatch-dev"), (["manifest", "o"], "verify --manifest"),
        (["bench", "--kernels"], "phibatch-dev kernels"), (["rnu", "job.yaml"], "Did you mean run?"),
    ])
    func commandsThatAreElsewhereSayWhere(arguments: [String], place: String) throws {
        #expect(try #require(Arguments.advice(for: arguments)).contains(place))
    }

    @Test(arguments: [["run", "score"], ["bench", "--model", "m"], ["help", "score"], []])
    func othersAreNoneOfIts(arguments: [String]) { #expect(Arguments.advice(for: arguments) == nil) }
}
