import JSONSchema

/// Values by type: literals, and values that one of the parts describes. They may include too many values, where parts
/// say so, and literals that other schemas for the same value refuse.
struct Alternatives {
    /// Includes null, true and false.
    var literals: [Literal] = []
    var numbers: [NumberPart] = []
    var strings: [StringPart] = []
    var arrays: [ArrayPart] = []
    var objects: [ObjectPart] = []

    static let none = Alternatives()
    static let null = [Literal(.null)].compactMap { $0 }
    static let booleans = [Literal(.bool(true)), Literal(.bool(false))].compactMap { $0 }
    static let any = Alternatives(
        literals: null + booleans, numbers: [NumberPart()], strings: [StringPart()], arrays: [ArrayPart()],
        objects: [ObjectPart()])

    /// By type, whether there is a part.
    private var arePresent: [Bool] {
        [!numbers.isEmpty, !strings.isEmpty, !arrays.isEmpty, !objects.isEmpty]
    }

    var hasParts: Bool { arePresent.contains(true) }

    /// Whether both have parts of one type.
    func sharesParts(with other: Alternatives) -> Bool {
        zip(arePresent, other.arePresent).contains { $0 && $1 }
    }

    /// Whether a part may hold the literal.
    func hasPart(for literal: Literal) -> Bool {
        switch literal.value {
        case .null, .bool: false
        case .int, .number: !numbers.isEmpty
        case .string: !strings.isEmpty
        case .array: !arrays.isEmpty
        case .object: !objects.isEmpty
        }
    }

    private func hasAnyPart(for literal: Literal) -> Bool {
        switch literal.value {
        case .null, .bool: false
        case .int, .number: numbers.first?.isAny == true
        case .string: strings.first?.isAny == true
        case .array: arrays.first?.isAny == true
        case .object: objects.first?.isAny == true
        }
    }

    /// Replaces all keywords left to validation by another one.
    func blaming(_ place: KeywordPlace) -> Alternatives {
        changingUnmasked { if !$0.isEmpty { $0 = [place] } }
    }

    /// Adds a keyword that is left to validation.
    func unmasking(_ place: KeywordPlace) -> Alternatives { changingUnmasked { $0.insert(place) } }

    private func changingUnmasked(_ change: (inout Set<KeywordPlace>) -> Void) -> Alternatives {
        func changed<Part: ValuePart>(_ parts: [Part]) -> [Part] {
            var parts = parts
            for i in parts.indices { change(&parts[i].unmasked) }
            return Self.joined(parts)
        }
        return Alternatives(
            literals: literals, numbers: changed(numbers), strings: changed(strings), arrays: changed(arrays),
            objects: changed(objects))
    }

    // MARK: Or

    static func union(_ all: [Alternatives]) -> Alternatives {
        if all.count == 1 { return all[0] }
        var union = Alternatives()
        union.numbers = joined(all.flatMap(\.numbers))
        union.strings = joined(all.flatMap(\.strings))
        union.arrays = joined(all.flatMap(\.arrays))
        union.objects = joined(all.flatMap(\.objects))
        var seen: Set<Literal> = []
        for literal in all.lazy.flatMap(\.literals)
        where !union.hasAnyPart(for: literal) && seen.insert(literal).inserted {
            union.literals.append(literal)
        }
        return union
    }

    /// Removes parts that are visibly included in others.
    private static func joined<Part: ValuePart>(_ parts: [Part]) -> [Part] {
        guard parts.count > 1 else { return parts }
        if parts.contains(where: \.isAny) { return [Part()] }
        for part in parts where !part.unmasked.isEmpty {
            var rest = part
            rest.unmasked = []
            if rest.isAny { return [part] }
        }
        var seen: Set<Part> = []
        return parts.filter { seen.insert($0).inserted }
    }

    // MARK: And

    /// - Parameter place: left to validation if there would be too many parts, which drops the conditions of `other`.
    /// - Parameter limit: of the pairs of parts of one type.
    func and(
        _ other: Alternatives, limit: Int, orElse place: KeywordPlace, isPossible: (ObjectPart) -> Bool
    ) -> Alternatives {
        var both = Alternatives()
        both.numbers = Self.product(numbers, other.numbers, limit, place)
        both.strings = Self.product(strings, other.strings, limit, place)
        both.arrays = Self.product(arrays, other.arrays, limit, place)
        both.objects = Self.product(objects, other.objects, limit, place, isPossible)
        if !literals.isEmpty, other.literals.isEmpty {
            both.literals = literals.filter(other.hasPart)
        } else if literals.isEmpty {
            both.literals = other.literals.filter(hasPart)
        } else {
            let others = Set(other.literals)
            let own = Set(literals)
            both.literals = literals.filter { others.contains($0) || other.hasPart(for: $0) }
            both.literals += other.literals.filter { !own.contains($0) && hasPart(for: $0) }
        }
        return both
    }

    private static func product<Part: ValuePart>(
        _ a: [Part], _ b: [Part], _ limit: Int, _ place: KeywordPlace,
        _ isPossible: (Part) -> Bool = { _ in true }
    ) -> [Part] {
        if a.isEmpty || b.isEmpty { return [] }
        if b.count == 1, b[0].isAny { return a }
        if a.count == 1, a[0].isAny, b.count <= ShapeLimits.shapes { return b }
        var parts: [Part] = []
        if a.count * b.count <= limit {
            let isMany = a.count * b.count > 8
            for one in a {
                for other in b {
                    guard let both = one.and(other), !isMany || isPossible(both) else { continue }
                    parts.append(both)
                }
            }
            parts = joined(parts)
            if parts.count <= ShapeLimits.shapes { return parts }
        }
        return a.map { part in
            var part = part
            part.unmasked.insert(place)
            return part
        }
    }
}
