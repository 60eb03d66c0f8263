import FoundationShim
import JSON

/// Two buffers between which a text is rewritten step by step.
final class TextBuffers {
    private(set) var current = ByteBuffer()
    private var other = ByteBuffer()

    func set(_ text: UnsafeBufferPointer<UInt8>) {
        current.removeAll()
        current.append(text)
    }

    /// Replaces the text by the output of `body`.
    func rewrite(_ body: (_ old: UnsafeBufferPointer<UInt8>, _ new: ByteBuffer) -> Void) {
        other.removeAll()
        body(current.all, other)
        swap(&current, &other)
    }
}

/// One step of a tokenizer's `normalizer`.
enum Normalizer: Sendable {
    case prepend([UInt8])
    case replace([UInt8], with: [UInt8])
    /// NFC.
    case composed

    /// Whether it adds a prefix to a text.
    var isPrefix: Bool {
        if case .prepend = self { true } else { false }
    }

    func apply(to text: TextBuffers) {
        guard text.current.count > 0 else { return }
        switch self {
        case .prepend(let prefix):
            text.rewrite { old, new in
                new.append(prefix)
                new.append(old)
            }
        case .replace(let literal, let content):
            text.rewrite { old, new in Self.replace(literal, content, old, new) }
        case .composed:
            text.rewrite { old, new in
                var result = NormalForm.composed(String(decoding: old, as: UTF8.self))
                result.withUTF8 { new.append($0) }
            }
        }
    }

    private static func replace(
        _ literal: [UInt8], _ content: [UInt8], _ old: UnsafeBufferPointer<UInt8>, _ new: ByteBuffer
    ) {
        let first = literal[0]
        var i = 0
        while i < old.count {
            if old[i] == first, i + literal.count <= old.count,
                literal.count == 1 || old[i..<i + literal.count].elementsEqual(literal)
            {
                for byte in content { new.append(byte) }
                i += literal.count
            } else {
                new.append(old[i])
                i += 1
            }
        }
    }
}

/// Unicode's normal form NFC (UAX #15).
enum NormalForm {
    /// Characters that begin with no starter, but count as one, and their decompositions.
    private static let vowels: [Unicode.Scalar: [Unicode.Scalar]] = [
        "\u{F73}": ["\u{F71}", "\u{F72}"], "\u{F75}": ["\u{F71}", "\u{F74}"],
        "\u{F81}": ["\u{F71}", "\u{F80}"],
    ]

    /// Returns the text in NFC, in linear time. The library takes quadratic time to sort a run of combining marks, so long
    /// runs are sorted first.
    static func composed(_ text: String) -> String {
        // No character below U+0300 changes, or is a mark.
        if text.utf8.allSatisfy({ $0 < 0xCC }) { return text }
        var sorted = String.UnicodeScalarView()
        var marks: [Unicode.Scalar] = []
        func endRun() {
            if marks.count > 32 {
                let groups = Dictionary(grouping: marks) { $0.properties.canonicalCombiningClass }
                marks = groups.sorted { $0.key < $1.key }.flatMap(\.value)
            }
            for mark in marks { sorted.append(mark) }
            marks.removeAll(keepingCapacity: true)
        }
        for scalar in text.unicodeScalars {
            if let parts = vowels[scalar] {
                marks += parts
            } else if scalar.value >= 0x300, scalar.properties.canonicalCombiningClass != .notReordered {
                marks.append(scalar)
            } else {
                if !marks.isEmpty { endRun() }
                sorted.append(scalar)
            }
        }
        endRun()
        return String(decoding: String(sorted)._nfcCodeUnits, as: UTF8.self)
    }
}

/// Runs of Unicode's White_Space in well-formed UTF-8.
enum WhiteSpace {
    static func contains(_ scalar: UInt32) -> Bool {
        if scalar < 0x80 { return scalar == 0x20 || 0x09...0x0D ~= scalar }
        return Unicode.Scalar(scalar)?.properties.isWhitespace ?? false
    }

    /// Returns the end of the white space from `i` on, at most `limit`.
    static func end(_ text: UnsafePointer<UInt8>, _ i: Int, limit: Int) -> Int {
        var i = i
        while i < limit {
            let (scalar, length) = UTF8Bytes.decode(text, i)
            guard contains(scalar) else { break }
            i += length
        }
        return i
    }

    /// Returns the beginning of the white space before `i`, at least `limit`.
    static func start(_ text: UnsafePointer<UInt8>, _ i: Int, limit: Int) -> Int {
        var i = i
        while i > limit {
            let previous = UTF8Bytes.previous(text, i, start: limit)
            guard contains(UTF8Bytes.decode(text, previous).scalar) else { break }
            i = previous
        }
        return i
    }
}
