/// Lays out help that the argument parser doesn't know of, in its own style.
enum HelpText {
    private static let column = 26
    private static let width = 79

    /// A name and its explanation, in two columns.
    static func row(_ name: String, _ explanation: String) -> String {
        let indent = String(repeating: " ", count: column)
        var lines: [String] = []
        var line = "  " + name
        line += line.count < column ? String(repeating: " ", count: column - line.count) : "\n" + indent
        var length = column
        var isFirst = true
        for word in explanation.split(separator: " ") {
            if !isFirst, length + 1 + word.count > width {
                lines.append(line)
                (line, length, isFirst) = (indent, column, true)
            }
            line += (isFirst ? "" : " ") + word
            length += word.count + (isFirst ? 0 : 1)
            isFirst = false
        }
        return (lines + [line]).joined(separator: "\n")
    }
}
