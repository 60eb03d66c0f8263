import ArgumentParser
import BatchPipeline
import Errors
import OperatingSystem

/// Arguments that make a job: its file, and settings that override it.
struct JobOptions: ParsableArguments {
    enum All: SettingGroup { static var keys: [JobKey] { JobKey.all(in: .option) } }

    @Argument(
        help: ArgumentHelp("The job file.", valueName: "job file"),
        completion: .file(extensions: ["yaml", "yml", "json", "jsonl"]))
    var files: [String] = []

    /// The help says where they are listed instead of listing them (`HelpTopic.shown`).
    @OptionGroup(title: "Settings of the job") var all: SettingOptions<All>

    /// Whether no settings are given beside the file.
    var isFileAlone: Bool { all.given.isEmpty }

    /// Returns the command line that runs these jobs with another command.
    func command(_ name: String) -> Message {
        var words = ["phibatch", name] + files
        for option in all.given {
            for text in option.texts {
                guard option.key.form == .flag else {
                    words += [option.key.option, Addresses.shown(text)]
                    continue
                }
                words.append(text == "true" ? option.key.option : "--no-\(option.key.optionName)")
            }
        }
        return "\(words.map(Self.quoted).joined(separator: " "))"
    }

    /// Quotes a word for a shell.
    private static func quoted(_ word: String) -> String {
        let isPlain = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "_-./:=,+%@".utf8.contains(byte) || byte >= 0x80
            }
        }
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        return "'" + word.replacing(each: "'", with: "'\\''") + "'"
    }

    /// Returns the settings of each job file, or those of the options if there is none.
    /// - Parameters:
    ///   - awaitsInput: whether patterns of an input may match nothing yet.
    ///   - pins, bring: for remote inputs, see `JobSettings.bringInputs`.
    /// - Throws: `UserError` for a problem of all of them.
    func eachSettings(
        awaitsInput: Bool, pins: JobSettings.PinningRuns, bring: @escaping DistantInput.Bring
    ) throws -> [(file: String?, settings: Result<JobSettings, any Error>)] {
        (files.count > 1 ? files.map { [$0] } : [files]).map { files in
            var one = self
            one.files = files
            return (
                files.first,
                Result { [one] in try one.settings(awaitsInput: awaitsInput, pins: pins, bring: bring) }
            )
        }
    }

    /// - Throws: `UserError`; of kind `usage` for a problem of the arguments.
    /// - Parameters:
    ///   - output: the default output.
    ///   - awaitsInput: whether patterns of an input may match nothing yet.
    ///   - pins, bring: for remote inputs, see `JobSettings.bringInputs`.
    func settings(
        output: String? = nil, awaitsInput: Bool = false,
        pins: JobSettings.PinningRuns = .results, bring: DistantInput.Bring? = nil
    ) throws -> JobSettings {
        guard files.count <= 1 else {
            throw UserError(.usage, "one job file at a time: \(files[1]) is one too many.")
        }
        var given = all.given
        if let output, files.isEmpty, !given.contains(where: { $0.key.name == "output" }),
            let key = JobKey.files.first(where: { $0.name == "output" })
        {
            given.append(WrittenSetting(key, [output]))
        }
        do {
            return try JobSettings.load(
                file: files.first, options: given, awaitsInput: awaitsInput, pins: pins, bring: bring)
        } catch let error as UserError {
            guard let file = files.first, given.isEmpty,
                [".jsonl", ".csv", ".tsv", ".txt", ".parquet"].contains(where: file.hasSuffix)
            else { throw error }
            let command = "phibatch run --model MODEL --input \(Self.quoted(file)) --output FILE"
            throw UserError(.usage, at: file, "is no job file. Is this the input? \(command)")
        }
    }
}
