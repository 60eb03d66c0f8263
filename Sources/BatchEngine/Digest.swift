import OperatingSystem

/// Digest of everything that a line, a request or a row's step depends on. With equal bytes they are the same.
/// Each part has a fixed length or its length before it, so the encoding is unambiguous.
package struct Digest: Sendable, Equatable {
    package private(set) var bytes: [UInt8] = []

    /// - Parameter kind: a name, distinct for what the parts are of.
    package init(_ kind: String) { append(Array(kind.utf8)) }

    /// Its SHA-256.
    package var hash: [UInt8] { SHA.sha256(of: bytes) }
    /// The first 64 bits of it.
    package var short: UInt64 { SHA.first(hash) }

    package mutating func append(_ number: Int) { append(fixed: Int64(number)) }

    package mutating func append(_ more: [UInt8]) {
        append(more.count)
        bytes += more
    }

    package mutating func append(_ text: String) { append(Array(text.utf8)) }

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
