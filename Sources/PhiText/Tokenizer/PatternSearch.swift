import JSON
import Regex

/// Finds successive matches of a pattern in a text.
///
/// A match may be decided long after its end ("a" of `a*b|a` in "aaaa"), so that every attempt alone would run to the
/// end of the text. The search therefore records, at every 64th byte, the states that it passed without finding more,
/// and stops when it returns there in the same state (Reps, "Maximal-munch tokenization in linear time"). Each pair of
/// state and position is passed once.
struct PatternSearch {
    private struct Tables {
        let table: UnsafePointer<UInt32>
        let classes: UnsafePointer<UInt16>
        let ascii: UnsafePointer<UInt16>
    }

    private var fruitless: Set<UInt64> = []
    private var passed: [UInt64] = []

    /// Calls `body` with the bounds of each match within `range`, which must be on character boundaries, until it
    /// returns false; text outside is ignored.
    mutating func forEachMatch(
        of pattern: Pattern, in text: UnsafePointer<UInt8>, _ range: Range<Int>,
        _ body: (Int, Int) -> Bool
    ) {
        if !fruitless.isEmpty { fruitless.removeAll(keepingCapacity: fruitless.count < 1024) }
        // Without bounds checks: all indices come from the tables themselves.
        pattern.table.withUnsafeBufferPointer { table in
            pattern.classes.withUnsafeBufferPointer { classes in
                guard let table = table.baseAddress, let classes = classes.baseAddress else { return }
                let tables = Tables(table: table, classes: classes, ascii: classes + Pattern.asciiPage)
                var i = range.lowerBound
                while i < range.upperBound {
                    let end = match(pattern, tables, text, i, range.upperBound)
                    if end > i {
                        guard body(i, end) else { return }
                        i = end
                    } else {
                        i += UTF8Bytes.decode(text, i).length
                    }
                }
            }
        }
    }

    /// - Returns: the end of the match at `start`, or -1.
    @inline(__always)
    private mutating func match(
        _ pattern: Pattern, _ tables: Tables, _ text: UnsafePointer<UInt8>, _ start: Int, _ end: Int
    ) -> Int {
        let (table, classes, ascii) = (tables.table, tables.classes, tables.ascii)
        var last = -1
        var state = pattern.start
        var i = start
        while i < end {
            let cls: UInt16
            var next = i + 1
            let byte = text[i]
            if byte < 0x80 {
                cls = ascii[Int(byte)]
            } else {
                let (scalar, length) = UTF8Bytes.decode(text, i)
                cls = classes[Int(classes[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)]
                next = i + length
            }
            let entry = table[Int(state) + Int(cls)]
            if entry & 1 == 1 {
                last = i
                if !passed.isEmpty { passed.removeAll(keepingCapacity: true) }
            }
            state = entry >> 1
            if state == 0 { break }
            if next >> 6 != i >> 6 {
                let key = UInt64(next) << 24 | UInt64(state)
                if !fruitless.isEmpty, fruitless.contains(key) {
                    state = 0
                    break
                }
                passed.append(key)
            }
            i = next
        }
        if state != 0, table[Int(state) + pattern.endClass] & 1 == 1 {
            last = end
            passed.removeAll(keepingCapacity: true)
        }
        if !passed.isEmpty {
            fruitless.formUnion(passed)
            passed.removeAll(keepingCapacity: true)
        }
        return last
    }
}
