import Faults

/// A line, read again.
extension NativeResults {
    package func fault(
        in piece: UnsafeRawBufferPointer, at place: ResultPlace, of run: ResultRun,
        kept: [GenerationResult.KeptValue]?
    ) -> Message? {
        guard let line = NativeLine(piece), let result = NativeLine.result(in: piece) else {
            return "is no result of phibatch"
        }
        let names = result.kept.map(\.name)
        if Set(names).count < names.count { return "has a member twice" }
        if let kept, kept != result.kept { return Self.otherFields }
        if let index = line.recorded.index, index != place.index {
            return "has the index \(index), and should have \(place.index)"
        }
        var encoder = makeEncoder(for: run)
        var again: [UInt8] = []
        var place = place
        place.run = line.recorded.run
        encoder.append(result, at: place, to: &again)
        // What comes after that is its sum, which other lines have a part in.
        let end = line.rest.upperBound
        return Self.difference(UnsafeRawBufferPointer(rebasing: piece[..<end]), again.prefix(end))
    }
}
