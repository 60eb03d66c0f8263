import Testing

@testable import Jobs

@Suite struct InOrderTests {
    @Test func whatComesInAnyOrderIsGivenOutInOrder() {
        var things = InOrder<String>()
        for (number, thing) in [(2, "c"), (0, "a"), (2, "again")] { things.add(thing, at: number) }
        #expect(things.pop() == "a" && things.pop() == nil && things.next == 1)
        #expect(Array(things.waiting) == ["c"])
        things.add("late", at: 0)
        things.add("b", at: 1)
        #expect(things.pop() == "b" && things.pop() == "c" && things.pop() == nil && things.next == 3)
    }
}
