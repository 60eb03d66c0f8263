import ArgumentParser
import BatchPipeline
import Faults
import OperatingSystem

/// The arguments that make a job: its file, and settings that replace what the file says.
struct JobOptions: ParsableArguments {
    enum Files: SettingGroup { static var keys: [JobKey] { JobKey.files.filter(\.isOption) } }
    enum Prompt: SettingGroup { static var keys: [JobKey] { JobKey.prompt.filter(\.isOption) } }
    enum Sampling: SettingGroup { static var keys: [JobKey] { JobKey.sampling } }
    enum Answers: SettingGroup { static var keys: [JobKey] { JobKey.answers } }
    enum Results: SettingGroup { static var keys: [JobKey] { JobKey.results } }
    enum Engine: SettingGroup { static var keys: [JobKey] { JobKey.engine } }

    @Argument(
        help: ArgumentHelp("The job file.", valueName: "job file"),
        completion: .file(extensions: ["yaml", "yml", "json", "jsonl"]))
    var files: [String] = []

    @OptionGroup(title: "Files") var fileSettings: SettingOptions<Files>
    @OptionGroup(title: "Prompts") var promptSettings: SettingOptions<Prompt>
    @OptionGroup(title: "Sampling") var samplingSettings: SettingOptions<Sampling>
    @OptionGroup(title: "Answers") var answerSettings: SettingOptions<Answers>
    @OptionGroup(title: "Results") var resultSettings: SettingOptions<Results>
    @OptionGroup(title: "Engine") var engineSettings: SettingOptions<Engine>

    private var given: [JobOption] {
        fileSettings.given + promptSettings.given + samplingSettings.given + answerSettings.given
            + resultSettings.given + engineSettings.given
    }

    /// No settings beside it.
    var isFileAlone: Bool { given.isEmpty }

    /// Command line that has these jobs done by another command.
    func command(_ name: String) -> Message {
        var words = ["phibatch", name] + files
        for option in given {
            for text in option.texts {
                guard option.key.kind == .flag else {
                    words += [option.key.option, Addresses.shown(text)]
                    continue
                }
                words.append(text == "true" ? option.key.option : "--no-\(option.key.optionName)")
            }
        }
        return "\(words.map(Self.quoted).joined(separator: " "))"
    }

    /// As a shell takes it for one word.
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

    /// The settings of each job file; those of the options alone, if there is none.
    /// - Parameters:
    ///   - awaitsInput: whether patterns of an input may match nothing yet.
    ///   - pins, bring: of inputs that lie elsewhere, see `JobSettings.bringInputs`.
    /// - Throws: `JobError` for what is wrong with all of them.
    func eachSettings(
        awaitsInput: Bool, pins: PinnedInput.Origin, bring: @escaping DistantInput.Bring
    ) throws -> [(file: String?, settings: Result<JobSettings, any Error>)] {
        try refuseValuesOfFlags()
        return (files.count > 1 ? files.map { [$0] } : [files]).map { files in
            var one = self
            one.files = files
            return (
                files.first,
                Result { [one] in try one.settings(awaitsInput: awaitsInput, pins: pins, bring: bring) }
            )
        }
    }

    /// - Throws: `JobError`; of kind `usage` for what is wrong with the arguments.
    /// - Parameters:
    ///   - output: what the output is if nothing says so.
    ///   - awaitsInput: whether patterns of an input may match nothing yet.
    ///   - pins, bring: of inputs that lie elsewhere, see `JobSettings.bringInputs`.
    func settings(
        output: String? = nil, awaitsInput: Bool = false,
        pins: PinnedInput.Origin = .results, bring: DistantInput.Bring? = nil
    ) throws -> JobSettings {
        try refuseValuesOfFlags()
        guard files.count <= 1 else {
            throw JobError(.usage, "one job file at a time: \(files[1]) is one too many.")
        }
        var given = given
        if let output, files.isEmpty, !given.contains(where: { $0.key.name == "output" }),
            let key = JobKey.files.first(where: { $0.name == "output" })
        {
            given.append(JobOption(key, [output]))
        }
        return try JobSettings.load(
            file: files.first, options: given, awaitsInput: awaitsInput, pins: pins, bring: bring)
    }

    /// A flag takes no value: in `--chat false` the word would be a job file. One of that name is given as `./true`.
    private func refuseValuesOfFlags() throws {
        let flags = given.map(\.key).filter { $0.kind == .flag }
        guard let value = files.first(where: { ["true", "false"].contains($0) }), !flags.isEmpty else {
            return
        }
        let right = flags.map { "\($0.option) or --no-\($0.optionName)" }.joined(separator: ", ")
        throw JobError(.usage, "a flag takes no value, but \(value) is given. Right is: \(right).")
    }
}
