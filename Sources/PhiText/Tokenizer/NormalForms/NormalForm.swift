/// Unicode's normal form NFC (UAX #15), in linear time except for sorting.
enum NormalForm {
    private static let mappings = NormalMappings.all

    static func composed(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        var scalars: [(scalar: Unicode.Scalar, order: UInt8)] = []
        for scalar in text.unicodeScalars {
            if scalar.value < 0x80 {
                scalars.append((scalar, 0))
                continue
            }
            for part in mappings.decomposition(of: scalar) {
                scalars.append((part, part.properties.canonicalCombiningClass.rawValue))
            }
        }
        order(&scalars)
        return compose(scalars)
    }

    /// Sorts each run of combining marks by class, stably.
    private static func order(_ scalars: inout [(scalar: Unicode.Scalar, order: UInt8)]) {
        var start = 0
        while start < scalars.count {
            let end = scalars[start...].firstIndex { $0.order == 0 } ?? scalars.count
            let run = scalars[start..<end]
            if zip(run, run.dropFirst()).contains(where: { $0.order > $1.order }) {
                let row = run.enumerated().sorted {
                    ($0.element.order, $0.offset) < ($1.element.order, $1.offset)
                }
                scalars.replaceSubrange(start..<end, with: row.map(\.element))
            }
            start = end + 1
        }
    }

    /// Composes each starter with its unblocked marks.
    private static func compose(_ scalars: [(scalar: Unicode.Scalar, order: UInt8)]) -> String {
        var result: [Unicode.Scalar] = []
        var starter: Int?
        // Class of the last mark kept after the starter; nil directly after it.
        var last: UInt8?
        for (scalar, order) in scalars {
            if let starter, last == nil || (last ?? 0) < order,
                let joined = mappings.composition(of: result[starter], scalar)
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
        var text = String.UnicodeScalarView()
        text.append(contentsOf: result)
        return String(text)
    }
}
