import JSON
import JSONSchema

/// A target that may turn out unreachable.
struct MaskTargetDraft {
    let key: [AppliedSchema]
    var shapes: [ShapeDraft] = []
    /// The length of the shortest value; nil if none is known yet.
    var fewestBytes: Int?
    /// Levels of nesting of that value.
    var depth = 0
}

/// Targets are numbers in the builder's list here.
final class ShapeDraft {
    enum Form {
        case text(any ByteAutomaton)
        case string(StringText)
        case array(ArrayShape)
        case object(ObjectDraft)
    }

    let kind: Form
    let unmasked: Set<KeywordPlace>
    var fewestBytes: Int?
    /// Levels of nesting of the shortest value.
    var depth = 0
    /// The limit that its shortest value exceeds: then `fewestBytes` is nil.
    var excess: String?

    init(_ kind: Form, unmasked: Set<KeywordPlace>) {
        self.kind = kind
        self.unmasked = unmasked
    }

    var targets: [Int] {
        switch kind {
        case .text, .string: []
        case .array(let array): array.prefix + [array.rest].compactMap { $0 }
        case .object(let object):
            object.members.map(\.target) + (object.free.map { Array($0.targets.values) } ?? [])
        }
    }
}

struct ObjectDraft {
    var members: [ObjectShape.Member] = []
    /// Besides those of members.
    var forbidden: [ExactText] = []
    var free: FreeDraft?
    /// The schemas of its members.
    var origins: [SchemaID] = []
    var minCount: Int
    var maxCount: Int?
}

/// Names besides the known ones.
final class FreeDraft {
    var text: NameText
    let conditions: NameConditions
    /// By the patterns that a name matches.
    let targets: [[Int]: Int]
    /// Number of names without the known ones; nil for infinitely many.
    var count: Int?
    /// Some of the shortest names, without the known ones, and the patterns they match.
    private(set) var shortest: [(name: [UInt8], matched: [Int])] = []
    private var hasLooked = false

    init(_ text: NameText, _ conditions: NameConditions, _ targets: [[Int]: Int]) {
        self.text = text
        self.conditions = conditions
        self.targets = targets
    }

    /// Counts the names.
    func look(besides known: [ExactText]) {
        guard let all = text.nameCount(text.start) else { return }
        let taken = known.count { text.end(of: JSONSpelling.contents(of: $0.text)) != nil }
        count = max(0, all - taken)
    }

    /// Fills `shortest` with names for each of the targets, or with only the shortest if they are many.
    func findShortest(besides known: Set<[UInt8]>) {
        guard !hasLooked else { return }
        hasLooked = true
        guard targets.count <= ShapeLimits.nameKinds else {
            findShortest(in: text, nil, besides: known)
            return
        }
        for matched in targets.keys {
            // An automaton of only those names leads straight to them.
            guard let names = targets.count == 1 ? text : conditions.build(accepts: { $0 == matched }).names
            else {
                continue
            }
            findShortest(in: names, matched, besides: known)
        }
    }

    private func findShortest(in names: NameText, _ matched: [Int]?, besides known: Set<[UInt8]>) {
        // By their least bytes; of equals the last first, as it is nearest to its end.
        var waiting: [[(state: Int32, text: [UInt8])]] = []
        var steps = 0
        var count = 0
        func wait(_ state: Int32, _ text: [UInt8]) {
            let bytes = text.count + names.fewestBytes(state)
            guard bytes <= ShapeLimits.nameBytes else { return }
            while waiting.count <= bytes { waiting.append([]) }
            waiting[bytes].append((state, text))
        }
        wait(names.start, [])
        var length = 0
        while length < waiting.count, count < ShapeLimits.shortestNames, steps < 5_000 {
            guard let (state, name) = waiting[length].popLast() else {
                length += 1
                continue
            }
            steps += 1
            if names.isFinal(state), name.count == length, !known.contains(name) {
                count += 1
                shortest.append((name, matched ?? names.matched(state)))
            }
            for byte in UInt8.min...UInt8.max {
                let next = names.next(state, byte)
                if next >= 0 { wait(next, name + [byte]) }
            }
        }
    }
}
