import Testing

@testable import phibatch

/// Lines of an answer at a terminal end between words.
@Suite struct WordWrapTests {
    private func wrapped(_ text: String, columns: Int = 10, pieces: Int = 1) -> String {
        var wrap = WordWrap()
        var shown = ""
        var rest = Array(text + "\n")[...]
        while !rest.isEmpty {
            shown += wrap.append(String(rest.prefix(pieces)), columns: columns)
            rest = rest.dropFirst(pieces)
        }
        return shown
    }

    @Test(arguments: [1, 2, 3, 100])
    func noWordIsBroken(pieces: Int) {
        let cases = [
            ("one two three four", "one two\nthree four\n"), ("exactly te n", "exactly te\nn\n"),
            ("a\n\n  indented by two", "a\n\n  indented\nby two\n"), ("trailing  ", "trailing  \n"),
            ("x averyveryverylongword y", "x averyveryverylongword y\n"), ("", "\n"),
            ("日本語日本語です", "日本語日本\n語です\n"), ("a\tb c", "a\tb\nc\n"),
        ]
        for (text, expected) in cases { #expect(wrapped(text, pieces: pieces) == expected) }
    }

    /// But for where lines end, it is the same text.
    @Test func nothingIsLost() {
        let text =
            "A longer answer, with commas, dashes - and a word that is supercalifragilistic, and an end."
        for columns in 1...40 {
            let shown = wrapped(text, columns: columns)
            #expect(shown.split(whereSeparator: \.isWhitespace) == text.split(separator: " "))
            let lines = shown.split(separator: "\n")
            if columns > 24 { #expect(lines.allSatisfy { $0.count <= columns }) }
        }
    }

    @Test func cellsOfCharacters() {
        for (character, cells) in [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("日", 2), ("ｱ", 1), ("Ａ", 2), ("한", 2),
            ("\u{1112}\u{1161}\u{11AB}", 2),
            ("👍", 2), ("👨‍👩‍👧", 2), ("🇩🇪", 2), ("❤\u{FE0F}", 2), ("❤", 1), ("Ж", 1), ("©", 1),
        ] as [(Character, Int)] {
            #expect(character.cells == cells, "\(character)")
        }
    }
}
