/// Tokens of one sequence, as rules see them: in order, and with their counts in the completion.
///
/// A value that depends on the tokens alone, so it can be rebuilt from saved ones.
package struct TokenHistory: Sendable, Equatable {
    /// A token of prompt or completion.
    package struct Entry: Sendable, Equatable {
        package let token: Int32
        /// Number of times it is in the completion; 0 if only in the prompt.
        package fileprivate(set) var count: Int
    }

    /// All tokens in order.
    package private(set) var tokens: [Int32]
    /// Number of tokens in the completion.
    package private(set) var count = 0
    /// Tokens that would end the completion.
    package let ends: Set<Int32>
    /// Each token once, in the order of first occurrence.
    package private(set) var entries: [Entry] = []
    /// Index of each token in `entries`.
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

    /// Returns the tokens that would repeat a sequence of `size` tokens.
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
