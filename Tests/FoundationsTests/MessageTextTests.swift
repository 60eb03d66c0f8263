import Foundations
import Testing

struct MessageTextTests {
    @Test func whatSteersATerminalIsReplaced() {
        #expect("a\u{1B}[2Jb".asMessage == "a\u{FFFD}[2Jb")
        #expect("two\nlines".asMessage == "two\nlines")
    }

    @Test func longTextLosesItsMiddle() {
        let text = String(repeating: "x", count: 5000).asMessage
        #expect(text.contains(" [...] "))
        #expect(text.utf8.count < 2100)
    }
}
