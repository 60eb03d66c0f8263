/// What an answer must look like, in the form in which it is written: goals, each a choice of shapes.
final class AnswerShape: Sendable {
    /// What is being written; shapes refer to goals by their places here.
    let targets: [MaskTarget]
    let root: MaskTargetID

    init(targets: [MaskTarget], root: MaskTargetID) {
        self.targets = targets
        self.root = root
    }

    subscript(id: MaskTargetID) -> MaskTarget { targets[id.index] }
}

/// The number of a goal.
struct MaskTargetID: Hashable, Sendable {
    let index: Int
}

/// A value that is to be written: any of these shapes. There is at least one, and each of them can be brought to an
/// end.
struct MaskTarget: Sendable {
    var shapes: [Shape]
    /// Bytes of the shortest value in compact form.
    var fewestBytes: Int
}

enum Shape: Sendable {
    /// Numbers, and values of an enumeration, as they are written in compact form; or a text that is no JSON.
    case text(any ByteAutomaton)
    case string(StringText)
    case array(ArrayShape)
    case object(ObjectShape)
}

final class ArrayShape: Sendable {
    /// For the first items one each. All of them can be satisfied.
    let prefix: [MaskTargetID]
    /// For the items after those; nil if there may be none.
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
    /// Names that a free member can't have: those of `members`, and those that are forbidden.
    let reserved: [String]
    /// nil if there may be no others.
    let free: FreeNames?
    /// The least number of members, free ones included. It can be reached, and is at least that of the required ones.
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

/// The names that members beside the known ones may have. Each name has one spelling (no escape that is not needed), so
/// that names can be told apart by their bytes.
final class FreeNames: Sendable {
    /// Over the text between the quotes.
    let names: NameText
    /// What members must be, by the patterns that their names match.
    let targets: [[Int]: MaskTargetID]
    /// Names with which the object's shortest value can be made, the cheapest members first; empty where all members
    /// are alike.
    let shortest: [(name: [UInt8], target: MaskTargetID)]

    init(
        _ names: NameText, _ targets: [[Int]: MaskTargetID],
        shortest: [(name: [UInt8], target: MaskTargetID)] = []
    ) {
        (self.names, self.targets, self.shortest) = (names, targets, shortest)
    }

    /// What a member with the name that ends in this final state must be.
    func target(_ state: Int32) -> MaskTargetID {
        guard let target = targets[names.matched(state)] else {
            preconditionFailure("asked for the goal of a name that isn't one")
        }
        return target
    }
}
