import Faults

/// Results of runs whose jobs had other steps, and nothing else that was other, in a file that lies beside the output or
/// is it: read one by one, where a row can take something of them.
final class EarlierRows {
    /// The steps of these runs, by the runs' digests.
    let steps: [String: String]
    /// By which schemes lines are known in the file.
    let lines: [LineScheme]
    private let index: ResultIndex
    private let read: (_ number: Int) throws -> (key: WorkKey, run: String, result: GenerationResult?)?

    /// The results of a finished output.
    /// - Parameters:
    ///   - settings: what lies beside it.
    ///   - now: the run that asks.
    /// - Returns: nil if there are none such, or nothing says what the output holds.
    init?(
        output path: String, _ settings: OutputSettings, _ format: any ResultFormat, samples: Int,
        now: RunFingerprint
    ) throws {
        steps = now.steps(of: [settings.fingerprint] + settings.kept.compactMap(\.fingerprint))
        guard !steps.isEmpty else { return nil }
        do {
            guard let output = try FinishedOutput(path, format, samples: samples) else { return nil }
            (lines, index) = (output.lines, output.index)
            read = { try output.with($0) { ($0.key, $0.run, format.result($0, in: $1)) } }
        } catch let error as StoreError where error.kind == .mismatch {
            return nil
        }
    }

    /// The results of a run that was not finished.
    init?(journal path: String, now: RunFingerprint, in system: any FileSystem) throws {
        guard let file = try RunFile.open(path, .journal, .readOwn, in: system),
            case .valid(let header) = try JournalReader(file: file).header()
        else { return nil }
        let steps = now.steps(of: [header.fingerprint] + header.kept.compactMap(\.fingerprint))
        guard !steps.isEmpty else { return nil }
        let index = ResultIndex()
        _ = try JournalReader(file: file).records(into: index) { steps[$0] != nil }
        (self.steps, self.index, lines) = (steps, index, header.lines)
        read = { number in
            try file.line(of: index[number]).withUnsafeBytes { line in
                guard SealedLine.isValid(line) else { throw StoreError.changedUnderneath(path) }
                return JournalRecord(line, keeps: true).map { ($0.key, $0.run, $0.result) }
            }
        }
    }

    /// The result that one of these runs has of a key; nil if it has none.
    func result(of key: WorkKey, run: String) throws -> GenerationResult? {
        guard let number = index.find(ResultIndex.nameHash(key, repetition: 0)), index[number].isStored,
            !index[number].isFailed, index[number].contentHash == key.contentHash,
            let found = try read(number), found.key == key, found.run.utf8.elementsEqual(run.utf8)
        else { return nil }
        return found.result
    }
}

extension RunFingerprint {
    /// The steps of another run's job, where it differs from this one's in nothing else; nil where it does.
    package func steps(of other: RunFingerprint) -> String? {
        func rest(_ run: RunFingerprint) -> RunFingerprint {
            RunFingerprint(run.parts.filter { $0.name != Self.steps }.map { ($0.name, $0.value) })
        }
        guard parts.contains(where: { $0.name == Self.steps }), rest(self) == rest(other) else { return nil }
        return other.parts.first { $0.name == Self.steps }?.value
    }

    /// Those of several, by the runs' digests.
    fileprivate func steps(of others: [RunFingerprint]) -> [String: String] {
        Dictionary(
            others.compactMap { other in steps(of: other).map { (other.digest, $0) } },
            uniquingKeysWith: { first, _ in first })
    }
}
