import JSON

/// Texts of a tokenizer's control tokens, such as `<|end|>`, and their search in untrusted text.
///
/// They are the special tokens, and others of the same form (Phi-4-mini's `<|tool|>` is not marked as special).
package struct ControlTokens: Sendable {
    let texts: [[UInt8]]
    private let finder: TokenFinder
    /// Bytes of the longest text; 1 if there is none.
    private let longest: Int
    /// First characters of the texts, each once, as UTF-8.
    let beginnings: [[UInt8]]

    init(_ tokens: some Sequence<AddedToken>) {
        texts = tokens.filter(Self.isControl).map { Array($0.content.utf8) }.filter { !$0.isEmpty }
        finder = TokenFinder(texts)
        longest = texts.map(\.count).max() ?? 1
        var beginnings: [[UInt8]] = []
        for text in texts {
            let first = Array(String(String(decoding: text, as: UTF8.self).unicodeScalars.prefix(1)).utf8)
            if !beginnings.contains(first) { beginnings.append(first) }
        }
        self.beginnings = beginnings
    }

    static func isControl(_ token: AddedToken) -> Bool {
        token.special || (token.content.hasPrefix("<") && token.content.hasSuffix(">"))
    }

    /// Returns the positions of such texts, complete or, at the end, partial: more text may follow.
    func places(in text: UnsafeBufferPointer<UInt8>) -> [Int] {
        var places = Array(finder.hitsBackwards(in: text).map(\.start).reversed())
        for start in max(0, text.count - longest + 1)..<max(text.count, 0) {
            let rest = text[start...]
            if texts.contains(where: { $0.count > rest.count && $0.starts(with: rest) }),
                !places.contains(start)
            {
                places.append(start)
            }
        }
        return places
    }

    /// Returns an escaper of a line's control tokens; nil if there are none, as in nearly all lines.
    package func shield(for line: JSONValue) -> ControlTokenEscaper? {
        var isNeeded = false
        var isWhole = false
        var used: Set<UInt32> = []
        Self.forEachString(in: line) { text in
            var text = text
            text.withUTF8 { bytes in
                let found = places(in: bytes)
                isNeeded = isNeeded || !found.isEmpty
                isWhole = isWhole || finder.hitsBackwards(in: bytes).first != nil
            }
            for scalar in text.unicodeScalars where scalar.value >= ControlTokenEscaper.firstStandIn {
                used.insert(scalar.value)
            }
        }
        guard isNeeded else { return nil }
        return ControlTokenEscaper(self, avoiding: used, holdsToken: isWhole)
    }

    private static func forEachString(in value: JSONValue, _ body: (String) -> Void) {
        switch value {
        case .string(let text): body(text)
        case .array(let values): for value in values { forEachString(in: value, body) }
        case .object(let members):
            for member in members {
                body(member.name)
                forEachString(in: member.value, body)
            }
        default: break
        }
    }
}

/// Keeps control tokens in a line's data from becoming control: they are treated as text.
///
/// The first character of each is replaced by a private-use character that the line doesn't contain, so that neither
/// the chat template nor the search for added tokens sees it. The tokenizer restores the character just before
/// splitting text into pieces.
package struct ControlTokenEscaper: Sendable {
    static let firstStandIn: UInt32 = 0x10_0000
    private static let lastStandIn: UInt32 = 0x10_FFFD

    private let tokens: ControlTokens
    private let standIns: [(character: [UInt8], standIn: [UInt8])]
    /// Whether a control token's text is complete in it.
    package let holdsToken: Bool

    /// Nil if the line contains all private-use characters, which no real text does.
    fileprivate init?(_ tokens: ControlTokens, avoiding used: Set<UInt32>, holdsToken: Bool) {
        self.tokens = tokens
        self.holdsToken = holdsToken
        var next = Self.firstStandIn
        var standIns: [([UInt8], [UInt8])] = []
        for character in tokens.beginnings {
            while used.contains(next) { next += 1 }
            guard next <= Self.lastStandIn, let scalar = Unicode.Scalar(next) else { return nil }
            standIns.append((character, Array(String(scalar).utf8)))
            next += 1
        }
        self.standIns = standIns
    }

    package func covered(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): return .string(covered(text))
        case .array(let values): return .array(values.map(covered))
        case .object(let members): return .object(JSONObject(members.map(covered)))
        default: return value
        }
    }

    package func covered(_ message: ChatMessage) -> ChatMessage {
        ChatMessage(
            role: covered(message.role), content: covered(message.content),
            members: message.members.map(covered))
    }

    private func covered(_ member: JSONMember) -> JSONMember {
        JSONMember(name: covered(member.name), value: covered(member.value))
    }

    private func covered(_ text: String) -> String {
        var text = text
        return text.withUTF8 { bytes in
            let places = tokens.places(in: bytes)
            guard !places.isEmpty else { return String(decoding: bytes, as: UTF8.self) }
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count + 3 * places.count)
            var done = 0
            for place in places where place >= done {
                result += bytes[done..<place]
                guard let pair = standIns.first(where: { bytes[place...].starts(with: $0.character) }) else {
                    done = place
                    continue
                }
                result += pair.standIn
                done = place + pair.character.count
            }
            result += bytes[done...]
            return String(decoding: result, as: UTF8.self)
        }
    }

    /// Restores the characters.
    func uncover(_ text: TextBuffers) {
        // All stand-ins begin with this byte, and little else does.
        guard text.current.all.contains(0xF4) else { return }
        text.rewrite { old, new in
            var (index, done) = (0, 0)
            while index < old.count {
                if old[index] == 0xF4,
                    let pair = standIns.first(where: { old[index...].starts(with: $0.standIn) })
                {
                    new.append(UnsafeBufferPointer(rebasing: old[done..<index]))
                    new.append(pair.character)
                    index += pair.standIn.count
                    done = index
                } else {
                    index += 1
                }
            }
            new.append(UnsafeBufferPointer(rebasing: old[done...]))
        }
    }
}
