import BatchEngine

/// What each token does in a JSON string at a place between two scalars, where every text is allowed: it stays within
/// the string, or ends it and goes on after it.
struct StringTokens: Sendable {
    /// A token that ends the string.
    struct Exit: Sendable {
        let token: Int32
        /// Whole scalars before the quote.
        let scalars: Int
    }

    /// Tokens that stay and end between two scalars; by the number of scalars, at most `most`.
    let staying: [TokenMask]
    /// All of `staying`.
    let stayingAll: TokenMask
    /// Tokens that stay and end within a scalar or an escape, with the whole scalars before.
    let within: [Exit]
    let withinAll: TokenMask
    /// All that stay.
    let all: TokenMask
    /// By what stands after the quote, a trie of these texts.
    let exits: TrieNodes
    /// The tokens of each text in `exits`, by its place. Those with nothing after the quote are in `bare`.
    let exitTokens: [[Exit]]
    let bare: [Exit]
    /// All tokens that end a string, by what stands before the quote: first those with nothing there, and then those
    /// of the texts in `beginnings`.
    let exitsByBeginning: [Int32]
    let beginnings: TrieNodes
    /// The most scalars that a token has.
    let most: Int

    init(
        _ tokens: some Sequence<(Int32, ArraySlice<UInt8>)>, count: Int, allowsAnySpelling: Bool
    ) {
        var staying: [TokenMask] = []
        var within: [Exit] = []
        var bare: [Exit] = []
        var after: [([UInt8], Exit)] = []
        var most = 0
        var before: [(ArraySlice<UInt8>, Int32)] = []
        for (token, text) in tokens {
            var reader = StringReader(allowsAnySpelling: allowsAnySpelling)
            var place = text.startIndex
            while place < text.endIndex, reader.takes(text[place]) { place += 1 }
            if place == text.endIndex {
                most = max(most, reader.scalars)
                if reader.isBetweenScalars {
                    while staying.count <= reader.scalars { staying.append(TokenMask(count: count)) }
                    staying[reader.scalars][token] = true
                } else {
                    within.append(Exit(token: token, scalars: reader.scalars))
                }
            } else if text[place] == UInt8(ascii: "\""), reader.isBetweenScalars {
                let exit = Exit(token: token, scalars: reader.scalars)
                most = max(most, reader.scalars)
                before.append((text[..<place], token))
                let rest = text[(place + 1)...]
                if rest.isEmpty { bare.append(exit) } else { after.append((Array(rest), exit)) }
            }
        }
        after.sort {
            $0.0 == $1.0 ? $0.1.token < $1.1.token : $0.0.lexicographicallyPrecedes($1.0)
        }
        before.sort { $0.0.lexicographicallyPrecedes($1.0) }
        exitsByBeginning = before.map(\.1)
        beginnings = TrieNodes(before.lazy.map(\.0).filter { !$0.isEmpty })
        var texts: [ArraySlice<UInt8>] = []
        var exitTokens: [[Exit]] = []
        for (text, exit) in after {
            if texts.last.map({ Array($0) != text }) ?? true {
                texts.append(text[...])
                exitTokens.append([])
            }
            exitTokens[exitTokens.count - 1].append(exit)
        }
        var all = TokenMask(count: count)
        for mask in staying { all.formUnion(mask) }
        self.staying = staying
        stayingAll = all
        self.within = within
        withinAll = TokenMask(within.map(\.token), count: count)
        all.formUnion(withinAll)
        self.all = all
        self.bare = bare
        exits = TrieNodes(texts)
        self.exitTokens = exitTokens
        self.most = most
    }
}

/// Reads the contents of a JSON string byte by byte.
struct StringReader {
    private enum Place {
        case between
        /// So many bytes of a scalar are to come, the next of them in this range.
        case scalar(Int, ClosedRange<UInt8>)
        case escape
        /// Digits of `\u` so far, and their value; whether the first half of a pair came before.
        case unicode(Int, UInt32, afterHigh: Bool)
        /// After the first half of a pair.
        case high
        /// After the first half and a backslash.
        case highEscape
    }

    private let allowsAnySpelling: Bool
    private var place = Place.between
    /// Whole ones so far.
    private(set) var scalars = 0

    init(allowsAnySpelling: Bool) { self.allowsAnySpelling = allowsAnySpelling }

    var isBetweenScalars: Bool { if case .between = place { true } else { false } }

    private mutating func end() -> Bool {
        scalars += 1
        place = .between
        return true
    }

    /// - Returns: false if the byte can't come here, or ends the string. Then nothing has changed.
    mutating func takes(_ byte: UInt8) -> Bool {
        switch place {
        case .between:
            switch byte {
            case 0..<0x20, UInt8(ascii: "\""): return false
            case UInt8(ascii: "\\"): place = .escape
            case 0x20...0x7F: return end()
            case 0xC2...0xDF: place = .scalar(1, 0x80...0xBF)
            case 0xE0: place = .scalar(2, 0xA0...0xBF)
            case 0xED: place = .scalar(2, 0x80...0x9F)
            case 0xE1...0xEF: place = .scalar(2, 0x80...0xBF)
            case 0xF0: place = .scalar(3, 0x90...0xBF)
            case 0xF1...0xF3: place = .scalar(3, 0x80...0xBF)
            case 0xF4: place = .scalar(3, 0x80...0x8F)
            default: return false
            }
            return true
        case .scalar(let left, let range):
            guard range.contains(byte) else { return false }
            if left == 1 { return end() }
            place = .scalar(left - 1, 0x80...0xBF)
            return true
        case .escape:
            switch byte {
            case UInt8(ascii: "u"): place = .unicode(0, 0, afterHigh: false)
            case UInt8(ascii: "/"): return allowsAnySpelling && end()
            case let byte where "\"\\bfnrt".utf8.contains(byte): return end()
            default: return false
            }
            return true
        case .unicode(let digits, let value, let afterHigh): return takesDigit(byte, digits, value, afterHigh)
        case .high:
            guard byte == UInt8(ascii: "\\") else { return false }
            place = .highEscape
            return true
        case .highEscape:
            guard byte == UInt8(ascii: "u") else { return false }
            place = .unicode(0, 0, afterHigh: true)
            return true
        }
    }

    private mutating func takesDigit(
        _ byte: UInt8, _ digits: Int, _ value: UInt32, _ afterHigh: Bool
    ) -> Bool {
        guard let digit = hexDigit(byte) else { return false }
        let value = value << 4 | digit
        guard allowsAnySpelling else { return takesControl(digit, digits, value) }
        // The second half of a pair is DC00 ... DFFF, and stands nowhere else.
        if digits == 0, afterHigh, value != 0xD { return false }
        if digits == 1, afterHigh ? value < 0xDC : value >= 0xDC && value <= 0xDF { return false }
        guard digits == 3 else {
            place = .unicode(digits + 1, value, afterHigh: afterHigh)
            return true
        }
        if !afterHigh, 0xD800...0xDBFF ~= value {
            place = .high
            return true
        }
        return end()
    }

    /// Where there is one spelling, only control characters without a short escape have this one.
    private mutating func takesControl(_ digit: UInt32, _ digits: Int, _ value: UInt32) -> Bool {
        switch digits {
        case 0, 1: guard digit == 0 else { return false }
        case 2: guard digit <= 1 else { return false }
        default:
            guard ![0x08, 0x09, 0x0A, 0x0C, 0x0D].contains(value) else { return false }
            return end()
        }
        place = .unicode(digits + 1, value, afterHigh: false)
        return true
    }

    private func hexDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte - 0x30)
        case 0x61...0x66: UInt32(byte - 0x61 + 10)
        case 0x41...0x46: allowsAnySpelling ? UInt32(byte - 0x41 + 10) : nil
        default: nil
        }
    }
}
