/// A writer's operations on texts and vocabularies.
extension JSONAutomaton {
    func state(after bytes: ArraySlice<UInt8>, from state: Int32, _ text: [UInt8]) -> Int32? {
        var state = state
        for (place, byte) in zip(bytes.indices, bytes) {
            if byte == UInt8(ascii: "\""), hasFreeName(state) {
                state = next(state, byte, name: Self.lastName(of: text + bytes[..<place]))
            } else {
                state = next(state, byte)
            }
            if state < 0 { return nil }
        }
        return state
    }

    /// Returns the bytes after the last quote that is not escaped.
    private static func lastName(of text: [UInt8]) -> [UInt8] {
        var place = text.count
        while place > 0 {
            place -= 1
            guard text[place] == UInt8(ascii: "\"") else { continue }
            let escapes = text[..<place].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
            if escapes % 2 == 0 { return Array(text[(place + 1)...]) }
        }
        return text
    }

    func onlyByte(_ state: Int32) -> UInt8? {
        // The bytes after a free name depend on it.
        hasFreeName(state) ? nil : tables.onlyByte(state) { findOnlyByte(state) }
    }

    func loops(_ state: Int32) -> UInt64 { tables.loops(state) { findLoops(state) } }

    func isDeep(_ state: Int32) -> Bool {
        states[Int(state)].contains {
            $0.frame >= 0 && frameFacts[Int($0.frame)].depth > ConstraintLimits.depth
        }
    }

    func shortestEnd(_ state: Int32) -> [UInt8] {
        states[Int(state)].map { shortestEnd($0) }.min { $0.count < $1.count } ?? []
    }

    func mask(_ state: Int32, _ tokens: TokenTrie, isStart: Bool, left: Int?) -> StateMask {
        var maker = MaskMaker(self, tokens, left: left)
        return maker.mask(of: state, isStart: isStart)
    }
}
