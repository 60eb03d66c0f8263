import BatchEngine
import TestSupport
import Testing

@Suite struct ConstraintTests {
    /// What drafting ahead needs: a copy goes on by itself, and the original is still where it was.
    @Test func aCopyIsAPlaceToGoBackTo() throws {
        let parameters = SamplingParameters(rules: LogitRules(frequencyPenalty: 1, repetitionPenalty: 1.1))
        var request = SamplingRequest(
            parameters: parameters, stream: 1, prompt: [5], constraint: Multiples(vocabularySize: 40))
        request = try #require(request.after([4, 9]))
        let before = request
        let draft = try #require(request.after([10, 14, 2]))
        #expect(draft.position == 5 && draft.history != before.history)
        #expect(
            draft.constraint?.allowed()
                == TokenMask([0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39], count: 40))
        #expect(request.position == 2 && request.history == before.history)
        #expect(request.constraint?.allowed() == TokenMask([0, 5, 10, 15, 20, 25, 30, 35], count: 40))
        for token: Int32 in [10, 14, 2] {
            let isAllowed = request.accept(token)
            #expect(isAllowed)
        }
        #expect(request.history == draft.history && request.position == draft.position)
    }

    @Test func aTokenThatIsNotAllowedChangesNothing() {
        var request = SamplingRequest(
            parameters: SamplingParameters(rules: LogitRules(presencePenalty: 1)), stream: 1,
            constraint: Multiples(vocabularySize: 40))
        for token: Int32 in [3, 40, -2] {
            let isAllowed = request.accept(token)
            #expect(!isAllowed)
        }
        #expect(request.position == 0 && request.history.entries.isEmpty)
        #expect(request.constraint?.allowed()[2] == true)
    }
}
