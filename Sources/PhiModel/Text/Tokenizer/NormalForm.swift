import Foundation

/// Unicode's normal forms (UAX #15) in linear time but for sorting.
///
/// Foundation knows the mappings, but takes quadratic time where combining marks pile up. So it is only
/// asked about single characters and pairs, and the ordering and composing is done here.
struct NormalForm {
    private let composes: Bool
    private let isCompatible: Bool
    private var decompositions: [Unicode.Scalar: [Unicode.Scalar]] = [:]
    private var compositions: [[Unicode.Scalar]: Unicode.Scalar?] = [:]
    /// More is forgotten, so that memory stays bounded.
    private static let cacheLimit = 1 << 14

    /// - Parameters:
    ///   - composes: NFC and NFKC rather than NFD and NFKD.
    ///   - isCompatible: NFKC and NFKD.
    init(composes: Bool, isCompatible: Bool) {
        self.composes = composes
        self.isCompatible = isCompatible
    }

    mutating func normalize(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        var scalars: [(scalar: Unicode.Scalar, order: UInt8)] = []
        for scalar in text.unicodeScalars {
            for part in decompose(scalar) {
                scalars.append((part, part.properties.canonicalCombiningClass.rawValue))
            }
        }
        Self.order(&scalars)
        return composes ? compose(scalars) : Self.string(scalars.map(\.scalar))
    }

    private static func string(_ scalars: [Unicode.Scalar]) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    private mutating func decompose(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        if scalar.value < 0x80 { return [scalar] }
        if let known = decompositions[scalar] { return known }
        let text = String(scalar)
        let parts = Array(
            (isCompatible
                ? text.decomposedStringWithCompatibilityMapping : text.decomposedStringWithCanonicalMapping)
                .unicodeScalars)
        if decompositions.count >= Self.cacheLimit { decompositions.removeAll() }
        decompositions[scalar] = parts
        return parts
    }

    /// Sorts each row of combining marks by class, keeping the order within a class.
    private static func order(_ scalars: inout [(scalar: Unicode.Scalar, order: UInt8)]) {
        var i = 0
        while i < scalars.count {
            guard scalars[i].order != 0 else {
                i += 1
                continue
            }
            var end = i
            var isSorted = true
            while end < scalars.count, scalars[end].order != 0 {
                if end > i, scalars[end].order < scalars[end - 1].order { isSorted = false }
                end += 1
            }
            if !isSorted {
                let row = scalars[i..<end].enumerated().sorted {
                    ($0.element.order, $0.offset) < ($1.element.order, $1.offset)
                }
                scalars.replaceSubrange(i..<end, with: row.map(\.element))
            }
            i = end
        }
    }

    /// Joins each starter with the marks after it that are not blocked.
    private mutating func compose(_ scalars: [(scalar: Unicode.Scalar, order: UInt8)]) -> String {
        var result: [Unicode.Scalar] = []
        var starter: Int?
        // The class of the last mark kept after the starter; nil directly after it.
        var last: UInt8?
        for (scalar, order) in scalars {
            if let starter, last == nil || (last ?? 0) < order,
                let joined = join(result[starter], scalar, isMark: order != 0)
            {
                result[starter] = joined
                continue
            }
            if order == 0 {
                starter = result.count
                last = nil
            } else {
                last = order
            }
            result.append(scalar)
        }
        return Self.string(result)
    }

    private mutating func join(
        _ first: Unicode.Scalar, _ second: Unicode.Scalar, isMark: Bool
    ) -> Unicode.Scalar? {
        if 0x1161...0x11C2 ~= second.value { return Self.joinHangul(first.value, second.value) }
        // Beside marks only a few vowel signs join with what is before them.
        let canJoin =
            isMark || 0x16D40...0x16D7F ~= second.value
            || [.spacingMark, .nonspacingMark].contains(second.properties.generalCategory)
        guard canJoin else { return nil }
        let pair = [first, second]
        if let known = compositions[pair] { return known }
        let joined = Array(Self.string(pair).precomposedStringWithCanonicalMapping.unicodeScalars)
        let result = joined.count == 1 ? joined[0] : nil
        if compositions.count >= Self.cacheLimit { compositions.removeAll() }
        compositions.updateValue(result, forKey: pair)
        return result
    }

    /// Syllables of Hangul are composed by arithmetic (Unicode, section 3.12).
    private static func joinHangul(_ first: UInt32, _ second: UInt32) -> Unicode.Scalar? {
        if 0x1100...0x1112 ~= first, 0x1161...0x1175 ~= second {
            return Unicode.Scalar(0xAC00 + ((first - 0x1100) * 21 + (second - 0x1161)) * 28)
        }
        if 0xAC00...0xD7A3 ~= first, (first - 0xAC00) % 28 == 0, 0x11A8...0x11C2 ~= second {
            return Unicode.Scalar(first + (second - 0x11A7))
        }
        return nil
    }
}
