extension String {
    /// The text as an untrusted value in a message. Characters that steer a terminal, change the writing direction or
    /// begin a new line are escaped, like `\u{1B}` or `\n`, and the middle of a very long text is left out. Idempotent.
    package var asMessage: String {
        let limit = 2000
        let all = unicodeScalars
        // Most values need no change.
        if utf8.count <= limit, !all.contains(where: \.steers) { return self }
        let head = Self.escaped(all.prefix(limit + 1))
        if head.unicodeScalars.count <= limit, all.count <= limit { return head }
        let gap = " [...] "
        let half = (limit - gap.count) / 2
        return String(head.unicodeScalars.prefix(half)) + gap
            + String(Self.escaped(all.suffix(limit)).unicodeScalars.suffix(half))
    }

    /// The text as a whole, for a terminal: escaped like `asMessage`, except line feeds and tabs, and never shortened.
    /// Pieces of a text may be escaped one by one.
    package var escapedForTerminal: String {
        if !unicodeScalars.contains(where: { $0.steers && !$0.isLayout }) { return self }
        return Self.escaped(unicodeScalars, keepsLayout: true)
    }

    private static func escaped(
        _ scalars: some Sequence<Unicode.Scalar>, keepsLayout: Bool = false
    ) -> String {
        var text = UnicodeScalarView()
        for scalar in scalars {
            if scalar.steers, !(keepsLayout && scalar.isLayout) {
                text.append(contentsOf: scalar.visible.unicodeScalars)
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal interprets it as a command, or shows the text after it elsewhere.
    package var steers: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0: true  // C0, DEL, C1
        case 0x2028, 0x2029: true  // line and paragraph separators
        case 0x10FE80...0x10FEFF: true  // a byte of a path that is no character
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true  // directions
        default: false
        }
    }

    fileprivate var isLayout: Bool { self == "\n" || self == "\t" }

    fileprivate var visible: String {
        switch self {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        case "\u{10FE80}"..."\u{10FEFF}": "\\x" + String(value - 0x10FE00, radix: 16)
        default: "\\u{" + String(value, radix: 16, uppercase: true) + "}"
        }
    }
}
