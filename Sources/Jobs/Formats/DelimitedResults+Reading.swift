import BatchEngine
import Faults

/// A row, read again.
extension DelimitedResults {
    package func fault(
        in piece: UnsafeRawBufferPointer, at place: ResultPlace, of run: ResultRun,
        kept: [GenerationResult.KeptValue]?
    ) -> Message? {
        guard let cells = DelimitedRecords.cells(of: Array(piece)[...], separator),
            UTF8Check.isValid(Array(piece))
        else { return "is no row" }
        if let difference = Self.difference(piece, Self.row(cells, separator).dropLast()) {
            return difference
        }
        let names = columnNames
        guard cells.count == names.count else {
            return "has \(cells.count) cells, and the first line names \(names.count) columns"
        }
        var values = Dictionary(zip(names, cells)) { first, _ in first }
        for (name, wanted) in [("id", place.key.id), ("sample", "\(place.key.sample)")]
        where values[name].map({ !$0.utf8.elementsEqual(wanted.utf8) }) ?? true {
            return "has \(values[name] ?? "") as \(name), and should have \(wanted)"
        }
        if values["error"] != "" {
            guard values["error"].flatMap({ LineError.Code(rawValue: $0) }) != nil else {
                return "has no known error"
            }
            for name in ["finish_reason", "prompt_tokens", "completion_tokens", "seed"]
            where values[name] != "" {
                return "has an error, and \(name) too"
            }
        }
        for name in ["prompt_tokens", "completion_tokens", "seed"] {
            let text = values.removeValue(forKey: name) ?? ""
            if !text.isEmpty, Int(text).map({ "\($0)" }) != text { return "has \(text) as \(name)" }
        }
        if let reason = values["finish_reason"], reason != "", FinishReason(rawValue: reason) == nil {
            return "has \(reason) as finish_reason"
        }
        guard let kept else { return nil }
        let wanted = self.kept.map { name in
            kept.first { $0.name == name }.map { Self.text(ofJSON: $0.json) } ?? ""
        }
        return cells.suffix(wanted.count).elementsEqual(wanted) { $0.utf8.elementsEqual($1.utf8) }
            ? nil : Self.otherFields
    }

    var columnNames: [String] { DelimitedRecords.cells(of: head.dropLast()[...], separator) ?? [] }
}
