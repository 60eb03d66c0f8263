/// How a prompt and a text lie in the rows of a terminal, and where the cursor is.
struct LineLayout: Equatable {
    struct Row: Equatable {
        var text = ""
        /// In cells.
        var width = 0
    }

    private(set) var rows = [Row()]
    private(set) var cursorRow = 0
    private(set) var cursorColumn = 0
    private let columns: Int

    init(prompt: String, before: [Character], after: [Character], columns: Int) {
        self.columns = max(1, columns)
        for character in Array(prompt) + before { put(character) }
        // The cursor has no place behind the last column.
        if rows[rows.count - 1].width >= self.columns { rows.append(Row()) }
        (cursorRow, cursorColumn) = (rows.count - 1, rows[rows.count - 1].width)
        for character in after { put(character) }
    }

    init(prompt: String, _ editor: LineEditor, columns: Int) {
        self.init(prompt: prompt, before: editor.before, after: editor.after, columns: columns)
    }

    private mutating func put(_ character: Character) {
        if character == "\n" { return rows.append(Row()) }
        if character == "\t" { return put(cells: "    ") }
        // What would steer the terminal is shown as an escape.
        let shown = String(character).asMessage
        if shown.utf8.elementsEqual(String(character).utf8) {
            put(shown, width: character.cells)
        } else {
            put(cells: shown)
        }
    }

    private mutating func put(cells text: String) {
        for character in text { put(String(character), width: 1) }
    }

    private mutating func put(_ text: String, width: Int) {
        if rows[rows.count - 1].width + width > columns { rows.append(Row()) }
        rows[rows.count - 1].text += text
        rows[rows.count - 1].width += width
    }

    /// The rows above the cursor's once the terminal has another width: it breaks rows that are too long by itself.
    func rowsAboveCursor(at columns: Int) -> Int {
        let columns = max(1, columns)
        return rows[..<cursorRow].reduce(cursorColumn / columns) {
            $0 + max(1, ($1.width + columns - 1) / columns)
        }
    }
}
