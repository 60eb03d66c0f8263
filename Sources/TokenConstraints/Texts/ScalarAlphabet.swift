import OperatingSystem
import Regex

/// The spelling in bytes of each class of scalars: a tree from the first byte of a scalar to its class. Equal inner
/// nodes are shared.
final class ScalarAlphabet: Sendable {
    enum Spelling {
        /// UTF-8.
        case raw
        /// The contents of JSON strings, as in `JSONSpelling`.
        case json
    }

    /// A node's result: a class, the bytes of the shortest way there, and the number of its scalars.
    struct Ending {
        let classIndex: Int
        var fewest: Int32
        var scalars: Int
    }

    let nodeCount: Int
    // Node 0 is between scalars. The first nodes have an entry for each byte, the others only for UTF-8's continuation
    // bytes. An entry is a node; or -1 for nothing; or a class, as -2 - class.
    private let wideCount: Int
    private let entries: [Int32]
    private let endings: [Ending]
    private let endingStarts: [Int]
    private let classifier: ScalarClassifier
    private let kinds: Lazy<[[Int]]>

    convenience init(_ classifier: ScalarClassifier, _ spelling: Spelling) {
        var builder = AlphabetBuilder(classifier, wideCount: spelling == .raw ? 1 : 7)
        builder.addASCII(escaped: spelling == .json)
        builder.addUTF8()
        self.init(builder)
    }

    init(_ builder: AlphabetBuilder) {
        let classifier = builder.classifier
        self.classifier = classifier
        kinds = Lazy { Self.kinds(classifier) }
        wideCount = builder.wide.count
        nodeCount = builder.wide.count + builder.narrow.count
        entries = builder.wide.flatMap { $0 } + builder.narrow.flatMap { $0 }
        var found = [[Ending]](repeating: [], count: nodeCount)
        // A narrow node leads to earlier ones, a wide one to later ones or to narrow ones.
        for node in Array(wideCount..<nodeCount) + (0..<wideCount).reversed() {
            let own = node < wideCount ? builder.wide[node] : builder.narrow[node - wideCount]
            found[node] = Self.endings(of: own, found)
        }
        endings = found.flatMap { $0 }
        var starts = [0]
        for list in found { starts.append(starts[starts.count - 1] + list.count) }
        endingStarts = starts
    }

    private static func endings(of entries: [Int32], _ found: [[Ending]]) -> [Ending] {
        var all: [Ending] = []
        func add(_ ending: Ending) {
            guard let known = all.firstIndex(where: { $0.classIndex == ending.classIndex }) else {
                all.append(ending)
                return
            }
            all[known].fewest = min(all[known].fewest, ending.fewest)
            all[known].scalars += ending.scalars
        }
        for entry in entries where entry != -1 {
            if entry <= -2 {
                add(Ending(classIndex: Int(-2 - entry), fewest: 1, scalars: 1))
            } else {
                for ending in found[Int(entry)] {
                    add(
                        Ending(
                            classIndex: ending.classIndex, fewest: ending.fewest + 1,
                            scalars: ending.scalars))
                }
            }
        }
        return all.sorted { $0.classIndex < $1.classIndex }
    }

    /// Its size in memory.
    var bytes: Int {
        4 * entries.count + MemoryLayout<Ending>.stride * endings.count + 8 * endingStarts.count
    }

    /// The entry for a byte: a node, -1, or a class as -2 - class.
    @inline(__always) func entry(_ node: Int, _ byte: UInt8) -> Int32 {
        if node < wideCount { return entries[node << 8 | Int(byte)] }
        guard byte & 0xC0 == 0x80 else { return -1 }
        return entries[wideCount << 8 + (node - wideCount) << 6 + Int(byte & 63)]
    }

    /// In the order of the classes.
    func endings(_ node: Int) -> ArraySlice<Ending> { endings[endingStarts[node]..<endingStarts[node + 1]] }

    /// The classes of scalars that begin with a byte.
    func classes(from byte: UInt8) -> [Int] {
        let entry = entry(0, byte)
        return entry < 0 ? (entry < -1 ? [Int(-2 - entry)] : []) : endings(Int(entry)).map(\.classIndex)
    }

    /// The classes of the scalars of a kind, which is none of ASCII's.
    func classes(ofKind kind: UInt8) -> [Int] { kinds.value[Int(kind - Self.firstKind)] }

    private static let firstKind = ScalarKind.ofASCII.upperBound

    private static func kinds(_ classifier: ScalarClassifier) -> [[Int]] {
        let none = [Bool](repeating: false, count: classifier.classCount)
        var isIn = [[Bool]](repeating: none, count: 256 - Int(firstKind))
        let (starts, runs) = (classifier.starts, ScalarKind.runs)
        var first = 0
        for (place, (start, kind)) in runs.enumerated() where kind > 0 {
            let end = place + 1 < runs.count ? runs[place + 1].start : .max
            while first + 1 < starts.count, starts[first + 1] <= start { first += 1 }
            var run = first
            repeat {
                isIn[Int(kind - firstKind)][Int(classifier.classes[run])] = true
                run += 1
            } while run < starts.count && starts[run] < end
        }
        return isIn.map { own in own.indices.filter { own[$0] } }
    }

    /// Bytes of each class's shortest scalar; 0 for an empty class.
    var fewestBytes: [Int32] {
        var fewest = [Int32](repeating: 0, count: classifier.classCount)
        for ending in endings(0) { fewest[ending.classIndex] = ending.fewest }
        return fewest
    }

    /// By class, whether it has a scalar.
    var isUsable: [Bool] { fewestBytes.map { $0 > 0 } }

    /// All scalars in one class, in the spelling of answers.
    static let anyScalar = AlphabetBuilder.oneClass.map { ScalarAlphabet($0, .json) }

    /// All scalars in one class, in all spellings that JSON allows.
    static let anySpelling: ScalarAlphabet? = AlphabetBuilder.oneClass.map { classifier in
        var builder = AlphabetBuilder(classifier, wideCount: 13)
        builder.addAllEscapes()
        builder.addUTF8()
        return ScalarAlphabet(builder)
    }
}
