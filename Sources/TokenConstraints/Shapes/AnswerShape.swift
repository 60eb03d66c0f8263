/// The shape of an answer for writing: targets, each a choice of shapes.
struct AnswerShape: Sendable {
    /// Values to write; shapes refer to them by their indices here.
    let targets: [MaskTarget]
    let root: Int

    subscript(target: Int) -> MaskTarget { targets[target] }
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

struct ArrayShape: Sendable {
    /// Targets, one for each of the first items. All of them can be satisfied.
    var prefix: [Int] = []
    /// The target of later items; nil if there may be none.
    var rest: Int?
    var minCount: Int
    /// Not more than `prefix.count` if there is no `rest`.
    var maxCount: Int?
}

/// Members with known names come first, in this order; then the others.
struct ObjectShape: Sendable {
    struct Member: Sendable {
        let name: String
        let target: Int
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
}

/// The names that members besides the known ones may have. Each has one spelling, without unnecessary escapes, so that
/// names are compared by their bytes.
final class FreeNames: Sendable {
    /// Over the text between the quotes.
    let names: NameText
    /// Targets of members, by the patterns that their names match.
    let targets: [[Int]: Int]
    /// Names for the object's shortest value, those of the cheapest members first; empty if all members are alike.
    let shortest: [(name: [UInt8], target: Int)]

    init(_ names: NameText, _ targets: [[Int]: Int], shortest: [(name: [UInt8], target: Int)] = []) {
        (self.names, self.targets, self.shortest) = (names, targets, shortest)
    }

    /// The target of a member whose name ends in this final state.
    func target(_ state: Int32) -> Int {
        guard let target = targets[names.matched(state)] else {
            preconditionFailure("the state ends no name")
        }
        return target
    }
}
