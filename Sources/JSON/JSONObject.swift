/// One member of a JSON object.
package struct JSONMember: Sendable, Equatable {
    package var name: String
    package var value: JSONValue

    package init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }
}

/// Members of a JSON object, in order. Names are compared by their bytes, unlike Swift's strings, which are compared up
/// to Unicode normalization.
package struct JSONObject: Sendable, Equatable, RandomAccessCollection, ExpressibleByDictionaryLiteral {
    private var members: [JSONMember] = []
    /// Indices of all names, once there are too many for a linear search.
    private var places: [ExactText: Int] = [:]
    private static let searchedOneByOne = 16

    package init() {}

    /// Of members with the same name the last counts, in the place of the first.
    package init(_ members: some Sequence<JSONMember>) {
        for member in members { self[member.name] = member.value }
    }

    /// - Parameter members: with different names.
    package init(distinct members: [JSONMember]) {
        self.members = members
        if members.count > Self.searchedOneByOne { noteAll() }
    }

    package init(_ members: [(String, JSONValue)]) {
        for (name, value) in members { self[name] = value }
    }

    package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }

    package var startIndex: Int { 0 }
    package var endIndex: Int { members.count }
    package subscript(position: Int) -> JSONMember {
        members[position]
    }

    /// Whether there may be a member with any of these names; false is certain.
    package func hasAny(of names: Set<String>) -> Bool { members.contains { names.contains($0.name) } }

    /// Value of a name; nil removes it.
    package subscript(name: String) -> JSONValue? {
        get { place(of: name).map { members[$0].value } }
        set {
            switch (place(of: name), newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): remove(at: place)
            case (nil, let value?): append(value, for: name)
            case (nil, nil): break
            }
        }
    }

    /// - Returns: false, without a change, if there is a member with that name.
    package mutating func insert(_ value: JSONValue, for name: String) -> Bool {
        guard place(of: name) == nil else { return false }
        append(value, for: name)
        return true
    }

    package var names: [String] { members.map(\.name) }

    package static func == (a: JSONObject, b: JSONObject) -> Bool {
        a.count == b.count
            && zip(a, b).allSatisfy { ExactText($0.name) == ExactText($1.name) && $0.value == $1.value }
    }

    private func place(of name: String) -> Int? {
        let name = ExactText(name)
        guard members.count > Self.searchedOneByOne else {
            return members.firstIndex { ExactText($0.name) == name }
        }
        return places[name]
    }

    private mutating func append(_ value: JSONValue, for name: String) {
        members.append(JSONMember(name: name, value: value))
        if members.count == Self.searchedOneByOne + 1 {
            noteAll()
        } else if members.count > Self.searchedOneByOne {
            places[ExactText(name)] = members.count - 1
        }
    }

    private mutating func remove(at place: Int) {
        members.remove(at: place)
        places = [:]
        if members.count > Self.searchedOneByOne { noteAll() }
    }

    private mutating func noteAll() {
        for (place, member) in members.enumerated() { places[ExactText(member.name)] = place }
    }
}
