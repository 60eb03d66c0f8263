/// Formats a count: 1 line, 2 lines.
/// - Parameter noun: singular; the plural adds an s.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
