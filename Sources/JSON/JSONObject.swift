import OrderedCollections

/// One member of a JSON object.
package struct JSONMember: Sendable, Equatable {
    package var name: String
    package var value: JSONValue

    package init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }
}

/// The members of a JSON object, in their order. Names are equal if their bytes are: not, as Swift's strings
/// are, up to Unicode normalization.
package struct JSONObject: Sendable, Equatable, RandomAccessCollection, ExpressibleByDictionaryLiteral {
    private struct Name: Hashable {
        var text: String

        static func == (a: Name, b: Name) -> Bool {
            a.text.utf8.count == b.text.utf8.count && a.text.utf8.elementsEqual(b.text.utf8)
        }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    // Searched one by one while there are few, by a hash table beyond that.
    private var members: OrderedDictionary<Name, JSONValue> = [:]

    package init() {}

    /// The last of members with the same name counts, in the place of the first.
    package init(_ members: some Sequence<JSONMember>) {
        for member in members { self[member.name] = member.value }
    }

    package init(_ members: [(String, JSONValue)]) {
        for (name, value) in members { self[name] = value }
    }

    package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }

    package var startIndex: Int { 0 }
    package var endIndex: Int { members.count }
    package subscript(position: Int) -> JSONMember {
        let (name, value) = members.elements[position]
        return JSONMember(name: name.text, value: value)
    }

    /// The value of that name; nil removes it.
    package subscript(name: String) -> JSONValue? {
        get { members[Name(text: name)] }
        set { members[Name(text: name)] = newValue }
    }

    /// - Returns: false, without a change, if there is a member of that name.
    package mutating func insert(_ value: JSONValue, for name: String) -> Bool {
        let key = Name(text: name)
        guard members.index(forKey: key) == nil else { return false }
        members[key] = value
        return true
    }

    package var names: [String] { members.keys.map(\.text) }
}
