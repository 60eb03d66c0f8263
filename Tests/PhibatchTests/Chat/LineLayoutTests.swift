import Testing

@testable import phibatch

@Suite struct LineLayoutTests {
    private func layout(_ before: String, _ after: String = "", columns: Int = 10) -> LineLayout {
        LineLayout(prompt: "> ", before: Array(before), after: Array(after), columns: columns)
    }

    private func cursor(_ layout: LineLayout) -> [Int] { [layout.cursorRow, layout.cursorColumn] }

    @Test func cellsOfCharacters() {
        for (character, cells) in [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("日", 2), ("ｱ", 1), ("Ａ", 2), ("한", 2),
            ("\u{1112}\u{1161}\u{11AB}", 2),
            ("👍", 2), ("👨‍👩‍👧", 2), ("🇩🇪", 2), ("❤\u{FE0F}", 2), ("❤", 1), ("Ж", 1), ("©", 1),
        ] as [(Character, Int)] {
            #expect(character.cells == cells, "\(character)")
        }
    }

    @Test func longTextsHaveSeveralRows() {
        let full = layout("abcdefgh")
        #expect(full.rows.map(\.text) == ["> abcdefgh", ""] && cursor(full) == [1, 0])
        let middle = layout("abc", "defghij")
        #expect(middle.rows.map(\.text) == ["> abcdefgh", "ij"] && cursor(middle) == [0, 5])
        // A wide character has no half.
        let wide = layout("abcdefg日")
        #expect(wide.rows.map(\.text) == ["> abcdefg", "日"] && cursor(wide) == [1, 2])
        let lines = layout("a\nb", "\nc")
        #expect(lines.rows.map(\.text) == ["> a", "b", "c"] && cursor(lines) == [1, 1])
    }

    @Test func nothingSteersTheTerminal() {
        let text = layout("\u{1B}[2J\u{9B}\u{202E}\t", columns: 80)
        #expect(text.rows.map(\.text) == ["> \\u{1B}[2J\\u{9B}\\u{202E}    "])
        #expect(text.cursorColumn == text.rows[0].text.count)
    }

    @Test func theViewGoesBackToItsFirstRow() {
        var view = LineView()
        #expect(view.draw(layout("ab"), height: 5) == "\r\u{1B}[J> ab\r\u{1B}[4C")
        #expect(view.draw(layout("abcdefghi"), height: 5) == "\r\u{1B}[J> abcdefgh\r\ni\r\u{1B}[1C")
        #expect(
            view.draw(layout("", "abcdefghi"), height: 5)
                == "\u{1B}[1A\r\u{1B}[J> abcdefgh\r\ni\u{1B}[1A\r\u{1B}[2C")
        // Only what fits on the screen.
        let tall = view.draw(layout("1\n2\n3\n4"), height: 2)
        #expect(tall == "\r\u{1B}[J3\r\n4\r\u{1B}[1C")
        #expect(
            view.clearScreen() + view.draw(layout("a"), height: 5)
                == "\u{1B}[H\u{1B}[2J\r\u{1B}[J> a\r\u{1B}[3C")
    }

    @Test func aNarrowerTerminalHasMoreRows() {
        let long = layout("abcdefgh12345678")
        #expect(long.rowsAboveCursor(at: 10) == 1)
        #expect(long.rowsAboveCursor(at: 5) == 3)
        var view = LineView()
        _ = view.draw(long, height: 24)
        view.resize(columns: 5)
        #expect(view.draw(long, height: 24).hasPrefix("\u{1B}[3A\r"))
    }
}
