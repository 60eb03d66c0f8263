/// The lines that were entered in this session. Nothing of them is written to a file.
struct LineHistory {
    private var lines: [String] = []
    /// Which of them is shown; the end is what the person was writing.
    private var place = 0
    private var draft = ""

    /// A line that is empty, or the same again, is not noted.
    mutating func add(_ line: String) {
        if !line.allSatisfy(\.isWhitespace), lines.last != line { lines.append(line) }
        leave()
    }

    mutating func leave() { (place, draft) = (lines.count, "") }

    /// - Parameter text: what is shown now.
    /// - Returns: the line before it; nil at the first one.
    mutating func earlier(than text: String) -> String? {
        guard place > 0 else { return nil }
        if place == lines.count { draft = text }
        place -= 1
        return lines[place]
    }

    /// - Returns: the line after the one shown; nil at the end.
    mutating func later() -> String? {
        guard place < lines.count else { return nil }
        place += 1
        return place == lines.count ? draft : lines[place]
    }
}
