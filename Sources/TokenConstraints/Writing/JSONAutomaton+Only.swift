/// Forced bytes.
extension JSONAutomaton {
    /// The only byte that can come next; nil if there are several, or the text may end.
    func onlyByte(_ state: Int32) -> UInt8? { tables.onlyByte(state) { findOnlyByte(state) } }

    private func findOnlyByte(_ state: Int32) -> UInt8? {
        var only: UInt8?
        for place in states[Int(state)] {
            switch place.kind {
            case .end, .freeName: return nil
            case .string where strings[Int(place.a)].isAny: return nil
            case .fixed:
                let byte = fixedTexts[Int(place.a)][Int(place.b)]
                if only.map({ $0 != byte }) ?? false { return nil }
                only = byte
            case .name:
                let frame = frames[Int(place.frame)]
                let bytes = objects[Int(frame.shape)].names.bytes(
                    after: place.b, in: frameFacts[Int(place.frame)].open)
                guard bytes.count == 1, only == nil || only == bytes[0] else { return nil }
                only = bytes[0]
            case .text, .string:
                for byte in UInt8.min...UInt8.max where next(state, byte) >= 0 {
                    if only.map({ $0 != byte }) ?? false { return nil }
                    only = byte
                }
            }
        }
        return only
    }

    /// The classes of bytes that all lead from a state back to it.
    func loops(_ state: Int32) -> UInt64 { tables.loops(state) { findLoops(state) } }
}
