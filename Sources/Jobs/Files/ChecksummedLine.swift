import JSON

/// A line of JSON that begins with the sum of all that follows it: what the journal and the other files are made of
/// that only phibatch reads.
///
///     {"sum":"<crc64>","name":value,…}
enum ChecksummedLine {
    /// How each line begins. Inside a string its quotes would be escaped.
    static let start: StaticString = "{\"sum\":\""
    /// Longer lines are not written, and are damage when read.
    static let maximumLength = 1 << 28
    /// Before the members that the sum covers: the start, sixteen digits and a quote.
    private static var headLength: Int { start.utf8CodeUnitCount + 17 }

    /// - Parameter members: writes all members but the sum.
    /// - Returns: the line without a line feed.
    static func make(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        let writer = JSONWriter.object { writer in
            writer.string("sum", "0000000000000000")
            members(&writer)
        }
        var line = writer.bytes
        seal(&line)
        return line
    }

    /// Puts the sum into a line that has another one in its place.
    static func seal(_ line: inout [UInt8]) {
        let sum = line.withUnsafeBytes { Checksum.crc64(UnsafeRawBufferPointer(rebasing: $0[headLength...])) }
        var digits: [UInt8] = []
        JSONBytes.appendHex(sum, to: &digits)
        line.replaceSubrange(headLength - 17..<headLength - 1, with: digits)
    }

    /// Reads the members of a line whose sum is known to be right.
    /// - Parameter member: reads the value of a member that it knows; false if there should be none of that name.
    /// - Returns: whether the line is an object of known members, each read as what it should be.
    static func read(
        _ line: UnsafeRawBufferPointer,
        _ member: (inout JSONScanner, UnsafeBufferPointer<UInt8>) throws -> Bool
    ) -> Bool {
        let isRead: Void? = try? JSONScanner.scan(line, limits: .ownLine) { scanner in
            try scanner.object { scanner, name in
                if name.spells("sum") { return try scanner.skip() }
                guard try member(&scanner, name) else { throw scanner.fault("there is no such member") }
            }
        }
        return isRead != nil
    }

    static func isValid(_ line: UnsafeRawBufferPointer) -> Bool {
        var cursor = ByteCursor(bytes: line)
        guard cursor.skip(start), let sum = cursor.hex(), cursor.skip("\"") else { return false }
        return sum == Checksum.crc64(UnsafeRawBufferPointer(rebasing: line[cursor.position...]))
    }
}
