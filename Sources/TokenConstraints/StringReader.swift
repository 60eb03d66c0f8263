/// Reads the contents of a JSON string byte by byte.
struct StringReader {
    private let texts: MachineText
    private var state: Int32
    /// Complete ones so far.
    private(set) var scalars = 0

    private static let anySpelling = ByteMachine.anySpelling.map { MachineText($0) }
    private static let ownSpelling = ByteMachine.ownSpelling.map { MachineText($0) }

    init(allowsAnySpelling: Bool) {
        guard let texts = allowsAnySpelling ? Self.anySpelling : Self.ownSpelling else {
            preconditionFailure("an automaton of one state can be made")
        }
        self.texts = texts
        state = texts.start
    }

    var isBetweenScalars: Bool { texts.isBetweenScalars(state) }

    /// - Returns: false if the byte is invalid here, or ends the string. Then nothing has changed.
    mutating func takes(_ byte: UInt8) -> Bool {
        let next = texts.next(state, byte)
        guard next >= 0 else { return false }
        state = next
        if isBetweenScalars { scalars += 1 }
        return true
    }
}
