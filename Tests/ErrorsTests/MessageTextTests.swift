import Errors
import Testing

struct MessageTextTests {
    /// What must reach no terminal as it is, and a few harmless neighbours.
    static let steering: [Unicode.Scalar] =
        (Array(0..<0x20) + Array(0x7F..<0xA0) + [0x061C, 0x200E, 0x200F, 0x2028, 0x2029]
        + Array(0x202A...0x202E) + Array(0x2066...0x2069)).compactMap(Unicode.Scalar.init)

    @Test func whatSteersATerminalIsShownAsAnEscape() {
        #expect("a\u{1B}[2Jb".asMessage == "a\\u{1B}[2Jb")
        #expect(
            "two\nlines\r\n\tand \u{202E}more\u{9B}".asMessage
                == "two\\nlines\\r\\n\\tand \\u{202E}more\\u{9B}")
        #expect(
            "a\u{10FE80}\u{10FEFF}".asMessage == "a\\x80\\xff", "how paths hold bytes that are no characters")
        for scalar in Self.steering {
            let text = "a\(Character(scalar))b".asMessage
            #expect(!text.unicodeScalars.contains { Self.steering.contains($0) }, "\(scalar.value)")
            #expect(text.asMessage == text)
        }
        for plain in ["", "Größe", "日本語 ✓ 👩‍👩‍👧", "a\\nb", "\u{A0}\u{200B}"] { #expect(plain.asMessage == plain) }
    }

    @Test func longTextLosesItsMiddle() {
        for text in [String(repeating: "x", count: 5000), String(repeating: "\n", count: 1990)] {
            let shown = text.asMessage
            #expect(shown.contains(" [...] "))
            #expect(shown.utf8.count <= 2000)
            #expect(shown.asMessage == shown)
        }
        let ends = ("a" + String(repeating: "é\u{1B}", count: 1 << 20) + "z").asMessage
        #expect(ends.hasPrefix("aé\\u{1B}é") && ends.hasSuffix("\\u{1B}z"))
    }
}

struct MessageTests {
    private struct Plain: Error, CustomStringConvertible { let description: String }

    private let value = "a\n\u{1B}b"
    private let shown = "a\\n\\u{1B}b"

    /// Line feeds of our own are lines; those in values are not.
    @Test func valuesAreEscapedAndOurOwnWordsAreNot() {
        let message: Message = "one: \(value)\ntwo: \(17)"
        #expect(message.text == "one: \(shown)\ntwo: 17")
        #expect(
            ("\(message), \(Optional(value) as Any)" as Message).text.hasPrefix("one: \(shown)\ntwo: 17, "))
        #expect(Message(value: value).text == shown)
        #expect((message + ": " + "\(value)").text == "one: \(shown)\ntwo: 17: \(shown)")
        let list: [Message] = ["\(value)", "b"]
        #expect(list.joined(separator: "\n").text == "\(shown)\nb")
    }

    @Test func errorsSayThemselves() {
        let plain: any Error = Plain(description: value)
        let explained: any Error = UserError(.io, "one: \(value)\ntwo" as Message)
        #expect(("\(plain)" as Message).text == shown)
        #expect(("\(explained)" as Message).text == "one: \(shown)\ntwo")
    }
}
