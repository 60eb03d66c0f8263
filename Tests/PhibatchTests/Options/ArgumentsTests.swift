import Testing

@testable import phibatch

@Suite struct ArgumentsTests {
    @Test func anUnknownCommandGetsAHint() {
        #expect(Arguments.advice(for: ["rnu", "job.yaml"])?.contains("Did you mean run?") == true)
        #expect(Arguments.advice(for: ["run", "score"]) == nil && Arguments.advice(for: []) == nil)
    }
}
