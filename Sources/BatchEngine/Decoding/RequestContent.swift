/// Everything that a request's outcome depends on beside prompt, settings and model, as bytes: equal bytes mean equal
/// outcomes. Each part has a fixed length or its length before it, so the encoding is unambiguous.
package struct RequestContent: Sendable, Equatable {
    package private(set) var bytes: [UInt8] = []

    /// - Parameter kind: name of the request's kind, distinct for each type.
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

    /// - Parameter stream: key of the random stream that tokens are drawn from.
    package mutating func append(stream: UInt64) { append(fixed: stream) }

    private mutating func append(fixed number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }
}
