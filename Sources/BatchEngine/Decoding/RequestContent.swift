/// All that the outcome of a goal depends on beside the prompt, the request's settings and the model, written down: equal
/// bytes, equal outcomes. Everything has its length before it or a fixed one, so no two goals run together to the same.
package struct RequestContent: Sendable, Equatable {
    package private(set) var bytes: [UInt8] = []
    /// Whether a random stream, which is in the bytes, plays a role.
    package private(set) var draws = false

    /// - Parameter kind: the goal's, another one for each type.
    package init(_ kind: String) { append(Array(kind.utf8)) }

    package mutating func append(_ number: Int) { append(fixed: Int64(number)) }

    package mutating func append(_ more: [UInt8]) {
        append(more.count)
        bytes += more
    }

    package mutating func append(_ tokens: [Int32]) {
        append(tokens.count)
        tokens.map { $0.littleEndian }.withUnsafeBytes { bytes += $0 }
    }

    /// - Parameter stream: the key of the random stream that tokens are drawn with.
    package mutating func append(stream: UInt64) {
        draws = true
        append(fixed: stream)
    }

    private mutating func append(fixed number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }
}
