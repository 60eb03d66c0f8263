import OperatingSystem

extension JobSettings {
    /// The places of the lines that have all their results, failed ones too, in what a stopped run has left.
    /// - Throws: `UserError` if input or log can't be read.
    package func linesWithResults() throws -> [Int] {
        guard try OutputLog.find(of: output)?.isOpen == true else { return [] }
        var found: [UInt64: Int] = [:]
        try ReportSource(output).visit { result in
            found[ReportPrompts.hash(result.id), default: 0] += 1
            return true
        }
        var (reader, keys) = (inputReader(), try LineKeys(self))
        var (places, place) = ([Int](), 0)
        while let line = try reader.next() {
            if line.isHalf { continue }
            let identity = LineIdentity(line, keys)
            if found[ReportPrompts.hash(identity.id)] ?? 0 >= identity.samples(in: self) {
                places.append(place)
            }
            place += 1
        }
        return places
    }
}
