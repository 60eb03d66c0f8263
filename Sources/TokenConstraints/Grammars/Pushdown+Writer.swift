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

    func plan(_ state: Int32, _ tokens: TokenTrie) -> [Int32]? {
        tables.plan(state) {
            fewestBytes(state) <= GrammarLimits.shortest ? tokens.segments(shortestEnd(state)) : nil
        }
    }

    func mask(_ state: Int32, _ tokens: TokenTrie, isStart: Bool, left: Int?) -> StateMask {
        var maker = MaskMaker(self, tokens, left: left)
        return maker.wholeMask(of: state, isStart: isStart)
    }

    // MARK: Shortest texts and forced bytes

    /// Returns the shortest text from a state to an end; of equally short ones the smallest.
    func shortestEnd(_ state: Int32) -> [UInt8] {
        var text: [UInt8] = []
        var state = state
        while let byte = shortestByte(state) {
            text.append(byte)
            state = next(state, byte)
        }
        return text
    }

    /// The first byte of that text; nil if it is empty.
    private func shortestByte(_ state: Int32) -> UInt8? {
        let bytes = fewestBytes(state)
        guard bytes > 0 else { return nil }
        var least: UInt8?
        for item in scans(of: state) where self.bytes(of: item) == bytes {
            guard let terminal = grammar.terminal(at: item.position) else { continue }
            let own = terminal.fewestBytes(item.state)
            guard own > 0 else { continue }
            for byte in UInt8.min...(least ?? .max) {
                let after = terminal.next(item.state, byte)
                if after >= 0, terminal.fewestBytes(after) == own - 1 {
                    least = byte
                    break
                }
            }
        }
        return least
    }

    func onlyByte(_ state: Int32) -> UInt8? { tables.onlyByte(state) { findOnlyByte(state) } }
}
