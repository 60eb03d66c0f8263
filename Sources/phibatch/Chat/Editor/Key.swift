/// What a person does at the keyboard, as a line editor sees it.
enum Key: Equatable {
    case text(String)
    /// Text that came in one piece from a clipboard, line feeds included.
    case paste(String)
    case enter, newLine, tab
    case left, right, wordLeft, wordRight, home, end, up, down
    case backspace, delete, deleteWordLeft, deleteWordRight, deleteToSpace
    case killToEnd, killToStart, yank, swap
    case clearScreen, redraw, interrupt, endOfInput, suspend

    /// Control characters, by the letter that is pressed with Ctrl.
    static func control(_ byte: UInt8) -> Key? {
        switch UInt8(ascii: "@") + byte {
        case UInt8(ascii: "A"): .home
        case UInt8(ascii: "B"): .left
        case UInt8(ascii: "C"): .interrupt
        case UInt8(ascii: "D"): .endOfInput
        case UInt8(ascii: "E"): .end
        case UInt8(ascii: "F"): .right
        case UInt8(ascii: "H"): .backspace
        case UInt8(ascii: "I"): .tab
        case UInt8(ascii: "J"), UInt8(ascii: "M"): .enter
        case UInt8(ascii: "K"): .killToEnd
        case UInt8(ascii: "L"): .clearScreen
        case UInt8(ascii: "N"): .down
        case UInt8(ascii: "P"): .up
        case UInt8(ascii: "T"): .swap
        case UInt8(ascii: "U"): .killToStart
        case UInt8(ascii: "W"): .deleteToSpace
        case UInt8(ascii: "Y"): .yank
        case UInt8(ascii: "Z"): .suspend
        default: nil
        }
    }

    /// A key that is pressed with Alt, which terminals send after an ESC.
    static func alt(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "b"), UInt8(ascii: "B"): .wordLeft
        case UInt8(ascii: "f"), UInt8(ascii: "F"): .wordRight
        case UInt8(ascii: "d"), UInt8(ascii: "D"): .deleteWordRight
        case 0x7F, 0x08: .deleteWordLeft
        case 0x0D, 0x0A: .newLine
        default: nil
        }
    }

    /// A control sequence (ECMA-48): ESC [, parameters, and a final byte.
    static func sequence(_ parameters: String, _ final: UInt8) -> Key? {
        let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false)
        // The second one says what is held down: 3 is Alt, 5 is Ctrl, 7 both.
        let isWord = numbers.count > 1 && ["3", "5", "7"].contains(numbers[1])
        switch final {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return isWord ? .wordRight : .right
        case UInt8(ascii: "D"): return isWord ? .wordLeft : .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "~"):
            switch numbers.first {
            case "1", "7": return .home
            case "4", "8": return .end
            case "3": return isWord ? .deleteWordRight : .delete
            default: return nil
            }
        default: return nil
        }
    }
}
