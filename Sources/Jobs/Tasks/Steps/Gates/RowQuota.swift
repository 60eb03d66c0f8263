/// How many accepted rows of a line are enough, where a job says so: then the others are not made.
///
/// A row begins once it is certain that it is needed: fewer of those before it are accepted, or may yet be. So none is
/// made in vain, and which ones are made does not depend on which is ready first.
struct RowQuota {
    enum Need: Equatable {
        case needed, notNeeded
        /// It depends on rows that are under way.
        case open
    }

    /// What is known of a line of which not all rows have come to their end.
    private struct Line {
        var accepted = 0
        /// Those that came to their end without.
        var others = 0
    }

    let wanted: Int
    private let samples: Int
    private var lines: [Int: Line] = [:]
    /// Lines of which all rows have come to their end, and fewer are accepted.
    private(set) var shortLines = 0

    init(_ wanted: Int, samples: Int) { (self.wanted, self.samples) = (wanted, samples) }

    /// How many rows of a line wait for each that runs.
    var waitingRows: Int { (samples + wanted - 1) / wanted }

    func need(of position: Int) -> Need {
        guard let line = lines[position / samples] else {
            return position % samples < wanted ? .needed : .open
        }
        if position % samples < wanted + line.others { return .needed }
        return line.accepted >= wanted ? .notNeeded : .open
    }

    /// A row has come to its end, or was at it before this run.
    mutating func ended(_ position: Int, isAccepted: Bool) {
        var line = lines.removeValue(forKey: position / samples) ?? Line()
        if isAccepted { line.accepted += 1 } else { line.others += 1 }
        if line.accepted + line.others < samples {
            lines[position / samples] = line
        } else if line.accepted < wanted {
            shortLines += 1
        }
    }
}
