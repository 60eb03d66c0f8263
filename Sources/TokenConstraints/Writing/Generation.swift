import BatchEngine
import FoundationShim
import JSON

/// A test whether a text can be generated, token by token.
package struct Generation: Sendable {
    /// Whether all of it can, and an end after it.
    package var isPossible = false
    /// Number of bytes that can.
    package var bytes = 0
    /// The thread's processor time for each mask: what else runs on the machine does not count.
    package var maskSeconds: [Double] = []

    fileprivate mutating func mask(of constraint: any Constraint) -> TokenMask {
        let start = Self.threadSeconds()
        defer { maskSeconds.append(Self.threadSeconds() - start) }
        return constraint.allowed()
    }

    private static func threadSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension AnswerGrammar {
    /// A value as it would be written: members in the order of the schema, no white space.
    package func text(of value: JSONValue) -> [UInt8] { schemaShape?.text(of: value) ?? [] }

    /// The shortest answer.
    package var example: String {
        let writer = currentWriter().writer
        return String(decoding: writer.shortestEnd(writer.start), as: UTF8.self)
    }

    /// Generates a text with the canonical tokens as far as they are allowed, else with the longest allowed ones.
    package func generation(of text: [UInt8]) -> Generation {
        var generation = Generation()
        var constraint = constraint(maxTokens: Int(Int32.max))
        var canonical = canonicalPlaces(of: text)
        while generation.bytes < text.count, !constraint.isComplete {
            let mask = generation.mask(of: constraint)
            let wanted = canonical.removeValue(forKey: generation.bytes)
            guard let token = token(for: text[generation.bytes...], mask, wanted),
                constraint.accept(token)
            else { return generation }
            generation.bytes += tokens.text(of: token).count
        }
        guard generation.bytes == text.count else { return generation }
        let mask = generation.mask(of: constraint)
        generation.isPossible = tokens.endOfSequence.contains { mask[$0] }
        return generation
    }

    /// The canonical tokens by their first byte.
    private func canonicalPlaces(of text: [UInt8]) -> [Int: Int32] {
        var places: [Int: Int32] = [:]
        var place = 0
        for token in tokens.encode(String(decoding: text, as: UTF8.self)) {
            places[place] = token
            place += tokens.text(of: token).count
        }
        return place == text.count ? places : [:]
    }

    private func token(for text: ArraySlice<UInt8>, _ mask: TokenMask, _ wanted: Int32?) -> Int32? {
        if let wanted, mask[wanted] { return wanted }
        var node = 0
        var longest: Int32?
        for byte in text {
            guard let child = tokens.nodes.child(of: node, byte) else { break }
            node = child
            let (from, to) = tokens.nodes.texts(at: node)
            if let token = tokens.ids[from..<to].first(where: { mask[$0] }) { longest = token }
        }
        return longest
    }
}
