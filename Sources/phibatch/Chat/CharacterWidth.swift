extension Character {
    /// How many cells of a terminal it takes: East Asian wide characters and emoji two (Unicode's annex 11), marks
    /// on a letter none.
    var cells: Int {
        guard let first = unicodeScalars.first else { return 0 }
        let isEmoji =
            first.properties.isEmojiPresentation
            || first.properties.isEmoji && unicodeScalars.contains("\u{FE0F}")
        return isEmoji ? 2 : unicodeScalars.reduce(0) { $0 + $1.cells }
    }
}

extension Unicode.Scalar {
    fileprivate var cells: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch value {
        case 0x1160...0x11FF: return 0  // the parts of a Hangul syllable after the first
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
            0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF,
            0x20000...0x2FFFD, 0x30000...0x3FFFD:
            return 2
        default: return properties.isEmojiPresentation ? 2 : 1
        }
    }
}
