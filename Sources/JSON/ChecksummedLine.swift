/// A JSON line that begins with a checksum of the rest, used in logs and other internal files.
///
///     {"sum":"<crc64>","name":value,…}
package enum ChecksummedLine {
    /// Beginning of each line. Inside a string its quotes would be escaped.
    package static let start: StaticString = "{\"sum\":\""
    /// Longer lines are never written, and count as damage when read.
    package static let maximumLength = 1 << 28
    /// Length of what the checksum doesn't cover: the start, sixteen digits and a quote.
    private static var headLength: Int { start.utf8CodeUnitCount + 17 }

    /// - Parameter members: writes all members after the checksum.
    /// - Returns: the line without a line feed.
    package static func make(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        let writer = JSONWriter.object { writer in
            writer.string("sum", "0000000000000000")
            members(&writer)
        }
        var line = writer.bytes
        seal(&line)
        return line
    }

    /// Replaces the checksum of a line by the right one.
    package static func seal(_ line: inout [UInt8]) {
        let sum = line.withUnsafeBytes { Checksum.crc64(UnsafeRawBufferPointer(rebasing: $0[headLength...])) }
        var digits: [UInt8] = []
        JSONBytes.appendHex(sum, to: &digits)
        line.replaceSubrange(headLength - 17..<headLength - 1, with: digits)
    }

    /// Whether the first member after the sum is this one.
    package static func begins(_ line: UnsafeRawBufferPointer, _ member: StaticString) -> Bool {
        var cursor = ByteCursor(bytes: line)
        return cursor.skip(start) && cursor.hex() != nil && cursor.skip("\",") && cursor.skip(member)
    }

    package static func isValid(_ line: UnsafeRawBufferPointer) -> Bool {
        var cursor = ByteCursor(bytes: line)
        guard cursor.skip(start), let sum = cursor.hex(), cursor.skip("\"") else { return false }
        return sum == Checksum.crc64(UnsafeRawBufferPointer(rebasing: line[cursor.position...]))
    }
}
