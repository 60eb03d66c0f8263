import Foundations

/// One result as a line, in the journal and in the output.
///
///     journal  {"sum":"<crc64>"[,"repeat":R],"id":"…","sample":S,<members>,"line_hash":"…","run":"…"}
///     output   {"id":"…","index":N[,"sample":S],<members>,"line_hash":"…","run":"…","sum":"<crc64>"}
///
/// The members are the result's own, byte for byte. What depends on the input's order (`index`) is put
/// in only when the output is made, so a kept result fits wherever its line has moved. `line_hash`
/// (the line's content) and `run` (the digest of the fingerprint) stand in the output too: with them
/// a finished output is its own record of what was done, and needs no file beside it.
/// `repeat` counts results of the same id and sample before this one (a duplicate id is an error
/// result of its own); in the output the order tells. A journal line's `sum` covers all behind its closing
/// quote; an output line's is of all lines so far (`OutputSums`), and outputs of earlier versions have none.
///
/// A failed result is one whose first member is `error`.
struct RecordLine {
    /// The id as a JSON string, quotes included.
    var id: Range<Int>
    var sample: Int
    var repetition: Int
    /// From the comma behind the head to the closing quote of `run`.
    var rest: Range<Int>
    var contentHash: UInt64
    var run: Range<Int>
    var failed: Bool
    /// What stands between the braces of `timing`; empty if there is none.
    var timing: Range<Int>
    /// An output line's sum.
    var sum: UInt64?

    /// A line of the journal whose sum is known to be right.
    init?(journal line: UnsafeRawBufferPointer) {
        var cursor = ByteCursor(bytes: line, position: SealedLine.start.utf8CodeUnitCount + 17)
        repetition = 0
        if cursor.skip(",\"repeat\":") {
            guard let number = cursor.decimal() else { return nil }
            repetition = number
        } else {
            cursor.position = SealedLine.start.utf8CodeUnitCount + 17
        }
        guard cursor.skip(",\"id\":"), let id = cursor.string(), cursor.skip(",\"sample\":"),
            let sample = cursor.decimal()
        else { return nil }
        self.id = id
        self.sample = sample
        guard let tail = Tail(of: line, from: cursor.position, end: line.count - 1) else { return nil }
        (rest, contentHash, run) = (tail.rest, tail.contentHash, tail.run)
        (failed, timing) = (tail.failed, tail.timing)
    }

    /// A line of an output.
    init?(output line: UnsafeRawBufferPointer, index: inout Int) {
        var cursor = ByteCursor(bytes: line)
        guard cursor.skip("{\"id\":"), let id = cursor.string(), cursor.skip(",\"index\":"),
            let number = cursor.decimal()
        else { return nil }
        index = number
        self.id = id
        repetition = 0
        sample = 0
        let behindIndex = cursor.position
        if cursor.skip(",\"sample\":") {
            guard let number = cursor.decimal() else { return nil }
            sample = number
        } else {
            cursor.position = behindIndex
        }
        let end: Int
        (end, sum) = Self.sum(at: line)
        guard let tail = Tail(of: line, from: cursor.position, end: end) else { return nil }
        (rest, contentHash, run) = (tail.rest, tail.contentHash, tail.run)
        (failed, timing) = (tail.failed, tail.timing)
    }

    /// The sum at a line's end, if there is one, and where what is before it ends.
    private static func sum(at line: UnsafeRawBufferPointer) -> (end: Int, sum: UInt64?) {
        let member: StaticString = ",\"sum\":\""
        let start = line.count - member.utf8CodeUnitCount - 18
        guard start > 0 else { return (line.count - 1, nil) }
        var cursor = ByteCursor(bytes: line, position: start)
        guard cursor.skip(member), let sum = cursor.hex(), cursor.skip("\"}") else {
            return (line.count - 1, nil)
        }
        return (start, sum)
    }

    /// A line's end is of known shape, so it is read backwards from there, past any members.
    private struct Tail {
        var rest: Range<Int>
        var contentHash: UInt64
        var run: Range<Int>
        var failed: Bool
        var timing: Range<Int>

        /// - Parameter end: behind the closing quote of `run`.
        init?(of line: UnsafeRawBufferPointer, from start: Int, end: Int) {
            guard end - start > 3, line[line.count - 1] == UInt8(ascii: "}"),
                line[end - 1] == UInt8(ascii: "\"")
            else { return nil }
            var runStart = end - 1
            while runStart > start, line[runStart - 1] != UInt8(ascii: "\"") {
                runStart -= 1
                if end - runStart > RunFingerprint.maximumDigestLength + 1 { return nil }
            }
            let hashMember: StaticString = ",\"line_hash\":\""
            let runMember: StaticString = "\",\"run\":\""
            let hashStart = runStart - runMember.utf8CodeUnitCount - 16 - hashMember.utf8CodeUnitCount
            guard hashStart >= start else { return nil }
            var cursor = ByteCursor(bytes: line, position: hashStart)
            guard cursor.skip(hashMember), let hash = cursor.hex(), cursor.skip(runMember) else { return nil }
            guard hashStart == start || line[start] == UInt8(ascii: ",") else { return nil }
            rest = start..<end
            contentHash = hash
            run = runStart..<end - 1
            var error = ByteCursor(bytes: line, position: start)
            failed = error.skip(",\"error\":")
            timing = Self.timing(of: line, in: start..<hashStart)
        }

        /// `timing` is the last of the members, and an object without objects.
        private static func timing(of line: UnsafeRawBufferPointer, in members: Range<Int>) -> Range<Int> {
            let none = members.lowerBound..<members.lowerBound
            let name: StaticString = ",\"timing\":{"
            guard let last = members.last, line[last] == UInt8(ascii: "}") else { return none }
            var first = last
            while first > members.lowerBound, last - first < 1000, line[first - 1] != UInt8(ascii: "{") {
                first -= 1
            }
            let start = first - name.utf8CodeUnitCount
            guard start >= members.lowerBound else { return none }
            var cursor = ByteCursor(bytes: line, position: start)
            return cursor.skip(name) ? first..<last : none
        }
    }

    /// Makes a sealed journal line, without a line feed.
    /// - Parameter result: a JSON object's text on one line, without the members that are put in here.
    static func journalLine(_ result: String, key: WorkKey, repetition: Int, run: String) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(result.utf8.count + key.id.utf8.count + 160)
        line.append(contentsOf: "{\"sum\":\"0000000000000000\"".utf8)
        if repetition > 0 {
            line.append(contentsOf: ",\"repeat\":".utf8)
            JSONBytes.appendDecimal(repetition, to: &line)
        }
        line.append(contentsOf: ",\"id\":".utf8)
        JSONBytes.append(key.id, to: &line)
        line.append(contentsOf: ",\"sample\":".utf8)
        JSONBytes.appendDecimal(key.sample, to: &line)
        appendRest(result, contentHash: key.contentHash, run: run, to: &line)
        SealedLine.seal(&line)
        return line
    }

    static func appendRest(_ result: String, contentHash: UInt64, run: String, to line: inout [UInt8]) {
        if result.utf8.count > 2 {
            line.append(UInt8(ascii: ","))
            line.append(contentsOf: result.utf8.dropFirst().dropLast())
        }
        line.append(contentsOf: ",\"line_hash\":\"".utf8)
        JSONBytes.appendHex(contentHash, to: &line)
        line.append(contentsOf: "\",\"run\":\"".utf8)
        line.append(contentsOf: run.utf8)
        line.append(contentsOf: "\"}".utf8)
    }

    /// Appends an output line, without its sum and line feed, made from a journal's or an earlier output's.
    func appendOutput(
        from line: UnsafeRawBufferPointer, index: Int, showsSample: Bool, to bytes: inout [UInt8]
    ) {
        bytes.append(contentsOf: "{\"id\":".utf8)
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: line[id]))
        Self.appendPlace(index: index, sample: showsSample ? sample : nil, to: &bytes)
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: line[rest]))
        bytes.append(UInt8(ascii: "}"))
    }

    static func appendPlace(index: Int, sample: Int?, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: ",\"index\":".utf8)
        JSONBytes.appendDecimal(index, to: &bytes)
        guard let sample else { return }
        bytes.append(contentsOf: ",\"sample\":".utf8)
        JSONBytes.appendDecimal(sample, to: &bytes)
    }

    /// Our own side of the contract on what a result looks like.
    static func check(_ result: String, failed: Bool) {
        let bytes = result.utf8
        precondition(
            bytes.first == UInt8(ascii: "{") && bytes.last == UInt8(ascii: "}") && !bytes.contains(0x0a),
            "a result is a JSON object on one line")
        precondition(
            failed == bytes.starts(with: "{\"error\":".utf8), "a failed result starts with its error")
    }
}
