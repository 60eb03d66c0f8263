import BatchEngine
import FoundationShim
import JSON

/// One step of a tokenizer's `decoder`. Steps before a fusing one (`fuse`, `byteLevel`) process single tokens, those
/// after it the whole text.
enum DecoderStep: Sendable, Equatable {
    case replace([UInt8], with: [UInt8])
    /// Tokens `<0x..>` become bytes; a run of them that is not UTF-8 becomes one U+FFFD a byte.
    case byteFallback
    case fuse
    /// Strips at most so many of a character from the start and the end of the whole text.
    case strip([UInt8], start: Int, stop: Int)
    case byteLevel
    /// The mark becomes a space; in the first token it is dropped if `dropsFirst`.
    case metaspace([UInt8], dropsFirst: Bool)
}

/// Decodes the tokens of one text as they come, such as those of a completion.
///
/// The concatenated output is that of decoding the text as a whole. So if the decoder strips a leading space (Phi-3's
/// does), the first word of a completion has none, just as in Hugging Face's decoding.
///
/// Text is returned as soon as no later token can change it. An incomplete character is held back, and so is a run of
/// byte tokens (`<0x..>`) until another token ends it, as one wrong byte changes the whole run.
package struct TokenTextStream: TextStream {
    private let tokenizer: Tokenizer
    /// Special tokens that become text; nil for all.
    private let shown: Set<Int32>?
    private var steps: [Step]
    private var output: [UInt8] = []

    /// A step with its state.
    private struct Step: Sendable {
        let step: DecoderStep
        var tokensSeen = 0
        /// Bytes of a run of byte tokens, or characters at the end that may be stripped.
        var held: [UInt8] = []
        var repair = UTF8Repair()
        /// Number of characters that may still be stripped at the start.
        var stripsLeft = 0
    }

    init(_ tokenizer: Tokenizer, _ steps: [DecoderStep], showing shown: Set<Int32>?) {
        (self.tokenizer, self.shown) = (tokenizer, shown)
        self.steps = steps.map { step in
            guard case .strip(_, let start, _) = step else { return Step(step: step) }
            return Step(step: step, stripsLeft: start)
        }
    }

    package mutating func append(_ token: Int32) -> String {
        feed(token)
        return take()
    }

    /// Takes a token whose text is returned later.
    mutating func feed(_ token: Int32) {
        if let shown, tokenizer.isSpecial(token), !shown.contains(token) { return }
        if let content = tokenizer.content(of: token) { feed(0, Array(content)) }
    }

    private mutating func take() -> String {
        defer { output.removeAll(keepingCapacity: true) }
        return String(decoding: output, as: UTF8.self)
    }

    package mutating func dropHalfCharacter() {
        for k in steps.indices {
            steps[k].repair = UTF8Repair()
            if steps[k].step == .byteFallback {
                steps[k].held.removeLast(UTF8Bytes.halfCharacter(atEndOf: steps[k].held))
            }
        }
    }

    package mutating func finish() -> String {
        for k in steps.indices {
            switch steps[k].step {
            case .byteFallback: flushBytes(k)
            case .byteLevel:
                var rest: [UInt8] = []
                steps[k].repair.finish(into: &rest)
                feed(k + 1, rest)
            default: break
            }
        }
        return take()
    }

    private mutating func feed(_ k: Int, _ text: [UInt8]) {
        guard k < steps.count else {
            output += text
            return
        }
        defer { steps[k].tokensSeen += 1 }
        switch steps[k].step {
        case .replace(let literal, let content): feed(k + 1, text.replacing(literal, with: content))
        case .byteFallback:
            if let byte = ByteFallback.byte(text) {
                steps[k].held.append(byte)
            } else {
                flushBytes(k)
                feed(k + 1, text)
            }
        case .fuse: feed(k + 1, text)
        case .strip(let content, _, let stop): feed(k + 1, strip(k, text, content, stop))
        case .byteLevel:
            var repaired: [UInt8] = []
            steps[k].repair.feed(ByteAlphabet.decode(text), into: &repaired)
            feed(k + 1, repaired)
        case .metaspace(let mark, let dropsFirst):
            let isFirst = steps[k].tokensSeen == 0
            feed(k + 1, text.replacing(mark, with: isFirst && dropsFirst ? [] : [0x20]))
        }
    }

    private mutating func flushBytes(_ k: Int) {
        let run = steps[k].held
        guard !run.isEmpty else { return }
        steps[k].held.removeAll()
        if run.withUnsafeBufferPointer({ UTF8Bytes.firstError(in: $0) == nil }) {
            feed(k + 1, run)
        } else {
            for _ in run { feed(k + 1, UTF8Bytes.replacement) }
        }
    }

    /// Strips at the start of the whole text, and holds back a possible end.
    private mutating func strip(_ k: Int, _ text: [UInt8], _ content: [UInt8], _ stop: Int) -> [UInt8] {
        var rest = (steps[k].held + text)[...]
        if steps[k].stripsLeft > 0, !rest.isEmpty {
            rest.stripPrefix(content, &steps[k].stripsLeft)
            // Anything else ends the start.
            if !rest.isEmpty { steps[k].stripsLeft = 0 }
        }
        let end = rest.suffixLength(content, atMost: stop)
        steps[k].held = Array(rest.suffix(end))
        return Array(rest.dropLast(end))
    }

    /// Returns the bytes of a token anywhere in a text.
    static func bytes(of token: ArraySlice<UInt8>, _ steps: [DecoderStep]) -> [UInt8] {
        var text = Array(token)
        for step in steps {
            switch step {
            case .replace(let literal, let content): text = text.replacing(literal, with: content)
            case .byteFallback:
                if let byte = ByteFallback.byte(text) { return [byte] }
            case .byteLevel: return ByteAlphabet.decode(text)
            case .metaspace(let mark, _): text = text.replacing(mark, with: [0x20])
            case .fuse: return text
            case .strip: break
            }
        }
        return text
    }
}

extension [UInt8] {
    /// Replaces all occurrences of a literal, from left to right.
    fileprivate func replacing(_ literal: [UInt8], with content: [UInt8]) -> [UInt8] {
        guard let first = literal.first, contains(first) else { return self }
        var result: [UInt8] = []
        var i = 0
        while i < count {
            if self[i] == first, self[i...].starts(with: literal) {
                result += content
                i += literal.count
            } else {
                result.append(self[i])
                i += 1
            }
        }
        return result
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func stripPrefix(_ character: [UInt8], _ left: inout Int) {
        while left > 0, starts(with: character) {
            self = dropFirst(character.count)
            left -= 1
        }
    }

    /// Returns the bytes of at most `limit` of a character at the end.
    fileprivate func suffixLength(_ character: [UInt8], atMost limit: Int) -> Int {
        var length = 0
        var left = limit
        while left > 0, dropLast(length).suffix(character.count).elementsEqual(character) {
            length += character.count
            left -= 1
        }
        return length
    }
}
