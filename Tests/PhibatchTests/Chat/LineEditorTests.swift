import Testing

@testable import phibatch

@Suite struct LineEditorTests {
    /// The editor after keys as a terminal sends them, with `|` for the cursor.
    private func typed(_ pieces: String...) -> String {
        var editor = LineEditor(words: ["/reset", "/save", "/system"])
        return typed(pieces, &editor)
    }

    private func typed(_ pieces: [String], _ editor: inout LineEditor) -> String {
        var reader = KeyReader()
        for piece in pieces {
            for key in reader.keys(piece.utf8) { _ = editor.press(key) }
        }
        return String(editor.before) + "|" + String(editor.after)
    }

    @Test func keysMoveAsInAShell() {
        #expect(typed("one two") == "one two|")
        #expect(typed("one two\u{01}") == "|one two")
        #expect(typed("one two\u{1B}[H\u{1B}[C\u{1B}[C") == "on|e two")
        #expect(typed("one two\u{01}\u{05}\u{02}") == "one tw|o")
        #expect(typed("one, two\u{1B}b") == "one, |two")
        #expect(typed("one, two\u{1B}[1;5D\u{1B}[1;5D") == "|one, two")
        #expect(typed("one, two\u{01}\u{1B}f") == "one|, two")
        #expect(typed("one, two\u{01}\u{1B}[1;3C\u{1B}[1;5C") == "one, two|")
        #expect(typed("ab\u{1B}OD\u{1B}[4~") == "ab|")
        #expect(typed("ab\u{1B}[D\u{1B}[D\u{1B}[D") == "|ab")
    }

    @Test func keysDeleteAsInAShell() {
        #expect(typed("abc\u{7F}\u{1B}[D\u{1B}[3~") == "a|")
        #expect(typed("abc\u{01}\u{04}") == "|bc")
        #expect(typed("one two\u{17}") == "one |")
        #expect(typed("a/b c/d\u{17}") == "a/b |")
        #expect(typed("a/b c/d\u{1B}\u{7F}") == "a/b c/|")
        #expect(typed("one two\u{01}\u{1B}d") == "| two")
        #expect(typed("one two\u{02}\u{15}") == "|o")
        #expect(typed("one two\u{1B}b\u{0B}\u{01}\u{19}") == "two|one ")
        // Cuts after another are one piece.
        #expect(typed("a b c\u{17}\u{17}x\u{19}") == "a xb c|")
        #expect(typed("ab\u{14}") == "ba|")
        #expect(typed("abc\u{02}\u{14}") == "acb|")
        #expect(typed("a\u{14}") == "a|")
    }

    @Test func aCharacterIsWhatAPersonSees() {
        #expect(typed("e\u{301}x\u{7F}\u{7F}") == "|")
        #expect(typed("日本\u{1B}[D\u{7F}") == "|本")
        #expect(typed("👨‍👩‍👧\u{7F}a") == "a|")
        // An accent before which the cursor stood joins what is written there.
        #expect(typed("ae\u{1B}[D\u{301}") == "a\u{301}|e")
    }

    @Test func bytesMayComeInAnyPieces() {
        let keys = "é\u{1B}[1;5D日\u{1B}[200~x\r\ny\u{1B}[201~\r".utf8
        var whole = KeyReader()
        var single = KeyReader()
        let expected: [Key] = [.text("é"), .wordLeft, .text("日"), .paste("x\ny"), .enter]
        #expect(whole.keys(keys) == expected)
        #expect(keys.flatMap { single.keys([$0]) } == expected)
    }

    @Test func brokenBytesAreNoKeys() {
        var reader = KeyReader()
        #expect(reader.keys([0xE6, 0x97] + "a".utf8) == [.text("a")])
        #expect(reader.keys([0xFF, 0x80] + "b".utf8) == [.text("b")])
        #expect(reader.keys("\u{1B}[99;99Xc".utf8) == [.text("c")])
        #expect(
            reader.keys(Array("\u{1B}[".utf8) + Array(repeating: 0x31, count: 65) + Array("d".utf8)) == [
                .text("d")
            ])
        #expect(reader.keys("\u{1B}[1\u{03}e".utf8) == [.interrupt, .text("e")])
    }

    @Test func aPasteIsOneText() {
        var editor = LineEditor()
        #expect(
            typed(["a\u{1B}[200~b\rc\u{03}\u{1B}[A\rd\u{1B}[201~e"], &editor) == "ab\nc\u{03}\u{1B}[A\nde|")
        #expect(editor.press(.enter) == .accepted("ab\nc\u{03}\u{1B}[A\nde"))
        #expect(editor.isEmpty)
    }

    @Test func theHistoryIsWalked() {
        var editor = LineEditor()
        for line in ["one", "two", "two", " "] {
            _ = editor.press(.text(line))
            #expect(editor.press(.enter) == .accepted(line))
        }
        #expect(typed(["draft\u{1B}[A"], &editor) == "two|")
        #expect(typed(["\u{10}\u{10}"], &editor) == "one|")
        #expect(typed(["\u{1B}[B"], &editor) == "two|")
        #expect(typed(["\u{1B}[B\u{0E}"], &editor) == "draft|")
        #expect(editor.press(.interrupt) == .cancelled && editor.isEmpty)
        #expect(typed(["\u{1B}[A!"], &editor) == "two!|")
    }

    @Test func anEmptyLineEndsTheInput() {
        var editor = LineEditor()
        #expect(editor.press(.endOfInput) == .ended)
        _ = editor.press(.text("a"))
        #expect(editor.press(.endOfInput) == .edited && editor.text == "a")
        #expect(editor.press(.suspend) == .suspended && editor.text == "a")
    }

    @Test func commandsAreCompleted() {
        #expect(typed("/r\t") == "/reset |")
        #expect(typed("/s\t") == "/s|")
        #expect(typed("/sa\tx") == "/save x|")
        #expect(typed("\tw\t") == "w|")
    }

    @Test func aLineDoesNotGrowWithoutEnd() {
        var editor = LineEditor()
        _ = editor.press(.text("ab"))
        for _ in 0..<64 {
            for key in [Key.killToStart, .yank, .yank] { _ = editor.press(key) }
        }
        #expect(editor.text.count <= LineEditor.limit && editor.text.count > LineEditor.limit / 4)
    }
}
