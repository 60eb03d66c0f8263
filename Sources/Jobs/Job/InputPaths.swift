import OperatingSystem

extension JobSettings {
    /// Replaces a pattern such as `data/*.jsonl` by the files that match it, sorted by name, except those that the job
    /// writes. A file may also be named like a pattern.
    package mutating func findInputs() {
        let isOwn = ownFiles
        input = inputPatterns.flatMap { pattern in
            if Addresses.isOne(pattern) {
                return distant.first { $0.address == pattern }?.files.map(\.path) ?? []
            }
            return Self.isPattern(pattern) ? Files.matching(pattern).filter { !isOwn($0) } : [pattern]
        }
    }

    /// Files that match the input's patterns but are the job's own.
    package var inputsLeftOut: [String] {
        let isOwn = ownFiles
        return inputPatterns.filter(Self.isPattern).flatMap { Files.matching($0).filter(isOwn) }
    }

    /// Whether a file is one that the job writes: output, failed lines, the output's shards, or a file beside one of these.
    private var ownFiles: (_ path: String) -> Bool {
        let own = [wholeOutput, errors ?? ""].filter { !$0.isEmpty && $0 != "-" }.map {
            Files.destination(of: $0)
        }
        // Also found under other names.
        let outputs = [output, wholeOutput].filter { Files.kind(of: $0) == .regular }
            .compactMap { Files.identity(of: $0) }
        // What follows the output's name.
        let end = /(\.shard-\d+-of-\d+)?(\.lock|\.manifest\.json)?(\.old-\d+)?(\.log)?(\.phibatch-.*)?/
        return { path in
            if let identity = Files.identity(of: path), outputs.contains(identity) { return true }
            let name = Paths.name(of: path).pathBytes
            return own.contains { file in
                let start = Paths.name(of: file).pathBytes
                return name.starts(with: start)
                    && String(decoding: name.dropFirst(start.count), as: UTF8.self).wholeMatch(of: end) != nil
                    && Paths.areEqual(Files.destination(of: Paths.folder(of: path)), Paths.folder(of: file))
            }
        }
    }

    static func isPattern(_ path: String) -> Bool {
        Files.isPattern(path) && !Addresses.isOne(path) && Files.kind(of: path) == nil
    }

    /// Earlier runs whose version of a distant input is read again.
    package enum PinningRuns: Sendable {
        /// None, as the run begins again.
        case nothing
        /// One that is to go on. Otherwise what there is now is read.
        case unfinished
        /// The same, or else the one that made a finished output.
        case results
    }

    /// Fetches distant inputs. A resumed run reads the version that it began with.
    /// - Parameters:
    ///   - bring: nil where nothing can be fetched.
    /// - Throws: `UserError` if a log can't be read; what `bring` throws.
    package mutating func bringInputs(_ pins: PinningRuns, by bring: DistantInput.Bring?) throws {
        let addresses = inputPatterns.filter(Addresses.isOne)
        guard let first = addresses.first else { return }
        guard !awaitsInput else {
            throw UserError(
                .usage, at: Addresses.shown(first),
                "--follow reads on while a file grows, and this one is distant, and read as it is now.")
        }
        guard let bring else {
            throw UserError(
                .badJob, at: Addresses.shown(first),
                "is distant; only the program \"phibatch\" fetches it.")
        }
        var known: [DistantInput] = []
        if pins != .nothing, !output.isEmpty, output != "-" {
            let log = try OutputLog.find(of: output)
            known = (log?.begun ?? (pins == .results ? log?.finished?.header : nil))?.pins ?? []
        }
        for address in addresses where !distant.contains(where: { $0.address == address }) {
            let shown = Addresses.shown(address)
            distant.append(try bring(address, known.first { $0.address == shown }?.version))
        }
        findInputs()
    }

    /// - Throws: `UserError` if the job has neither input nor rows, or only patterns that match nothing.
    func checkInputIsThere(_ kind: UserError.Kind, file: String?) throws {
        if awaitsInput, !inputPatterns.isEmpty { return }
        let isOwn = ownFiles
        for pattern in inputPatterns where Self.isPattern(pattern) {
            let found = Files.matching(pattern)
            guard found.allSatisfy(isOwn) else { continue }
            throw UserError(
                .missingInput, at: pattern,
                found.isEmpty
                    ? "no file matches this pattern."
                    : "only files that the job itself writes match this pattern.")
        }
        guard input.isEmpty, rows == nil, !inputPatterns.contains(where: Addresses.isOne) else { return }
        throw UserError(
            kind, at: file,
            "input is missing; give it in the job file (`input: ...`) or as --input. A job that makes its lines has rows in its place (`rows: 1000`)."
        )
    }
}
