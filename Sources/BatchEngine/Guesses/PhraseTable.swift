/// What followed the same few tokens before, in any number of texts: for each such context of 1 to 8 tokens the token
/// that did so most often, by a running vote (Boyer and Moore, 1981). Rare ones are forgotten when it is full.
struct PhraseTable: Sendable {
    private struct Entry {
        var token: Int32
        var times: UInt16 = 1
        /// Times that another token came.
        var others: UInt16 = 0

        mutating func note(_ next: Int32) {
            if times == .max || others == .max { (times, others) = (times / 2, others / 2) }
            if next == token {
                times += 1
            } else if others < times {
                others += 1
            } else {
                self = Entry(token: next, times: 1, others: times)
            }
        }

        /// Nil if it came once: that may have been an accident.
        var halved: Entry? {
            times < 2 ? nil : Entry(token: token, times: times / 2, others: others / 2)
        }
    }
    /// What a table says of the end of a text.
    struct Found {
        var token: Int32
        /// Which of `lengths` the context has.
        var lengthNumber: Int
        /// Times that `token` followed it since it is held to be the most frequent one, and times that anything did.
        var times: Int
        var all: Int
    }
    private var entries: [UInt64: Entry] = [:]
    private let limit: Int

    /// How many tokens contexts have.
    private static let lengths = [1, 2, 3, 4, 6, 8]
    /// The most of them.
    static let reach = 8

    /// - Parameter limit: the most entries; 32 bytes each, and as much again while it grows.
    init(limit: Int = 1 << 17) { self.limit = limit }

    var count: Int { entries.count }

    /// Learns what follows what from `start` on.
    mutating func learn(_ text: [Int32], from start: Int) {
        for place in max(1, start)..<max(1, start, text.count) {
            let token = text[place]
            Self.eachKey(text[..<place]) { _, key in
                entries[key, default: Entry(token: token, times: 0)].note(token)
                return true
            }
            while entries.count > limit { entries = entries.compactMapValues(\.halved) }
        }
    }

    /// What followed the longest context that is known.
    func find(after text: ArraySlice<Int32>) -> Found? {
        var found: (entry: Entry, number: Int)?
        Self.eachKey(text) { number, key in
            // What is not known of a shorter context isn't of a longer one.
            guard let entry = entries[key] else { return false }
            found = (entry, number)
            return true
        }
        return found.map { entry, number in
            Found(
                token: entry.token, lengthNumber: number, times: Int(entry.times),
                all: Int(entry.times) + Int(entry.others))
        }
    }

    /// Calls `body` with a number for the last tokens, for each length from the shortest on, until it says false.
    private static func eachKey(_ text: ArraySlice<Int32>, _ body: (_ number: Int, _ key: UInt64) -> Bool) {
        var (key, length): (UInt64, Int) = (0, 0)
        for (number, next) in lengths.enumerated() where next <= text.count {
            while length < next {
                length += 1
                key =
                    (key ^ UInt64(UInt32(bitPattern: text[text.endIndex - length]))) &+ 0x9E37_79B9_7F4A_7C15
                key = (key ^ key >> 29) &* 0xBF58_476D_1CE4_E5B9
            }
            guard body(number, key) else { return }
        }
    }
}
