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

    func isDeep(_ state: Int32) -> Bool { items(state).count > GrammarLimits.items }

    func loops(_ state: Int32) -> UInt64 { tables.loops(state) { findLoops(state) } }

    func plan(_ state: Int32, _ tokens: TokenTrie) -> [Int32]? {
        tables.plan(state) {
            fewestBytes(state) <= GrammarLimits.shortest ? tokens.segments(shortestEnd(state)) : nil
        }
    }

    func mask(_ state: Int32, _ tokens: TokenTrie, isStart: Bool, left: Int?) -> StateMask {
        var maker = MaskMaker(self, tokens, left: left)
        return maker.wholeMask(of: state, isStart: isStart)
    }
}
