/// The tokens of one sequence as rules see them: which have come, in which order, and how often in the completion.
///
/// A value; it depends on the tokens alone, so it can be built again from saved ones.
package struct TokenHistory: Sendable, Equatable {
    /// A token that has come.
    package struct Entry: Sendable, Equatable {
        package let token: Int32
        /// How often it is in the completion; 0 if it is in the prompt alone.
        package fileprivate(set) var count: Int
    }

    /// All of them, as they came.
    package private(set) var tokens: [Int32]
    /// How many of them are the completion's.
    package private(set) var count = 0
    /// Those that would end the completion.
    package let ends: Set<Int32>
    /// Each token once, in the order in which they first came.
    package private(set) var entries: [Entry] = []
    /// Where in `entries` a token is.
    private var places: [Int32: Int] = [:]

    package init(prompt: some Sequence<Int32> = [], ends: Set<Int32> = []) {
        tokens = Array(prompt)
        self.ends = ends
        for token in prompt where places[token] == nil { add(Entry(token: token, count: 0)) }
    }

    /// Adds a token of the completion.
    package mutating func append(_ token: Int32) {
        tokens.append(token)
        count += 1
        if let place = places[token] {
            entries[place].count += 1
        } else {
            add(Entry(token: token, count: 1))
        }
    }

    /// The tokens with which `size` of them in a row would come a second time.
    func repeating(_ size: Int) -> [Int32] {
        guard size > 0, tokens.count >= size else { return [] }
        let end = tokens.suffix(size - 1)
        return (0...tokens.count - size).compactMap { start in
            let last = start + size - 1
            return tokens[start..<last].elementsEqual(end) ? tokens[last] : nil
        }
    }

    private mutating func add(_ entry: Entry) {
        places[entry.token] = entries.count
        entries.append(entry)
    }
}
