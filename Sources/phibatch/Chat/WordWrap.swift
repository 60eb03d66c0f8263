/// Breaks lines between words, where a terminal would break them anywhere. A word is held back until its end has come.
struct WordWrap {
    /// Cells that are taken on the last line.
    private var column = 0
    private var spaces = ""
    private var word = ""

    /// - Parameters:
    ///   - text: what comes next, as it is shown.
    ///   - columns: of the terminal.
    /// - Returns: what can be written now. After a line feed, that is all.
    mutating func append(_ text: String, columns: Int) -> String {
        var ready = ""
        for character in text {
            if character.isNewline {
                ready += flush(columns) + spaces + String(character)
                (spaces, column) = ("", 0)
            } else if character == " " || character == "\t" {
                ready += flush(columns)
                spaces.append(character)
            } else {
                // A line may end before and after an ideograph.
                let isWide = character.cells > 1
                if isWide { ready += flush(columns) }
                word.append(character)
                if isWide { ready += flush(columns) }
            }
        }
        return ready
    }

    /// The word that is held back, on this line or on the next.
    private mutating func flush(_ columns: Int) -> String {
        guard !word.isEmpty else { return "" }
        let (gap, own) = (width(spaces), word.reduce(0) { $0 + $1.cells })
        defer { (spaces, word) = ("", "") }
        // One that is longer than a line is broken somewhere anyway.
        guard column + gap + own > columns, column > 0, own <= columns else {
            column = (column + gap + own - 1) % max(1, columns) + 1
            return spaces + word
        }
        column = own
        return "\n" + word
    }

    private func width(_ spaces: String) -> Int {
        spaces.reduce(0) { $0 + ($1 == "\t" ? 8 - (column + $0) % 8 : 1) }
    }
}
