import JSON

/// The chosen answer of a line, and the probabilities of all choices, in the order given.
///
///     "text","finish_reason","probabilities":{"<choice>":<0 to 1>,…},"usage":{…},"seed"[,"tokens"][,"provenance":{…}]
package struct ChosenResult: TaskResult {
    /// Probability of a choice among all.
    package struct Probability: Sendable, Equatable {
        package var text: String
        /// 0 to 1.
        package var value: Double
    }

    package var answer: GeneratedResult
    package var probabilities: [Probability]

    package init(_ answer: GeneratedResult, _ probabilities: [Probability]) {
        self.answer = answer
        self.probabilities = probabilities
    }

    /// Without probabilities it is a completion.
    package init?(_ log: JSONValue) {
        guard case .object(let choices)? = log["probabilities"], let answer = GeneratedResult(log) else {
            return nil
        }
        self.init(answer, choices.map { Probability(text: $0.name, value: $0.value.number ?? 0) })
    }

    package static let names = GeneratedResult.names.union(["probabilities"])
    static let ownColumns = ["probability", "probabilities"]

    package var promptTokens: Int { answer.promptTokens }
    package var completionTokens: Int { answer.completionTokens }
    package var completion: GeneratedResult? { answer }

    package func write(_ members: ResultMembers, to writer: inout JSONWriter) {
        answer.write(members, to: &writer, more: writeMore)
    }

    package func writeMore(to writer: inout JSONWriter) {
        writer.raw("probabilities", probabilityText)
    }

    private var probabilityText: String {
        JSONWriter.object { writer in
            for choice in probabilities { writer.number(choice.text, choice.value) }
        }.text
    }

    package func cell(_ column: String) -> String? {
        switch column {
        case "probability":
            probabilities.first { $0.text.utf8.elementsEqual(answer.text.utf8) }.map { "\($0.value)" }
        case "probabilities": probabilityText
        default: answer.cell(column)
        }
    }

    package func describe(in report: inout ReportedResult) {
        report.facts += probabilities.map { ("p(\($0.text))", "\($0.value)") }
        answer.describe(in: &report)
        let chosen = probabilities.first { $0.text.utf8.elementsEqual(answer.text.utf8) }
        report.fields = [.init(["class"], .string(answer.text))]
        if let chosen { report.fields.append(.init(["probability"], .double(chosen.value))) }
        report.fields += probabilities.map { .init(["p(\($0.text))"], .double($0.value)) }
    }
}
