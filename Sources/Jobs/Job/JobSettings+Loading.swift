import FoundationShim
import JSON
import OperatingSystem

extension JobSettings {
    /// Reads settings from a job file, command-line options, or both; options override the file.
    ///
    /// Relative paths start at the job file's folder, those in options at the working directory.
    /// - Parameters:
    ///   - file: path of a job file (YAML or JSON), from `ProgramCall`, so that it need not be UTF-8; nil for options
    ///     only.
    /// - Throws: `UserError` with the file, line and key, or the option, and the valid values.
    ///   - awaitsInput: whether patterns of the input may match nothing yet.
    ///   - pins, bring: as in `bringInputs`.
    package static func load(
        file: String?, options: [WrittenSetting] = [], awaitsInput: Bool = false,
        pins: PinningRuns = .results, bring: DistantInput.Bring? = nil
    ) throws -> JobSettings {
        var job = JobSettings()
        job.awaitsInput = awaitsInput
        if let file { job.sources.append(SourceFile(path: file, what: "the job file")) }
        try job.apply((file.map(settings) ?? []) + options)
        try job.placeOutput()
        try job.check(file: file)
        job.chooseShardOutput()
        try job.checkScheduledShard()
        try job.bringInputs(pins, by: bring)
        job.chooseOutputFormat()
        try job.checkOutputFormat(file: file)
        return job
    }

    private static func settings(of file: String) throws -> [WrittenSetting] {
        try checkIsThere(file, "job file")
        let bytes = try ByteSource(path: file, isSettings: true).readAll(
            limit: WrittenSetting.fileSizeLimit + 1)
        return try WrittenSetting.all(in: bytes, name: file, folder: Paths.folder(of: file))
    }

    /// Sets the output's format by its name or its input, unless the job sets it.
    package mutating func chooseOutputFormat() {
        var format = outputFormat
        if outputFormatFollowsInput {
            format =
                OutputName(wholeOutput).format
                ?? (task.answers && firstLineIsRequest ? .openAI() : .jsonl)
        }
        if results != .full, let shown = format.showing(results) { format = shown }
        format.fit(&format, self)
        format.omitsFailures = errors != nil
        outputFormat = format
    }

    /// The names of all fields that lines may have; nil if only the lines show them.
    var fieldsOfInput: [String]? {
        if rows != nil { return pick.map(\.name) }
        var names = JSONObject()
        for path in input {
            let format = inputFormat.format(for: path)
            guard !awaitsInput, path != "-", format.hasColumns else { return nil }
            var reader = InputReader(paths: [path], format: format)
            do {
                while let record = try reader.next() {
                    guard case .object(let fields)? = try? record.content().fields else { continue }
                    for field in fields { names[field.name] = .null }
                    break
                }
            } catch { return nil }
        }
        return names.names
    }

    /// SQL types of kept fields that are columns of tables with one type in all of the input, by their names in
    /// results.
    func typesOfKeptFields() -> JSONObject {
        var fields: [KeptFields.Field] = []
        if case .fields(let named) = keep { fields = named }
        if fields.isEmpty, keep != .all { return [:] }
        let columns = ParquetColumns.common(of: input)
        let types = JSONObject(columns.map { ($0.name, .string($0.type)) })
        if keep == .all {
            let own = KeptFields.resultNames(of: task).union(results == .messages ? ["messages"] : [])
            fields = columns.filter { !own.contains($0.name) }.map { .init($0.name) }
        }
        return fields.reduce(into: [:]) { $0[$1.resultName] = types[$1.name] }
    }

    /// - Throws: `UserError` if the output's format can't hold what the job asks for.
    package func checkOutputFormat(file: String?) throws {
        let format = outputFormat
        var problem = format.problem(with: self)
        if results != .full {
            problem =
                format.showing(results) == nil
                ? "has no place for results: \(results.rawValue), which are for jsonl, json and parquet"
                : (results == .data ? nil : tokenSetting)
                    .map { "has no place for \($0), which results: full has" } ?? problem
        }
        guard let problem else { return }
        throw UserError(
            file == nil ? .usage : .badJob, at: file, "output_format \(format.name) \(problem).")
    }

    /// An error of where the job reads and writes, as a sentence of its own; nil if all is well.
    private func pathProblem(isFile: Bool) -> String? {
        if isFile, input.contains("") { return "input is an empty path." }
        if model == "-" { return "model must be a folder, but is -." }
        if input.count(where: { $0 == "-" }) > 1 { return "input names stdin (-) more than once." }
        if let errors, output == "-" || errors == "-" {
            return
                "errors needs two files, and \(errors == "-" ? "is" : "output is") -; in a stream failed lines are among the results."
        }
        if errors != nil, selection.shard != nil {
            return
                "errors can't be combined with shard, as merge joins outputs; failed lines are among the results."
        }
        if let path = [output, errors ?? ""].first(where: Addresses.isOne) {
            return
                "\(path == output ? "output" : "errors") is \(Addresses.shown(path)), which is no file. The output may go to s3://, gs:// and az://, sent by the program \"phibatch\"; \"phibatch push\" makes a dataset of it."
        }
        return provenance && output == "-"
            ? "provenance needs an output that is a file, but it is -." : nil
    }

    /// An error of what only a chat template has, as a sentence of its own; nil if all is well.
    var chatProblem: String? {
        chat || system == nil && messages.isEmpty
            ? nil
            : "system and messages have no place without a chat template; put them into prompt, or drop chat: false."
    }

    var firstLineIsRequest: Bool {
        guard let path = input.first, let line = try? firstLine(of: path) else { return false }
        return line.isRequest
    }

    /// Checks conditions between settings.
    package func check(file: String?) throws {
        let kind: UserError.Kind = file == nil ? .usage : .badJob
        for (name, isMissing) in [("model", model.isEmpty), ("output", output.isEmpty)] where isMissing {
            throw UserError(
                kind, at: file,
                "\(name) is missing; give it in the job file (`\(name): ...`) or as --\(name).")
        }
        if let problem = rowsProblem { throw UserError(kind, at: file, problem) }
        try checkInputIsThere(kind, file: file)
        if awaitsInput {
            if rows != nil {
                throw UserError(
                    .usage, at: file,
                    "--follow reads on while an input grows, and rows are made; run without it.")
            }
            for path in input where path != "-" {
                try inputFormat.format(for: path).checkGrowth(of: path)
            }
        }
        if let problem = pathProblem(isFile: file != nil) ?? chatProblem ?? stepsProblem ?? taskProblem
            ?? choicesProblem ?? answerProblem
        {
            throw UserError(kind, at: file, problem)
        }
        var names = FileNames()
        try names.add(self)
    }
}
