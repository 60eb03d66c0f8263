extension String {
    /// As it may stand in a message: foreign files name things at any length, and with characters that would
    /// steer a terminal.
    package var asMessage: String {
        func steers(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t"
        }
        let limit = 2000
        // Most messages need nothing done.
        if utf8.count <= limit, !unicodeScalars.contains(where: steers) { return self }
        var text = UnicodeScalarView()
        let all = unicodeScalars
        if all.count <= limit {
            text.append(contentsOf: all)
        } else {
            text.append(contentsOf: all.prefix(limit / 2))
            text.append(contentsOf: " [...] ".unicodeScalars)
            text.append(contentsOf: all.suffix(limit / 2))
        }
        return String(UnicodeScalarView(text.map { steers($0) ? "\u{FFFD}" : $0 }))
    }
}
