import Errors
import JSON
import OperatingSystem

/// First line of an input, checked against the job: mistakes that would fail every line are found before the first of
/// them is done.
struct FirstLine {
    let job: JobSettings
    /// Its file and number.
    private let place: String
    private let fields: JSONObject
    /// Whether it is one of OpenAI's requests, whose fields are its body's.
    let isRequest: Bool
    private let reading: LineReading

    /// Nil if the reader has no line, or an invalid one.
    init?(_ reader: InputReader, job: JobSettings) throws {
        var reader = reader
        guard let record = try reader.next(), let content = try? record.content(),
            case .object(let fields) = content.fields
        else { return nil }
        (self.job, place) = (job, "\(record.file):\(record.number)")
        (self.fields, isRequest) = (fields, content.request != nil)
        reading = isRequest ? .request : LineReading(job)
    }

    func has(_ name: String) -> Bool { fields.contains { $0.name == name && $0.value != .null } }
    private var choosesPrompt: Bool { job.opening.prompt != nil }

    /// Fields that are neither the line's id nor a setting.
    private var ownFields: [JSONMember] {
        fields.filter {
            $0.name != (job.idField ?? "id") && !reading.isSetting($0) && $0.value != .null
        }
    }

    private var ownNames: String {
        ownFields.prefix(12).map { "\($0.name.prefix(64))" }.joined(separator: ", ")
    }

    /// - Throws: `UserError` of kind `badJob` if no line of this form can be a prompt.
    func check() throws {
        if job.task == .score, let problem = ScoreTask.problem(with: self) {
            throw UserError(.badJob, at: place, problem)
        }
        let format = job.outputFormat
        if job.keep == .all,
            format.table != nil,
            let problem = ParquetColumns.problem(withKeeping: fields.map(\.name), of: job.task)
        {
            throw UserError(.badJob, at: place, "output_format \(format.name) \(problem).")
        }
        guard !choosesPrompt, !has("prompt"), !has("messages"), job.opening.messages.last?.role != "user",
            job.task.answers || job.chat
        else { return }
        guard let (names, reference) = offer else {
            guard job.rows != nil else { return }
            throw UserError(
                .badJob, at: place,
                "rows have no prompt of their own; give it in the job file (`prompt: ...`) or as --prompt.")
        }
        throw UserError(
            .badJob, at: place,
            "the line has no `prompt` and no `messages`, but has \(names). Give a template for the prompt: --prompt '\(reference)', or prompt: \"\(reference)\" in the job file."
        )
    }

    /// Names of the line's fields, and the likely prompt as a template; nil if it has none, or is a step's error.
    var offer: (names: String, reference: String)? {
        guard !ownFields.isEmpty, JSONValue.object(fields).earlierError == nil else { return nil }
        let text =
            ownFields.first { $0.value.kindName == "a string" && $0.name != "prompt" } ?? ownFields[0]
        return (ownNames, reference(to: text.name))
    }

    /// Returns a field's name in a template.
    private func reference(to name: String) -> String {
        let isName = name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil
        return "{{ \(isName ? String(name.prefix(64)) : "FIELD") }}"
    }

    /// Returns warnings about probable mistakes.
    func warnings(templateFields: Set<String>) -> [String] {
        var warnings: [String] = []
        if choosesPrompt, templateFields.isEmpty, !ownFields.isEmpty {
            let field = ownFields[0].name
            warnings.append(
                "the prompt template uses no field, so that all lines ask the same; the lines have \(ownNames). A field is written \(reference(to: field))."
            )
        }
        let sampled =
            [("", job, job.samples ?? 1)]
            + job.steps.filter { $0.each == nil }.map { ("steps: \($0.name): ", $0.job(in: job), $0.samples) }
        for (step, settings, samples) in sampled where samples > 1 && settings.temperature ?? 0 == 0 {
            if settings.temperature == nil && has("temperature") { continue }
            warnings.append(
                "\(step)samples is \(samples) and temperature 0: all of them will be the same. Set a temperature, such as 0.7."
            )
        }
        let taken = job.outputFormat.ownNames(of: job)
        let lost =
            job.keep == .all ? fields.filter { taken.contains($0.name) && $0.name != "id" }.map(\.name) : []
        if let first = lost.first {
            warnings.append(
                "keep: all leaves out \(lost.joined(separator: ", ")), which are results' own names. keep: {NEW: \(first)} gives one another name."
            )
        }
        // A body's fields are checked line by line.
        if isRequest { return warnings }
        let unused = ownFields.filter { !templateFields.contains($0.name) && $0.value != "" }
        let data = unused.map(\.name).filter { LineReading.names.contains($0) && !reading.reads($0) }
        if let first = data.first, job.keep != .all {
            warnings.append(
                "\(place): \(data.joined(separator: ", ")): data of the line, as the job gives the prompt. line_settings: [\(first)] makes \(first) a setting."
            )
        }
        // Fields of lines that are data may have any name.
        guard reading.asks, !reading.settings.isEmpty else { return warnings }
        let odd = unused.map(\.name).filter { name in
            Self.settingNames.contains(name) && !data.contains(name)
                || name.utf8.count >= 4 && !NearMiss.hint(for: name, among: Self.longNames).isEmpty
        }
        if !odd.isEmpty {
            warnings.append(
                "\(place): \(odd.map { "\($0.prefix(64))" }.joined(separator: ", ")): like a setting's name, but without effect here. \"phibatch help input\" lists the settings of lines."
            )
        }
        return warnings
    }

    /// Settings of lines, whose values must fit, and of OpenAI's requests alone.
    private static let settingNames = Set(LineReading.names).union([
        "n", "max_completion_tokens", "top_logprobs", "logprobs", "stream", "best_of", "echo", "suffix",
        "model",
    ])
    private static let longNames = LineReading.names.filter { $0.utf8.count >= 5 }
}

extension JobSettings {
    /// - Throws: `UserError` if an input is useless.
    func checkBeginnings() throws {
        try firstLine()?.check()
        for path in input {
            let format = inputFormat.format(for: path)
            let line = Result { try firstLine(of: path) }
            // A file whose first line is a JSON object is in order.
            if !format.isJSONLines || (try? line.get()) == nil, let start = InputFormat.start(of: path),
                let problem = format.problem(start: start, path: path)
            {
                throw UserError(.badJob, at: path, problem)
            }
            try line.get()?.check()
        }
    }

    /// - Parameter path: nil for the rows that the job makes.
    /// - Returns: nil also for an input that can be read only once, and if the job makes no rows.
    func firstLine(of path: String? = nil) throws -> FirstLine? {
        guard let path else { return rows == nil ? nil : try FirstLine(inputReader(), job: self) }
        guard path != "-", Files.kind(of: path) == .regular else { return nil }
        return try FirstLine(InputReader(paths: [path], format: inputFormat), job: self)
    }

    /// Returns warnings about settings that are valid but probably not intended.
    package func warnings() throws -> [String] {
        let fields = try LinePreparer(self).fields
        var warnings: [String] = []
        if let form = answerFormat, form.isConstraint, let rule = try? form.checked() {
            warnings += rule.warnings().map { "\(answerPlace): \($0)" }
        }
        var line = try firstLine()
        for path in input where line == nil { line = try firstLine(of: path) }
        return warnings + (line?.warnings(templateFields: fields) ?? [])
    }
}
