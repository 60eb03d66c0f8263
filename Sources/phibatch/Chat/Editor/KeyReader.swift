import JSON

/// Turns what a terminal sends into keys. Bytes may come in any pieces.
struct KeyReader {
    private enum State {
        case plain
        /// After an ESC: what follows is pressed with Alt, or is a sequence.
        case escape
        /// After ESC [.
        case sequence
        /// After ESC O, which some terminals send for arrows.
        case single
        case paste
    }

    private var state = State.plain
    /// A character, a sequence's parameters or a paste, as far as they are there.
    private var held: [UInt8] = []

    private static let pasteStart = "200"
    private static let pasteEnd = Array("\u{1B}[201~".utf8)
    /// No key's sequence is as long.
    private static let longestSequence = 64

    mutating func keys(_ bytes: some Sequence<UInt8>) -> [Key] {
        var keys: [Key] = []
        for byte in bytes {
            guard let key = key(byte) else { continue }
            if case .text(let more) = key, case .text(let text)? = keys.last {
                keys[keys.count - 1] = .text(text + more)
            } else {
                keys.append(key)
            }
        }
        return keys
    }

    private mutating func key(_ byte: UInt8) -> Key? {
        switch state {
        case .plain: return plain(byte)
        case .escape:
            switch byte {
            case UInt8(ascii: "["): state = .sequence
            case UInt8(ascii: "O"): state = .single
            case 0x1B: break
            default:
                state = .plain
                return Key.alt(byte)
            }
            return nil
        case .single:
            state = .plain
            return Key.sequence("", byte)
        case .sequence: return sequence(byte)
        case .paste: return paste(byte)
        }
    }

    private mutating func plain(_ byte: UInt8) -> Key? {
        // A character that is broken off is none.
        if byte < 0x80 { held = [] }
        switch byte {
        case 0x1B:
            state = .escape
            return nil
        case 0x7F: return .backspace
        case 0..<0x20: return Key.control(byte)
        default:
            held.append(byte)
            switch held.withUnsafeBufferPointer({ UTF8Bytes.step($0, at: 0) }) {
            case .incomplete: return nil
            case .invalid:
                held = []
                return nil
            case .valid:
                defer { held = [] }
                return .text(String(decoding: held, as: UTF8.self))
            }
        }
    }

    private mutating func sequence(_ byte: UInt8) -> Key? {
        guard (0x40...0x7E).contains(byte) else {
            // A control character breaks it off, as does what is too long for a key.
            if byte < 0x20 || held.count >= Self.longestSequence {
                (state, held) = (.plain, [])
                return byte < 0x20 ? plain(byte) : nil
            }
            held.append(byte)
            return nil
        }
        let parameters = String(decoding: held, as: UTF8.self)
        (state, held) = (.plain, [])
        if byte == UInt8(ascii: "~"), parameters == Self.pasteStart {
            state = .paste
            return nil
        }
        return Key.sequence(parameters, byte)
    }

    private mutating func paste(_ byte: UInt8) -> Key? {
        held.append(byte)
        guard byte == UInt8(ascii: "~"), held.ends(with: Self.pasteEnd) else { return nil }
        let text = String(decoding: held.dropLast(Self.pasteEnd.count), as: UTF8.self)
        (state, held) = (.plain, [])
        // Terminals send a carriage return for the end of a line.
        return .paste(String(text.map { $0 == "\r\n" || $0 == "\r" ? "\n" : $0 }))
    }
}

extension [UInt8] {
    fileprivate func ends(with end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }
}
