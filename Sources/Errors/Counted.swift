/// A number of things as people write it: 1 line, 2 lines.
/// - Parameter noun: of one thing; several have an s.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
