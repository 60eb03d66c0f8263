/// The shape of an answer for writing: targets, each a choice of shapes.
final class AnswerShape: Sendable {
    /// Values to write; shapes refer to them by their indices here.
    let targets: [MaskTarget]
    let root: MaskTargetID

    init(targets: [MaskTarget], root: MaskTargetID) {
        self.targets = targets
        self.root = root
    }

    subscript(id: MaskTargetID) -> MaskTarget { targets[id.index] }
}

/// The number of a target.
struct MaskTargetID: Hashable, Sendable {
    let index: Int
}

/// A value to write: any of these shapes, of which there is at least one. Each has a complete text.
struct MaskTarget: Sendable {
    var shapes: [Shape]
    /// Bytes of the shortest value in compact form.
    var fewestBytes: Int
}

enum Shape: Sendable {
    /// Numbers, and values of an enumeration, in compact form; or a text that is no JSON.
    case text(any ByteAutomaton)
    case string(StringText)
    case array(ArrayShape)
    case object(ObjectShape)
}

final class ArrayShape: Sendable {
    /// One for each of the first items. All of them can be satisfied.
    let prefix: [MaskTargetID]
    /// For later items; nil if there may be none.
    let rest: MaskTargetID?
    let minCount: Int
    /// Not more than `prefix.count` if there is no `rest`.
    let maxCount: Int?

    init(prefix: [MaskTargetID], rest: MaskTargetID?, minCount: Int, maxCount: Int?) {
        self.prefix = prefix
        self.rest = rest
        self.minCount = minCount
        self.maxCount = maxCount
    }
}

/// Members with known names come first, in this order; then the others.
final class ObjectShape: Sendable {
    struct Member: Sendable {
        let name: String
        let target: MaskTargetID
        let isRequired: Bool
    }

    let members: [Member]
    /// Names that a free member can't have: those of `members`, and forbidden ones.
    let reserved: [String]
    /// Nil if there may be no others.
    let free: FreeNames?
    /// The least number of members, free ones included. It is reachable, and not below the number of required ones.
    let minCount: Int
    let maxCount: Int?

    init(
        members: [Member], reserved: [String], free: FreeNames?, minCount: Int, maxCount: Int?
    ) {
        self.members = members
        self.reserved = reserved
        self.free = free
        self.minCount = minCount
        self.maxCount = maxCount
    }
}

/// The names that members besides the known ones may have. Each has one spelling, without unnecessary escapes, so that
/// names are compared by their bytes.
final class FreeNames: Sendable {
    /// Over the text between the quotes.
    let names: NameText
    /// Targets of members, by the patterns that their names match.
    let targets: [[Int]: MaskTargetID]
    /// Names for the object's shortest value, those of the cheapest members first; empty if all members are alike.
    let shortest: [(name: [UInt8], target: MaskTargetID)]

    init(
        _ names: NameText, _ targets: [[Int]: MaskTargetID],
        shortest: [(name: [UInt8], target: MaskTargetID)] = []
    ) {
        (self.names, self.targets, self.shortest) = (names, targets, shortest)
    }

    /// The target of a member whose name ends in this final state.
    func target(_ state: Int32) -> MaskTargetID {
        guard let target = targets[names.matched(state)] else {
            preconditionFailure("the state ends no name")
        }
        return target
    }
}
