/// What an answer must look like, in the form in which it is written: goals, each a choice of shapes.
package final class AnswerShape: Sendable {
    /// What is being written; shapes refer to goals by their places here.
    package let goals: [Goal]
    package let root: GoalID

    package init(goals: [Goal], root: GoalID) {
        self.goals = goals
        self.root = root
    }

    package subscript(id: GoalID) -> Goal { goals[id.index] }
}

/// The number of a goal.
package struct GoalID: Hashable, Sendable {
    package let index: Int

    package init(index: Int) { self.index = index }
}

/// A value that is to be written: any of these shapes. There is at least one, and each of them can be brought to an
/// end.
package struct Goal: Sendable {
    package var shapes: [Shape]
    /// Bytes of the shortest value in compact form.
    package var fewestBytes: Int
}

package enum Shape: Sendable {
    /// Numbers, and values of an enumeration, as they are written in compact form; or a text that is no JSON.
    case text(any ByteAutomaton)
    case string(any StringText)
    case array(ArrayShape)
    case object(ObjectShape)
}

package final class ArrayShape: Sendable {
    /// For the first items one each. All of them can be satisfied.
    package let prefix: [GoalID]
    /// For the items after those; nil if there may be none.
    package let rest: GoalID?
    package let minCount: Int
    /// Not more than `prefix.count` if there is no `rest`.
    package let maxCount: Int?

    package init(prefix: [GoalID], rest: GoalID?, minCount: Int, maxCount: Int?) {
        self.prefix = prefix
        self.rest = rest
        self.minCount = minCount
        self.maxCount = maxCount
    }
}

/// Members with known names come first, in this order; then the others.
package final class ObjectShape: Sendable {
    package struct Member: Sendable {
        package let name: String
        package let goal: GoalID
        package let isRequired: Bool

        package init(name: String, goal: GoalID, isRequired: Bool) {
            self.name = name
            self.goal = goal
            self.isRequired = isRequired
        }
    }

    package let members: [Member]
    /// Names that a free member can't have: those of `members`, and those that are forbidden.
    package let reserved: [String]
    /// nil if there may be no others.
    package let free: (any FreeNames)?
    /// The least number of members, free ones included. It can be reached, and is at least that of the required ones.
    package let minCount: Int
    package let maxCount: Int?

    package init(
        members: [Member], reserved: [String], free: (any FreeNames)?, minCount: Int, maxCount: Int?
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
package protocol FreeNames: AnyObject, Sendable {
    /// Over the text between the quotes.
    var names: NameText { get }
    /// What members may have to be, by their names.
    var goals: [GoalID] { get }
    /// What a member with the name that ends in this final state must be.
    func goal(_ state: Int32) -> GoalID
    /// Names with which the object's shortest value can be made, the cheapest members first; empty where all members
    /// are alike.
    var shortest: [(name: [UInt8], goal: GoalID)] { get }
}

extension FreeNames {
    package var shortest: [(name: [UInt8], goal: GoalID)] { [] }
}
