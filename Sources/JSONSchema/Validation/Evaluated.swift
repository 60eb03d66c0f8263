/// The items and members of one value that a schema has evaluated, for the `unevaluated` keywords.
struct Evaluated {
    private var hasAllItems = false
    private var prefix = 0
    private var items: Set<Int> = []
    private var hasAllMembers = false
    /// Their indices in the object.
    private var members: Set<Int> = []

    /// Its approximate size in memory.
    var count: Int { 1 + items.count + members.count }

    mutating func addAllItems() { hasAllItems = true }
    mutating func add(firstItems count: Int) { prefix = max(prefix, count) }
    mutating func add(item index: Int) { items.insert(index) }
    mutating func addAllMembers() { hasAllMembers = true }
    mutating func add(member index: Int) { members.insert(index) }

    func has(item index: Int) -> Bool { hasAllItems || index < prefix || items.contains(index) }
    func has(member index: Int) -> Bool { hasAllMembers || members.contains(index) }

    mutating func add(_ other: Evaluated) {
        hasAllItems = hasAllItems || other.hasAllItems
        prefix = max(prefix, other.prefix)
        items.formUnion(other.items)
        hasAllMembers = hasAllMembers || other.hasAllMembers
        members.formUnion(other.members)
    }
}
