extension Pushdown: AnswerWriter {
    var mostGrowth: Int? { nil }

    func state(after bytes: ArraySlice<UInt8>, from state: Int32, _ text: [UInt8]) -> Int32? {
        var state = state
        for byte in bytes {
            state = next(state, byte)
            if state < 0 { return nil }
        }
        return state
    }

    func adopt(_ state: Int32, of former: any AnswerWriter, _ text: [UInt8]) -> Int32? { nil }

    func isDeep(_ state: Int32) -> Bool { sets[Int(state)].count > GrammarLimits.items }

    func loops(_ state: Int32) -> UInt64 {
        if let known = facts[state]?.loops { return known }
        let loops = findLoops(state)
        facts[state, default: StateFacts()].loops = loops
        return loops
    }

    func plan(_ state: Int32, _ tokens: TokenTrie) -> [Int32]? {
        if let known = facts[state]?.plan { return known }
        let plan =
            fewestBytes(state) <= GrammarLimits.shortest ? tokens.segments(shortestEnd(state)) : nil
        facts[state, default: StateFacts()].plan = .some(plan)
        planBytes += 4 * (plan?.count ?? 0)
        return plan
    }

    func mask(_ state: Int32, _ tokens: TokenTrie, isStart: Bool, left: Int?) -> StateMask {
        var maker = MaskMaker(self, tokens, left: left)
        return maker.wholeMask(of: state, isStart: isStart)
    }
}
