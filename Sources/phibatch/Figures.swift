import Errors
import FoundationShim

func rounded(_ value: Double) -> String {
    let tenths = Int((min(value, 1e12) * 10).rounded())
    return tenths >= 1000 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
}

/// Formats 0.0123 as 12 ms.
func span(_ seconds: Double) -> String {
    seconds < 0.1 ? "\(Int((seconds * 1000).rounded())) ms" : duration(seconds)
}

/// Formats 1011 as 1,011.
func grouped(_ value: Int) -> String {
    var text = String(value.magnitude)
    var index = text.count - 3
    while index > 0 {
        text.insert(",", at: text.index(text.startIndex, offsetBy: index))
        index -= 3
    }
    return value < 0 ? "-" + text : text
}

/// Formats 37 seconds as 0:37, and 5025 as 1:23:45.
func clock(_ seconds: Double) -> String {
    let whole = Int(max(0, min(seconds, 1e12)).rounded(.up))
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
}

func duration(_ seconds: Double) -> String {
    guard seconds >= 60 else { return "\(rounded(seconds)) s" }
    let whole = seconds.rounded()
    return clock(whole) + (whole >= 3600 ? " h" : " min")
}

/// Formats counts as "12 stop, 3 length", the most frequent first.
func tallied(
    _ counts: [String: Int], _ told: (String, Int) -> Message = { "\($1) \($0)" }
) -> Message {
    counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(told).joined(separator: ", ")
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

/// Returns a row for each name, all of which are shorter than the width.
func listed(_ rows: [(name: String, value: String)], width: Int) -> String {
    rows.map { $0.name.padded(to: width) + $0.value.asMessage }.joined(separator: "\n")
}

/// Pads the cells of each column to one width.
func aligned(_ rows: [[String]]) -> [[String]] {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in zip(row, widths).map { $0.padded(to: $1) } }
}

/// Returns a Markdown table; the first row has the heads.
func markdown(_ rows: [[String]]) -> [String] {
    let cells = aligned(rows)
    var lines = cells.map { "| " + $0.joined(separator: " | ") + " |" }
    let rule = cells[0].map { String(repeating: "-", count: $0.count + 2) }
    lines.insert("|" + rule.joined(separator: "|") + "|", at: 1)
    return lines
}
