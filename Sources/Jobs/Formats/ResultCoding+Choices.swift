import JSON

/// The probabilities of choices: an object in the order given.
///
///     "probabilities":{"<choice>":<0 to 1>,…}
extension ResultCoding {
    static func write(_ probabilities: [GenerationResult.Probability], _ writer: inout JSONWriter) {
        writer.key("probabilities")
        writer.raw(text(of: probabilities))
    }

    static func probabilities(
        _ scanner: inout JSONScanner, keeps: Bool
    ) throws -> [GenerationResult.Probability] {
        var list: [GenerationResult.Probability] = []
        try scanner.object { scanner, name in
            let text = keeps ? String(decoding: name, as: UTF8.self) : ""
            let value = try scanner.number()
            guard 0...1 ~= value else { throw scanner.fault("expected a probability") }
            if keeps { list.append(.init(text: text, value: value)) }
        }
        return list
    }

    /// The object by itself.
    static func text(of probabilities: [GenerationResult.Probability]) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            for choice in probabilities { writer.number(choice.text, choice.value) }
        }
        return writer.text
    }
}
