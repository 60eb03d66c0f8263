import Errors
import OperatingSystem

extension JobSettings {
    /// Checks that the job's files are there before anything costly begins. Changes nothing; `LogStore` then tries
    /// the output's place.
    /// - Throws: `UserError`, with the path.
    package func checkFiles() throws {
        try checkOutputNames()
        _ = try LinePreparer(self)
        try checkAnswers()
        for path in input where path != "-" { try Self.checkInput(path) }
        var names = FileNames()
        try names.add(self)
        try checkBeginnings()
        if output != "-" { try checkOutput() }
        try checkAnswerStore()
        if let errors { try FailedLines.check(errors, in: .real) }
    }

    private static func checkInput(_ path: String) throws {
        try checkIsThere(path, "input file")
        try explaining(
            .missingInput, at: path, "the input file can't be read",
            try Files.checkAccess(path, writing: false))
        // The program that unpacks it may be missing.
        if Files.kind(of: path) == .regular {
            let source = try ByteSource(path: path)
            try source.look()
            if source.isParquet { _ = try source.readAll(limit: 1) }
        }
    }

    static func checkIsThere(_ path: String, _ what: Message) throws(UserError) {
        guard let kind = Files.kind(of: path) else {
            throw UserError(.missingInput, at: path, "there is no such \(what).")
        }
        if kind == .folder { throw UserError(.missingInput, at: path, "is a folder, and no \(what).") }
    }

    private func checkOutput() throws {
        let paths = try OutputPaths(output: output)
        // If the folder is missing, the first existing one above it must be writable.
        var folder = paths.folder
        while Files.kind(of: folder) == nil {
            let above = Paths.folder(of: folder)
            if Paths.areEqual(above, folder) { break }
            folder = above
        }
        guard Files.kind(of: folder) == .folder else {
            throw UserError(.cannotWrite, at: folder, "is not a folder, so \(output) can't be written.")
        }
        try explaining(
            .cannotWrite, at: folder, "the folder is not writable, so \(output) can't be written",
            try Files.checkAccess(folder, writing: true))
        _ = try paths.examined()
    }

    /// - Throws: `UserError` if the path of the store of answers is unusable.
    func checkAnswerStore() throws {
        guard let answers, let kind = Files.kind(of: answers) else { return }
        guard kind == .folder else {
            throw UserError(.badJob, at: answers, "is not a folder, so answers can't be kept there.")
        }
        try explaining(
            .missingInput, at: answers, "the folder of answers can't be read",
            try Files.checkAccess(answers, writing: false))
    }

    /// Makes the output's folder if it is missing.
    /// - Throws: `UserError` of kind `cannotWrite`.
    package func makeOutputFolder() throws {
        for path in [output, errors].compactMap({ $0 }) where path != "-" {
            let folder = try OutputPaths(output: path).folder
            try explaining(.cannotWrite, at: folder, "the folder can't be made", try Files.makeFolder(folder))
        }
    }
}
