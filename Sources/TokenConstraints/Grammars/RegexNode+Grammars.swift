import JSONSchema

extension RegexNode {
    /// Whether it asks nothing of the places between characters.
    var isFreeOfAssertions: Bool {
        switch self {
        case .empty, .set: true
        case .assertion: false
        case .sequence(let nodes), .alternatives(let nodes): nodes.allSatisfy(\.isFreeOfAssertions)
        case .repetition(let node, _, _): node.isFreeOfAssertions
        }
    }

    /// Whether each of its sets holds a character.
    var isWritable: Bool {
        switch self {
        case .empty, .assertion: true
        case .set(let set): set.holdsCharacters
        case .sequence(let nodes), .alternatives(let nodes): nodes.allSatisfy(\.isWritable)
        case .repetition(let node, _, _): node.isWritable
        }
    }

    /// The same for letters of either case.
    var ignoringCase: RegexNode {
        switch self {
        case .empty, .assertion: self
        case .set(let set): .set(set.ignoringCase)
        case .sequence(let nodes): .sequence(nodes.map(\.ignoringCase))
        case .alternatives(let nodes): .alternatives(nodes.map(\.ignoringCase))
        case .repetition(let node, let min, let max): .repetition(node.ignoringCase, min: min, max: max)
        }
    }
}

extension ScalarRanges {
    /// Whether there is a character in it: surrogates are none.
    var holdsCharacters: Bool {
        ranges.contains { $0.lowerBound < 0xD800 || $0.upperBound > 0xDFFF }
    }

    /// No letter with another case has a higher number.
    private static let lastCased: UInt32 = 0x1E943

    /// With the upper and lower case of each letter that is one character, too.
    fileprivate var ignoringCase: ScalarRanges {
        var added: [ClosedRange<UInt32>] = []
        for range in ranges where range.lowerBound <= Self.lastCased {
            for value in range.lowerBound...min(range.upperBound, Self.lastCased) {
                guard let properties = Unicode.Scalar(value)?.properties, properties.changesWhenCaseMapped
                else { continue }
                for mapped in [properties.lowercaseMapping, properties.uppercaseMapping] {
                    let scalars = mapped.unicodeScalars
                    if scalars.count == 1, let other = scalars.first, other.value != value {
                        added.append(other.value...other.value)
                    }
                }
            }
        }
        return added.isEmpty ? self : ScalarRanges(ranges + added)
    }
}
