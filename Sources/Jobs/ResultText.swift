import JSON

/// Values as text for the fingerprint: distinct for distinct values.
enum ResultText {
    /// Returns the values of a list; nil if the text is none.
    static func values(_ text: String) -> [String]? {
        (try? JSONValue(parsing: Array(text.utf8), limits: .file))?.texts
    }

    static func list(_ values: [String]) -> String {
        JSONWriter.array { writer in for value in values { writer.string(value) } }.text
    }
}
