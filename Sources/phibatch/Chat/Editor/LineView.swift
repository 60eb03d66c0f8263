/// What of an edited line is on the screen, and what to send to a terminal so that it shows another state.
struct LineView {
    /// Rows of it above the cursor.
    private var above = 0
    private var shown: LineLayout?

    /// - Parameter height: the terminal's rows; of a longer text those around the cursor are shown.
    mutating func draw(_ layout: LineLayout, height: Int) -> String {
        let first = max(0, layout.cursorRow - max(1, height) + 1)
        let rows = layout.rows[first..<min(layout.rows.count, first + max(1, height))]
        let below = first + rows.count - 1 - layout.cursorRow
        var text = start + "\u{1B}[J" + rows.map(\.text).joined(separator: "\r\n")
        if below > 0 { text += "\u{1B}[\(below)A" }
        text += "\r"
        if layout.cursorColumn > 0 { text += "\u{1B}[\(layout.cursorColumn)C" }
        above = layout.cursorRow - first
        shown = layout
        return text
    }

    /// To the first cell of what is shown.
    private var start: String { above > 0 ? "\u{1B}[\(above)A\r" : "\r" }

    /// The terminal has another width now. Most break the rows anew, and the cursor stays at its character.
    mutating func resize(columns: Int) {
        guard let shown, shown.cursorRow == above else { return }
        above = shown.rowsAboveCursor(at: columns)
    }

    /// Clears the screen; the next state is drawn at its top.
    mutating func clearScreen() -> String {
        (above, shown) = (0, nil)
        return "\u{1B}[H\u{1B}[2J"
    }

    /// Forgets what is shown: something else may have been written below it.
    mutating func leave() { (above, shown) = (0, nil) }
}
